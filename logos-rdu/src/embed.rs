//! What generated constants call. The compiler refuses what does not hold with its numbers; this is rustc's own look at the embedded table.

use logos_bundle::Deployment;

/// Does nothing if the deployment fits its chips' memory; in a constant, a compile error at the caller if not.
///
/// # Panics
/// If the deployment does not fit.
#[track_caller]
pub const fn confirm_fit(deployment: &Deployment) {
    assert!(deployment.fit().fits, "LOGOS: the embedded deployment needs more bytes a chip than its main memory has");
}

/// Does nothing if a requirement holds; in a constant, a compile error at the caller if not.
///
/// # Panics
/// If it does not.
#[track_caller]
pub const fn confirm_requirement(holds: bool) {
    assert!(holds, "LOGOS: the embedded deployment does not meet this requirement");
}

/// `hbm_fit`.
#[must_use]
pub const fn hbm_fit(deployment: &Deployment) -> bool {
    let fit = deployment.fit();
    fit.hbm_bytes > 0 && fit.ddr_weight_bytes == 0 && fit.fits
}

/// `tight`.
#[must_use]
pub const fn tight(deployment: &Deployment) -> bool {
    deployment.is_tight()
}

/// `ctx`: wider than any literal, so that no comparison is one that always holds.
#[must_use]
pub const fn ctx(deployment: &Deployment) -> i128 {
    deployment.fit().max_ctx as i128
}

/// `sequences`.
#[must_use]
pub const fn sequences(deployment: &Deployment) -> i128 {
    deployment.fit().max_sequences as i128
}

/// `hbm_headroom`.
#[must_use]
pub const fn hbm_headroom(deployment: &Deployment) -> i128 {
    deployment.fit().hbm_headroom_bytes as i128
}
