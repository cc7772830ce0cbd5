//! A compiled deployment to the bundle's words.
