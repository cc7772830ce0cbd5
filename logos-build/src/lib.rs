//! Build-script helper of LOGOS.
