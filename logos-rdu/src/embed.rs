//! What generated constants call.

use logos_bundle::Deployment;

/// Does nothing if the deployment fits its chips' memory; in a constant, a compile error at the caller if not. The compiler refuses
/// such a deployment with its numbers; this is rustc's own look at the embedded table.
///
/// # Panics
/// If the deployment does not fit.
#[track_caller]
pub const fn confirm_fit(deployment: &Deployment) {
    assert!(deployment.fit().fits, "LOGOS: the embedded deployment needs more bytes a chip than its main memory has");
}
