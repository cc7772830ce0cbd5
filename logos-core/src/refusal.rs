//! The one error of the toolchain: what was asked and cannot be had, where, and what to write instead.

mod explain;
mod nearest;
mod plain;

use std::fmt::{self, Write};

pub use nearest::nearest;
pub use plain::{Plain, is_unseen};

use plain::Plainly;

/// A stable code with its short title. `cargo logos explain CODE` prints the longer text of [`Code::explanation`].
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $title:literal;)*) => {
        /// Every kind of refusal. Codes are stable: tools may match on them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            /// All codes, in order.
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];
            /// The code as printed, `LOGOS-TP-01`.
            pub const fn as_str(self) -> &'static str { match self { $(Code::$name => $code,)* } }
            /// A few words on what is refused.
            pub const fn title(self) -> &'static str { match self { $(Code::$name => $title,)* } }
        }
    };
}

codes! {
    /// The request's own form: unknown key, wrong type, missing key, duplicate.
    RequestForm = "LOGOS-REQ-01", "the request is not well formed";
    /// A key that is not known.
    RequestUnknownKey = "LOGOS-REQ-02", "unknown key";
    /// A file the request names cannot be read.
    RequestFile = "LOGOS-REQ-03", "a file cannot be read";
    /// A chip that is not known.
    ChipUnknown = "LOGOS-CHIP-01", "unknown chip";
    /// A chip whose published facts do not allow what was asked.
    ChipLacks = "LOGOS-CHIP-02", "the chip lacks what the deployment needs";
    /// A chip file that is not of the form that is read.
    ChipSyntax = "LOGOS-CHIP-03", "a chip file is not well formed";
    /// A field, key or number format of a chip file that is not known.
    ChipUnknownField = "LOGOS-CHIP-04", "a chip file has an unknown field";
    /// A fact without value, unit, provenance, citation or the note it needs.
    ChipUnlabelled = "LOGOS-CHIP-05", "a chip's fact does not say where it comes from";
    /// A fact that the unit model needs and the file lacks.
    ChipMissing = "LOGOS-CHIP-06", "a chip lacks a fact that its unit model needs";
    /// A figure out of range, of the wrong kind, or contradicting another.
    ChipFigure = "LOGOS-CHIP-07", "a chip's figure cannot be";
    /// A file's chip called like one that comes with the compiler.
    ChipName = "LOGOS-CHIP-08", "the chip's name is another chip's";
    /// The config is not JSON, is cut off, or is not an object.
    ConfigSyntax = "LOGOS-CFG-01", "the config is not a JSON object";
    /// A model type that is not known.
    ConfigFamily = "LOGOS-CFG-02", "unknown model family";
    /// A required key is missing.
    ConfigMissing = "LOGOS-CFG-03", "a config key is missing";
    /// A key has a value of the wrong type or out of range.
    ConfigValue = "LOGOS-CFG-04", "a config value is wrong";
    /// Keys contradict each other.
    ConfigConflict = "LOGOS-CFG-05", "config values contradict each other";
    /// A key that changes the computation and is not implemented.
    ConfigUnsupported = "LOGOS-CFG-06", "a config key changes the computation and is not implemented";
    /// Width 0, or wider than the chip's domain.
    TpWidth = "LOGOS-TP-01", "the tensor-parallel width is not possible";
    /// Something of the model does not split over the width.
    TpSplit = "LOGOS-TP-02", "the model does not split over the width";
    /// Context 0, or above the model's own.
    CtxRange = "LOGOS-CTX-01", "the context is out of range";
    /// Batch 0 or out of range.
    BatchRange = "LOGOS-BATCH-01", "the batch is out of range";
    /// Chunk 0 or above the context.
    ChunkRange = "LOGOS-CHUNK-01", "the chunk is out of range";
    /// Rows of a forward step out of range.
    RowsRange = "LOGOS-ROWS-01", "the rows are out of range";
    /// Does not fit the chips' memory.
    FitMemory = "LOGOS-FIT-01", "the deployment does not fit the memory";
    /// A program text that does not parse.
    TextSyntax = "LOGOS-TXT-01", "the program text does not parse";
    /// A statement whose shapes do not agree.
    TextShape = "LOGOS-TXT-02", "shapes do not agree";
    /// A statement whose shardings do not agree.
    TextSharding = "LOGOS-TXT-03", "shardings do not agree";
    /// A state read after it was written, written twice, or a name bound twice.
    TextState = "LOGOS-TXT-04", "a name or a state is used wrongly";
    /// A program that does not lower.
    LowerStatement = "LOGOS-LOW-01", "a program does not lower";
    /// A program too large for the chip's cells or scratchpad.
    LowerSpace = "LOGOS-LOW-02", "a program does not fit the chip's mesh";
    /// A certificate that does not check.
    Certificate = "LOGOS-CERT-01", "the certificate does not check";
    /// A bundle that is damaged or of another version.
    Bundle = "LOGOS-BUN-01", "the bundle is damaged or of another version";
    /// A size whose exact arithmetic leaves 64 bits.
    SizeOverflow = "LOGOS-SIZE-01", "a size is too large";
    /// A requirement of the request is not met.
    RequireUnmet = "LOGOS-REQ-04", "a requirement is not met";
    /// Requirements of the request exclude each other.
    RequireContradiction = "LOGOS-REQ-05", "requirements contradict each other";
    /// Files of a checkpoint are missing or cannot be read.
    CheckpointFile = "LOGOS-CKPT-01", "a checkpoint's file cannot be read";
    /// A header that is damaged, or contradicts its file or itself.
    CheckpointHeader = "LOGOS-CKPT-02", "a checkpoint's header is damaged";
    /// An index that contradicts its shards.
    CheckpointIndex = "LOGOS-CKPT-03", "a checkpoint's index and shards disagree";
    /// A tensor stored in a way that is not read.
    CheckpointStorage = "LOGOS-CKPT-04", "a tensor's storage is not read";
    /// A tensor the model binds and the checkpoint lacks.
    CheckpointMissing = "LOGOS-CKPT-05", "a tensor is missing";
    /// A tensor the checkpoint has and the model does not know.
    CheckpointExtra = "LOGOS-CKPT-06", "the model has no such tensor";
    /// A tensor of another shape than the config's.
    CheckpointShape = "LOGOS-CKPT-07", "a tensor has another shape than the config's";
    /// A value that is infinite or no number.
    CheckpointValue = "LOGOS-CKPT-08", "a tensor has a value that cannot be computed with";
    /// A GGUF file of an architecture whose names are not known.
    CheckpointNames = "LOGOS-CKPT-09", "a GGUF file's names are not known";
    /// A description of a checkpoint that is none.
    CheckpointDescription = "LOGOS-CKPT-10", "a checkpoint's description is not well formed";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A key of a deployment that a refusal may point at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// The deployment's form (`decode`, `prefill`, `forward`).
    Form,
    /// `tp`: tensor-parallel width, in chips.
    Tp,
    /// `ctx`: context, in positions.
    Ctx,
    /// `batch`: sequences of a step.
    Batch,
    /// `chunk`: tokens of each sequence in a prefill step.
    Chunk,
    /// `rows`: tokens of a forward step.
    Rows,
    /// `experts`: how routed experts lie over the chips.
    Experts,
}

impl Key {
    /// The key as written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Key::Form => "form",
            Key::Tp => "tp",
            Key::Ctx => "ctx",
            Key::Batch => "batch",
            Key::Chunk => "chunk",
            Key::Rows => "rows",
            Key::Experts => "experts",
        }
    }
}

/// What a refusal points at. The macro turns it into the span of the token, the command into words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum At {
    /// The request as a whole.
    Request,
    /// The model: its config file.
    Model,
    /// A key of the config, as a path: `text_config.num_attention_heads`.
    ConfigKey(String),
    /// The chip.
    Chip,
    /// A place in a chip's file.
    ChipFile {
        /// Its name, as the request has it.
        file: String,
        /// 1-based line.
        line: u32,
        /// 1-based column, in characters.
        column: u32,
    },
    /// A deployment's name.
    Deployment(String),
    /// A key of a deployment.
    Key(String, Key),
    /// A requirement of a deployment, counted from 0.
    Require(String, usize),
    /// A place in a program's text.
    Text {
        /// 1-based line.
        line: u32,
        /// 1-based column, in characters.
        column: u32,
    },
    /// A program of a deployment: `embed`, `layer 3 (attention)`, `head`.
    Program(String, String),
    /// A file of a checkpoint.
    Checkpoint {
        /// Its name.
        file: String,
        /// The tensor in it, if it is about one.
        tensor: Option<String>,
    },
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = Plainly(f);
        match self {
            At::Request => f.write_str("the request"),
            At::Model => f.write_str("the model"),
            At::ConfigKey(key) => write!(f, "config key `{key}`"),
            At::Chip => f.write_str("the chip"),
            At::ChipFile { file, line, column } => write!(f, "{file}:{line}:{column}"),
            At::Deployment(name) => f.write_str(name),
            At::Key(name, key) => write!(f, "`{}` of {name}", key.as_str()),
            At::Require(name, index) => write!(f, "requirement {} of {name}", index.saturating_add(1)),
            At::Text { line, column } => write!(f, "line {line}, column {column}"),
            At::Program(name, program) => write!(f, "{program} of {name}"),
            At::Checkpoint { file, tensor: Some(tensor) } => write!(f, "tensor `{tensor}` of {file}"),
            At::Checkpoint { file, tensor: None } => f.write_str(file),
        }
    }
}

/// Something asked for that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The stable code.
    pub code: Code,
    /// What it points at.
    pub at: At,
    /// One sentence with the numbers, lower case, without a full stop.
    pub message: String,
    /// Facts that support it: name and value.
    pub facts: Vec<(String, String)>,
    /// What to write instead.
    pub help: Option<String>,
}

impl Refusal {
    /// A refusal without facts and help.
    pub fn new(code: Code, at: At, message: impl Into<String>) -> Self {
        Refusal { code, at, message: message.into(), facts: Vec::new(), help: None }
    }

    /// Adds a supporting fact.
    #[must_use]
    pub fn fact(mut self, name: impl Into<String>, value: impl fmt::Display) -> Self {
        self.facts.push((name.into(), value.to_string()));
        self
    }

    /// Says what to write instead.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, Plain(&self.message))?;
        for (name, value) in &self.facts {
            write!(f, "\n  {}: {}", Plain(name), Plain(value))?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {}", Plain(help))?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}
