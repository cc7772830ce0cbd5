//! Reading a config, the description of a checkpoint and a chip file, the inputs of a request that are not written in it.

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use logos_core::{At, Code, Refusal, nearest};

/// Largest file taken for a config or a description, bytes. The largest of a published model are under 100 KB.
pub const LARGEST_CONFIG_BYTES: u64 = 16 << 20;

/// Reads the config at `path`, which is relative to `root`, the folder of the crate's Cargo.toml.
///
/// Messages name the path as it was written and nothing above it, so that they are the same on every machine.
///
/// # Errors
/// [`Code::RequestFile`] if the path is empty, absolute or has a control character, or if the file is missing, no file, too large or
/// unreadable.
pub fn read_config(root: &Path, path: &str) -> Result<Vec<u8>, Refusal> {
    File::Config.read(root, path)
}

/// Reads a config at any path, absolute or relative to the working directory: what a command line names.
///
/// # Errors
/// [`Code::RequestFile`] as [`read_config`], but for the path's form.
pub fn read_any_config(path: &str) -> Result<Vec<u8>, Refusal> {
    File::Config.read_any(path)
}

/// Reads the description of a checkpoint at `path`, as [`read_config`] reads a config.
///
/// # Errors
/// As [`read_config`].
pub fn read_description(root: &Path, path: &str) -> Result<Vec<u8>, Refusal> {
    File::Description.read(root, path)
}

/// Reads the description of a checkpoint at any path, as [`read_any_config`] reads a config.
///
/// # Errors
/// As [`read_any_config`].
pub fn read_any_description(path: &str) -> Result<Vec<u8>, Refusal> {
    File::Description.read_any(path)
}

/// Reads a chip file at `path`, as [`read_config`] reads a config.
///
/// # Errors
/// As [`read_config`].
pub fn read_chip(root: &Path, path: &str) -> Result<Vec<u8>, Refusal> {
    File::Chip.read(root, path)
}

/// Reads a chip file at any path, as [`read_any_config`] reads a config.
///
/// # Errors
/// As [`read_any_config`].
pub fn read_any_chip(path: &str) -> Result<Vec<u8>, Refusal> {
    File::Chip.read_any(path)
}

/// What a file is taken for.
#[derive(Clone, Copy)]
enum File {
    Config,
    Description,
    Chip,
}

impl File {
    const fn name(self) -> &'static str {
        match self {
            File::Config => "config",
            File::Description => "description",
            File::Chip => "chip file",
        }
    }

    fn read(self, root: &Path, path: &str) -> Result<Vec<u8>, Refusal> {
        self.check_form(path)?;
        read(&root.join(path)).map_err(|fault| self.explain(root, path, fault))
    }

    fn read_any(self, path: &str) -> Result<Vec<u8>, Refusal> {
        if path.is_empty() {
            return Err(self.refusal(path, format!("the {}'s path is empty", self.name())).help(self.what_to_name()));
        }
        read(Path::new(path)).map_err(|fault| self.explain(Path::new(""), path, fault))
    }

    fn check_form(self, path: &str) -> Result<(), Refusal> {
        let name = self.name();
        if path.is_empty() {
            return Err(self.refusal(path, format!("the {name}'s path is empty")).help(match self {
                File::Config => "write `config \"models/NAME/config.json\"`",
                File::Description => "write `checkpoint \"models/NAME/checkpoint.json\"`",
                File::Chip => "write `file \"chips/NAME.toml\"`",
            }));
        }
        if let Some(character) = path.chars().find(|c| c.is_control()) {
            return Err(self
                .refusal("", format!("the {name}'s path has a control character, {character:?}"))
                .help("give the file a name without one"));
        }
        let drive = path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic();
        if Path::new(path).has_root() || path.starts_with('\\') || drive {
            return Err(self
                .refusal(path, format!("the {name}'s path is absolute: `{path}`"))
                .fact("why", "the crate would build on this machine only")
                .help("write it relative to the folder of Cargo.toml; `..` is allowed"));
        }
        Ok(())
    }

    fn explain(self, root: &Path, path: &str, fault: Fault) -> Refusal {
        let name = self.name();
        let refusal = |message: String| self.refusal(path, message);
        match fault {
            Fault::Folder => {
                let file = match self {
                    File::Config => "config.json",
                    File::Description => "checkpoint.json",
                    File::Chip => "chip.toml",
                };
                let file = format!("{}/{file}", path.trim_end_matches('/'));
                let refusal = refusal(format!("`{path}` is a folder, not a {name}"));
                let inside = root.join(&file).is_file().then(|| format!("write \"{file}\""));
                refusal.help(inside.as_deref().unwrap_or(self.what_to_name()))
            }
            Fault::NoFile => refusal(format!("`{path}` is not a regular file")).help(self.what_to_name()),
            Fault::TooLarge(bytes) => refusal(format!("`{path}` is too large for a {name}"))
                .fact("bytes", bytes)
                .fact("largest taken", LARGEST_CONFIG_BYTES)
                .help(self.what_to_name()),
            Fault::Io(error) if error.kind() == io::ErrorKind::NotFound => {
                let refusal = refusal(format!("there is no file `{path}`"));
                match near_path(root, path) {
                    Some(near) => refusal.help(format!("did you mean \"{near}\"?")),
                    None if root.as_os_str().is_empty() => refusal.help(self.what_to_name()),
                    None => refusal.help("the path is relative to the folder of this crate's Cargo.toml"),
                }
            }
            Fault::Io(error) => refusal(format!("`{path}` cannot be read: {}", error.kind())).help(self.what_to_name()),
        }
    }

    /// The file that is meant.
    const fn what_to_name(self) -> &'static str {
        match self {
            File::Config => "name the model's config.json; a checkpoint is never read here",
            File::Description => "name what `cargo logos describe` wrote; a checkpoint is never read here",
            File::Chip => "`cargo logos chips SN50 --toml` prints one to start from",
        }
    }

    fn refusal(self, path: &str, message: String) -> Refusal {
        let at = match self {
            File::Config => At::Model,
            File::Description => At::Checkpoint { file: path.to_owned(), tensor: None },
            File::Chip => At::Chip,
        };
        Refusal::new(Code::RequestFile, at, message)
    }
}

enum Fault {
    Folder,
    NoFile,
    TooLarge(u64),
    Io(io::Error),
}

fn read(path: &Path) -> Result<Vec<u8>, Fault> {
    let about = fs::metadata(path).map_err(Fault::Io)?;
    if about.is_dir() {
        return Err(Fault::Folder);
    }
    if !about.is_file() {
        return Err(Fault::NoFile);
    }
    if about.len() > LARGEST_CONFIG_BYTES {
        return Err(Fault::TooLarge(about.len()));
    }
    let mut bytes = Vec::with_capacity(about.len() as usize);
    // The file may grow between the two calls; what is read stays bounded.
    let file = fs::File::open(path).map_err(Fault::Io)?;
    file.take(LARGEST_CONFIG_BYTES + 1).read_to_end(&mut bytes).map_err(Fault::Io)?;
    if bytes.len() as u64 > LARGEST_CONFIG_BYTES { Err(Fault::TooLarge(bytes.len() as u64)) } else { Ok(bytes) }
}

/// The path with its first component that does not exist replaced by the nearest name beside it, if the whole then exists.
fn near_path(root: &Path, path: &str) -> Option<String> {
    let mut known = root.to_path_buf();
    let mut written = PathBuf::new();
    for component in Path::new(path).components() {
        let name = component.as_os_str().to_str()?;
        if known.join(name).exists() || !matches!(component, Component::Normal(_)) {
            known.push(name);
            written.push(name);
            continue;
        }
        let folder = if known.as_os_str().is_empty() { Path::new(".") } else { &known };
        let mut names: Vec<String> =
            fs::read_dir(folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort_unstable();
        let near = nearest(name, names.iter().map(String::as_str))?;
        known.push(near);
        written.push(near);
    }
    known.is_file().then(|| written.to_string_lossy().replace('\\', "/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(path: &str) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        read_config(root, path).map_or_else(|refusal| refusal.to_string(), |bytes| format!("{} bytes", bytes.len()))
    }

    #[test]
    fn says_what_is_wrong_with_a_path() {
        for (path, expected) in [
            ("", "LOGOS-REQ-03: the config's path is empty\n  help: write `config \"models/NAME/config.json\"`"),
            (
                "/etc/hosts",
                "LOGOS-REQ-03: the config's path is absolute: `/etc/hosts`\n  why: the crate would build on this machine only\n  help: write it relative to the folder of Cargo.toml; `..` is allowed",
            ),
            (
                "a\nb",
                "LOGOS-REQ-03: the config's path has a control character, '\\n'\n  help: give the file a name without one",
            ),
            (
                "src",
                "LOGOS-REQ-03: `src` is a folder, not a config\n  help: name the model's config.json; a checkpoint is never read here",
            ),
            ("scr/lib.rs", "LOGOS-REQ-03: there is no file `scr/lib.rs`\n  help: did you mean \"src/lib.rs\"?"),
            ("Cargo.tml", "LOGOS-REQ-03: there is no file `Cargo.tml`\n  help: did you mean \"Cargo.toml\"?"),
            (
                "models/none.json",
                "LOGOS-REQ-03: there is no file `models/none.json`\n  help: the path is relative to the folder of this crate's Cargo.toml",
            ),
        ] {
            assert_eq!(message(path), expected);
        }
        assert!(message("../logos-build/Cargo.toml").ends_with(" bytes"));
    }
}
