//! Names that become identifiers of the user's crate.

use logos_core::request::misnamed;
use logos_core::{At, Code, Refusal};

/// Refuses what cannot name a module or a constant.
pub(crate) fn check(what: &str, name: &str) -> Result<(), Refusal> {
    let Some(why) = misnamed(name) else { return Ok(()) };
    let message = format!("the {what} `{}` {why}", name.escape_debug());
    let refusal = Refusal::new(Code::RequestForm, At::Request, message);
    Err(refusal.help("write ASCII letters, digits and underscores, not beginning with a digit; no keyword"))
}
