//! The procedural macro behind `logos_rdu::logos_model!`.
