//! `cargo logos inspect FILE`: the bundles of a `.logos` file or of a finished binary, checked again from their words.

use std::fs;
use std::io::Write;
use std::path::Path;

use clap::ArgMatches;
use logos_bundle::table::layout::MAGIC;
use logos_bundle::view::{Bundle, BundleError, Bundles};
use logos_core::{At, Code, Refusal};
use object::{Object, ObjectSection};

use super::opinion::Opinion;
use super::{Failure, document, own_bundle, report, request, unwritten};

pub(super) fn inspect(matches: &ArgMatches, out: &mut dyn Write) -> Result<(), Failure> {
    let file = matches.get_one::<String>("file").map_or("", String::as_str);
    let bytes = read(file)?;
    let found = bundles(file, &bytes)?;
    let chips = request::own_chips(matches)?;
    let json = matches.get_flag("json");
    let mut documents = Vec::new();
    let mut all_hold = true;
    for (index, found) in found.iter().enumerate() {
        let bundle = match found {
            Ok(bundle) => bundle,
            Err(error) => {
                all_hold = false;
                if json {
                    documents.push(serde_json::json!({ "error": error.to_string() }));
                } else {
                    writeln!(out, "bundle {index}: {error}\n")?;
                }
                continue;
            }
        };
        let words: Vec<u32> = bundle.words().collect();
        let opinion = Opinion::of(&words, &chips);
        let holds = opinion.holds();
        all_hold &= holds;
        if json {
            documents.push(document::bundle(bundle, &opinion));
        } else {
            writeln!(out, "bundle {index}")?;
            report::summary(out, bundle, &opinion)?;
            writeln!(out)?;
        }
        if let (Some(folder), true) = (matches.get_one::<String>("export"), holds) {
            export(Path::new(folder), index, &words)?;
        }
    }
    if json {
        document::write(out, &document::inspect(documents))?;
    }
    if all_hold { Ok(()) } else { Err(Failure::Unchecked) }
}

/// A regular file's bytes: a pipe may never end, and a device has no end.
fn read(file: &str) -> Result<Vec<u8>, Failure> {
    let refused = |why: String| {
        let message = format!("`{file}` cannot be read: {why}");
        Refusal::new(Code::RequestFile, At::Request, message)
            .help("name a file that `cargo logos emit` wrote, or a binary")
    };
    let about = fs::metadata(file).map_err(|error| refused(error.kind().to_string()))?;
    if !about.is_file() {
        return Err(refused("it is no regular file".to_owned()).into());
    }
    Ok(fs::read(file).map_err(|error| refused(error.kind().to_string()))?)
}

/// A file in which there is no bundle.
fn without(message: String) -> Refusal {
    let help = "`cargo logos emit` writes one; a binary has those of the deployments that it uses";
    Refusal::new(Code::Bundle, At::Request, message).help(help)
}

/// The bundles of a file; at least one, sound or damaged.
fn bundles<'f>(file: &str, bytes: &'f [u8]) -> Result<Vec<Result<Bundle<'f>, BundleError>>, Failure> {
    let magic = bytes.first_chunk::<4>().map(|magic| u32::from_le_bytes(*magic));
    if magic == Some(MAGIC) || magic == Some(MAGIC.swap_bytes()) {
        return Ok(vec![Bundle::from_bytes(bytes)]);
    }
    let object = object::File::parse(bytes)
        .map_err(|_| without(format!("`{file}` is neither a .logos file nor an ELF, Mach-O or PE file")))?;
    let section = object
        .sections()
        .find(|section| matches!(section.name(), Ok(".logos" | "__logos")))
        .ok_or_else(|| without(format!("`{file}` has no .logos section: no deployment is linked into it")))?;
    let data = section.data().map_err(|error| without(format!("the .logos section of `{file}`: {error}")))?;
    let found: Vec<_> = Bundles::scan(data).collect();
    if found.is_empty() {
        return Err(without(format!("the .logos section of `{file}` holds no bundle")).into());
    }
    Ok(found)
}

fn export(folder: &Path, index: usize, words: &[u32]) -> Result<(), Failure> {
    let path = folder.join(format!("{index}.logos"));
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&path, bytes))
        .map_err(|error| unwritten(&path.display().to_string(), &error))?;
    let document = logos_core::fit::report::bundle(words).map_err(|error| own_bundle(&error))?;
    let path = folder.join(format!("{index}.json"));
    fs::write(&path, document.to_text()).map_err(|error| unwritten(&path.display().to_string(), &error))
}
