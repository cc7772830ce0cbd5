//! The procedural macro behind `logos_rdu::logos_model!`: parse the request, let the compiler compile it, print
//! constants. It knows tokens and spans and nothing of models.

mod cursor;
mod expand;
mod fault;
mod model;
mod number;
mod parse;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use proc_macro2::TokenStream;

/// Compiles the models of `[$crate] mods…`. Call it through `logos_rdu::logos_model!`, which hands over the path of its crate.
#[proc_macro]
pub fn logos_model(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let root = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    expand_in(TokenStream::from(input), root).into()
}

/// The whole macro, apart from where its crate's folder is read from.
fn expand_in(input: TokenStream, root: Option<PathBuf>) -> TokenStream {
    let (krate, input) = match cursor::krate(input) {
        Ok(parts) => parts,
        Err(error) => return error,
    };
    // Without Cargo's variable the folder is the working directory, as it is for rustc itself.
    let root = root.unwrap_or_default();
    let (models, stray) = parse::models(input);
    let mut output: TokenStream = models.iter().map(|model| expand::model(&krate, model, &root)).collect();
    output.extend(fault::errors(&stray));
    output
}
