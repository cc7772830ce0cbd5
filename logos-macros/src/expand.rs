//! From what was written to the module of constants, or to the same module with the refusals as its constants' initialiser.

use std::path::Path;

use logos_build::{
    describe_deployment, describe_module, describe_report, describe_text, read_chip, read_config, read_description,
};
use logos_core::fit::report::{self, Report, Text};
use logos_core::request::require::Compare;
use logos_core::{ChipRequest, Code, Compiled, DeploymentRequest, Description, Form, Request, Requirement};
use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

use crate::fault::{self, Fault};
use crate::model::{Chip, Deployment, Model, Required, Spanned};

/// Rules of the certificate: a `const _` each, so that one compile shows every rule that fails.
const RULES: usize = logos_bundle::check::RULES.len();

/// The module of a model.
pub(crate) fn model(krate: &TokenStream, model: &Model, root: &Path) -> TokenStream {
    let mut faults: Vec<Fault> = model.faults.clone();
    let mut tracked = TokenStream::new();
    let compiled = compile(model, root, &mut tracked, &mut faults);
    let (docs, constants) = match compiled {
        Some(compiled) if faults.is_empty() => {
            let path = model.config.as_ref().map_or("", |config| config.value.as_str());
            (docs(&describe_module(path, &compiled.bundles)), constants(krate, model, &compiled))
        }
        Some(_) | None => {
            (docs(&["A model that is refused: see the errors.".to_owned()]), refused(krate, model, &faults))
        }
    };
    let (attributes, visibility, name) = (&model.attributes, &model.visibility, &model.name);
    // With the braces' own place, what rustc says of the module (a name defined twice) is said of `mod name`, not of the whole call.
    let mut body = Group::new(Delimiter::Brace, quote! { #tracked #constants });
    body.set_span(model.braces);
    let keyword = Ident::new("mod", name.span());
    quote! {
        #attributes
        #docs
        #visibility #keyword #name #body
    }
}

/// What a model's constants are made of.
struct Made {
    bundles: Vec<Compiled>,
    texts: Vec<Text>,
}

/// Reads config, description and chip file and compiles every deployment that is well formed, others' faults notwithstanding: all faults are wanted.
fn compile(model: &Model, root: &Path, tracked: &mut TokenStream, faults: &mut Vec<Fault>) -> Option<Made> {
    let path = model.config.as_ref()?;
    let config = match read_config(root, &path.value) {
        Ok(config) => config,
        Err(refusal) => {
            faults.push(Fault::new(refusal, path.span));
            return None;
        }
    };
    track(tracked, &path.value);
    let description = match &model.checkpoint {
        None => None,
        Some(description) => match read_description(root, &description.value) {
            Ok(text) => {
                track(tracked, &description.value);
                Some((description.value.as_str(), text))
            }
            Err(refusal) => {
                faults.push(Fault::new(refusal, description.span));
                return None;
            }
        },
    };
    let chip_file = match &model.chip {
        Some(Chip::File(path)) => match read_chip(root, &path.value) {
            Ok(text) => {
                track(tracked, &path.value);
                text
            }
            Err(refusal) => {
                faults.push(Fault::new(refusal, path.span));
                return None;
            }
        },
        Some(Chip::Named(_)) | None => Vec::new(),
    };
    let deployments: Vec<DeploymentRequest> = model.deployments.iter().filter_map(|d| d.request.clone()).collect();
    let chip = match model.chip.as_ref()? {
        Chip::Named(name) => ChipRequest::Named(&name.value),
        Chip::File(path) => ChipRequest::File { file: &path.value, text: &chip_file },
    };
    if deployments.is_empty() {
        return None;
    }
    let name = model.name.to_string();
    let request = Request {
        model: name.strip_prefix("r#").unwrap_or(&name),
        config: &config,
        chip,
        weights: model.weights,
        checkpoint: description.as_ref().map(|(file, text)| Description { file, text }),
        vocabulary: model.vocabulary,
        deployments: &deployments,
    };
    match logos_core::compile(&request) {
        Ok(bundles) => Some(Made { bundles, texts: texts(model, &request, faults) }),
        Err(refusals) => {
            faults.extend(refusals.into_iter().map(|refusal| {
                let (first, last) = model.place_of(&refusal.at);
                Fault { refusal, first, last }
            }));
            None
        }
    }
}

/// The documents that are asked for, of a model that compiles.
fn texts(model: &Model, request: &Request<'_>, faults: &mut Vec<Fault>) -> Vec<Text> {
    let wanted: Vec<Report> = model.reports.iter().map(|report| report.value).collect();
    report::texts(request, &wanted).unwrap_or_else(|refusals| {
        faults.extend(refusals.into_iter().map(|(report, refusal)| {
            let asked = model.reports.iter().find(|asked| asked.value == report);
            Fault::new(refusal, asked.map_or(model.name.span(), |asked| asked.span))
        }));
        Vec::new()
    })
}

/// Read again by rustc, a change of the file rebuilds the crate. A file that cannot be read is not named here, or rustc would add an error
/// of its own to ours.
fn track(tracked: &mut TokenStream, path: &str) {
    let literal = Literal::string(path);
    tracked.extend(quote! {
        const _: &[u8] = ::core::include_bytes!(
            ::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", #literal)
        );
    });
}

/// Documented constants, and what rustc checks again of each.
fn constants(krate: &TokenStream, model: &Model, Made { bundles, texts }: &Made) -> TokenStream {
    let mut output = TokenStream::new();
    for (deployment, bundle) in model.deployments.iter().zip(bundles) {
        let Deployment { attributes, conditions, name, .. } = deployment;
        let docs = docs(&describe_deployment(bundle));
        let bytes: Vec<u8> = bundle.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let (words, bytes) = (Literal::usize_unsuffixed(bundle.words.len()), Literal::byte_string(&bytes));
        let checks = checks(krate, deployment);
        output.extend(quote! {
            #attributes
            #docs
            pub const #name: #krate::Deployment = #krate::__deployment!(#words, #bytes);
            #conditions
            #checks
        });
    }
    for Spanned { value: report, .. } in &model.reports {
        let texts = texts.iter().filter(|text| text.report == *report);
        let constants = texts.filter_map(|text| {
            let literal = Literal::string(&text.text).into_token_stream();
            Some((model.deployments.get(text.deployment)?, literal))
        });
        output.extend(report_module(*report, constants));
    }
    output
}

/// The module of a document's texts, each named as its deployment.
fn report_module<'a>(report: Report, texts: impl Iterator<Item = (&'a Deployment, TokenStream)>) -> TokenStream {
    let module = Ident::new(report.module(), Span::mixed_site());
    let about = docs(&describe_report(report));
    let constants = texts.map(|(Deployment { conditions, name, .. }, text)| {
        let docs = docs(&describe_text(report, &name.to_string()));
        quote! {
            #conditions
            #docs
            pub const #name: &::core::primitive::str = #text;
        }
    });
    quote! {
        #about
        pub mod #module { #(#constants)* }
    }
}

/// One evaluation of the checker, then a `const _` a rule, all at the deployment's name: there a failure is shown. Then one a
/// requirement, at the requirement.
fn checks(krate: &TokenStream, Deployment { name, required, .. }: &Deployment) -> TokenStream {
    let span = name.span();
    let required = required.iter().map(|required| requirement(krate, name, required));
    let krate = respanned(krate.clone(), span);
    let rules = (0..RULES).map(|rule| {
        let rule = Literal::usize_unsuffixed(rule);
        quote_spanned! { span => const _: () = #krate::check::confirm(&__VERDICTS, #rule); }
    });
    quote_spanned! { span =>
        #[allow(deprecated, reason = "the checks read a constant that the user may have marked so")]
        const _: () = {
            const __VERDICTS: #krate::check::Verdicts = #krate::check::all(#name.words());
            #(#rules)*
            const _: () = #krate::__private::confirm_fit(&#name);
            #(#required)*
        };
    }
}

/// A requirement, for rustc to look at again.
fn requirement(krate: &TokenStream, name: &Ident, required: &Required) -> TokenStream {
    let span = required.first;
    let krate = respanned(krate.clone(), span);
    let word = |word| Ident::new(word, span);
    let words = match required.requirement {
        Requirement::HbmFit => word("hbm_fit").into_token_stream(),
        Requirement::Tight => word("tight").into_token_stream(),
        Requirement::Figure { figure, compare, value } => {
            let (figure, value) = (word(figure.as_str()), Literal::u64_unsuffixed(value));
            match compare {
                Compare::AtLeast => quote_spanned! { span => #figure >= #value },
                Compare::AtMost => quote_spanned! { span => #figure <= #value },
                Compare::Equal => quote_spanned! { span => #figure == #value },
                Compare::Above => quote_spanned! { span => #figure > #value },
                Compare::Below => quote_spanned! { span => #figure < #value },
            }
        }
    };
    quote_spanned! { span => #krate::__require! { #name #words } }
}

/// The tokens with their place moved; how `$crate` resolves stays.
fn respanned(tokens: TokenStream, span: Span) -> TokenStream {
    tokens
        .into_iter()
        .map(|mut token| {
            token.set_span(token.span().located_at(span));
            token
        })
        .collect()
}

/// The constants of a model that is refused. The errors are the initialiser that all share: a constant's type is known and its
/// value is not, so that rustc stays silent about whatever reads it, the user's own assertions included.
fn refused(krate: &TokenStream, model: &Model, faults: &[Fault]) -> TokenStream {
    let errors = if faults.is_empty() {
        // Only a fault of ours leads here; it must not pass for success.
        fault::errors(&[Fault::new(
            logos_core::Refusal::new(
                Code::RequestForm,
                logos_core::At::Request,
                "nothing was compiled, and no reason given",
            ),
            model.name.span(),
        )])
    } else {
        fault::errors(faults)
    };
    let constants = model.deployments.iter().map(|deployment| {
        let Deployment { attributes, name, .. } = deployment;
        quote! {
            #attributes
            /// A deployment that is refused: see the errors.
            pub const #name: #krate::Deployment = __REFUSED;
        }
    });
    let reports = model.reports.iter().map(|Spanned { value: report, .. }| {
        let decode = model.deployments.iter().filter(|deployment| {
            deployment.request.as_ref().is_none_or(|request| matches!(request.form, Form::Decode { .. }))
        });
        report_module(*report, decode.map(|deployment| (deployment, quote! { match super::__REFUSED { _ => "" } })))
    });
    quote! {
        #(#constants)*
        #(#reports)*
        const __REFUSED: #krate::Deployment = { #errors };
    }
}

fn docs(lines: &[String]) -> TokenStream {
    lines
        .iter()
        .map(|line| {
            let line = Literal::string(&format!(" {line}"));
            quote! { #[doc = #line] }
        })
        .collect()
}
