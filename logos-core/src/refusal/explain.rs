//! What `cargo logos explain CODE` prints: what a refusal means, a common cause, what to do.

use super::Code;

impl Code {
    /// The code with this name, upper or lower case, with or without `LOGOS-`.
    pub fn from_name(name: &str) -> Option<Code> {
        let name = name.trim().to_ascii_uppercase();
        let tail = name.strip_prefix("LOGOS-").unwrap_or(&name);
        Code::ALL.iter().copied().find(|code| code.as_str().strip_prefix("LOGOS-") == Some(tail))
    }

    /// A paragraph on the code: what it means, a common cause, what to do.
    pub const fn explanation(self) -> &'static str {
        match self {
            Code::RequestForm => {
                "The request could not be read: a key is missing or given twice, a value has the wrong type, or a \
                 comma or brace is out of place. Sizes are whole numbers written out (underscores are fine): the \
                 macro runs before constants have values, so a constant's name cannot stand for one. Write the \
                 value the message asks for at the place it points to; all faults of a request are reported \
                 together."
            }
            Code::RequestUnknownKey => {
                "The request has a key or a word that is not part of it. Most often it is a spelling mistake, or a \
                 key that belongs to another form of deployment: `batch` is a key of `decode` and \
                 `prefill`, `chunk` of `prefill`, `rows` of `forward`. Unknown keys are never ignored, since one that was would silently \
                 deploy something else. Use the key the message offers."
            }
            Code::RequestFile => {
                "A file the request names cannot be read, is not a file, or is far too large for what it should be. \
                 Paths are relative to the folder of the crate's Cargo.toml, whichever folder the build was started \
                 in, and never absolute, so that the crate builds the same on every machine. Check the spelling, \
                 and that the file is checked in; name the config itself (`models/x/config.json`), not its folder \
                 and never a checkpoint."
            }
            Code::ChipUnknown => {
                "No chip of this name is known. Chip names are written as the vendor writes them (`SN50`, `SN40L`). \
                 A chip is known when its published facts are in the compiler's table, each with a citation; there \
                 is no generic chip to fall back on, since its cells, memories and rates would be invented. Use one \
                 of the names listed."
            }
            Code::ChipLacks => {
                "The chip's published facts do not allow what was asked: a memory or a link the deployment needs is \
                 absent, or no figure for it is published. An example is a tensor-parallel width on a chip whose \
                 link rate is not published. Choose another chip, or a deployment that does without."
            }
            Code::ChipSyntax => {
                "A chip file is TOML of a small kind: at its top `name`, `part` and `target`, then a table \
                 `[facts.FIELD]` a fact and a table `[sources.KEY]` a source, one `key = value` a line. Values are \
                 texts in double quotes, whole numbers (`1_600`), or lists of texts on one line; `#` begins a \
                 comment; a key and a table are written once. `cargo logos chips SN50 --toml` prints a file to start \
                 from."
            }
            Code::ChipUnknownField => {
                "The file names something that chips do not have here, so nothing would read it: most often a \
                 spelling, and then the nearest known one is offered. Facts have `value`, `unit`, `provenance`, \
                 `cite` and `note`; sources `title`, `publisher`, `date` and `url`. `cargo logos chips SN50` shows \
                 the fields with their units."
            }
            Code::ChipUnlabelled => {
                "A figure that nobody can trace is not taken. Every fact states its value, the field's own unit, a \
                 provenance (`published`: a source prints it; `derived`: it follows by arithmetic from figures that \
                 are printed; `measured`: something was run; `modeled`: it was chosen) and what it cites, by the keys \
                 of the sources below. Unless it is published, its note says by what arithmetic, what was run, or why \
                 it was chosen so. A figure that you assume is `modeled`, and cites what the assumption rests on."
            }
            Code::ChipMissing => {
                "The unit model, the mesh or the memories follow from this fact, and nothing stands in for one that \
                 is missing: a default would be a figure that nobody chose. Where the vendor does not publish it, \
                 choose it, label it `modeled` and say why; the files of the chips that come with the compiler \
                 (`cargo logos chips SN50 --toml`) show how."
            }
            Code::ChipFigure => {
                "The figure is not of its field's kind, leaves the range in which the certificate's arithmetic is \
                 exact, or contradicts another figure of the chip. A cell is a PCU with its PMU and a site of the \
                 mesh, so their counts agree; SRAM is the PMUs' together; a memory has bytes and a rate or neither; \
                 rates, told in bytes a cycle of the unit model, follow from the peak rate and the PCUs' arrays."
            }
            Code::ChipName => {
                "A bundle says by name which chip it was made for, and `cargo logos inspect` compares its figures with \
                 the facts of that name. A file's chip may therefore be called like one that comes with the compiler \
                 only while it is that chip, fact by fact. Once a figure is changed, it needs a name of its own."
            }
            Code::ConfigSyntax => {
                "The file is not a JSON object: it is empty, cut off, or holds something else (a checkpoint's \
                 index, an HTML error page, a Git LFS pointer in place of the file). Open it and look at its first \
                 line; download it again if it is not the model's own config.json."
            }
            Code::ConfigFamily => {
                "The config's `model_type` names an architecture that is not implemented. The same keys mean \
                 different computations in different architectures, so a near relative is never assumed. The \
                 message lists the families that are known; a fine-tune keeps its parent's `model_type` and works \
                 as it does."
            }
            Code::ConfigMissing => {
                "The config lacks a key that its family requires, and for which the reference implementation has no \
                 default that would be safe to take. Often the file is not the model's own but a tokenizer's or a \
                 generation config, or it was edited by hand. Take the config.json from the checkpoint itself, or \
                 add the key with the checkpoint's value."
            }
            Code::ConfigValue => {
                "A key of the config has a value of another type than it should (a string for a number, null for a \
                 size) or out of range (zero, negative, fractional, larger than any model). Compare with the config \
                 of the checkpoint; sizes are whole numbers of at least 1."
            }
            Code::ConfigConflict => {
                "Two keys of the config cannot both be true: heads that do not divide over their KV heads, a list \
                 of layer types whose length is not the number of layers, a rotary width wider than a head. One of \
                 them was changed without the other; a config cut down for a test often is."
            }
            Code::ConfigUnsupported => {
                "The config asks for something that changes what the model computes and that the compiler does not \
                 implement. Ignoring it would compile a different model without a word, so it is refused by name. \
                 Remove the key only if the checkpoint was made without it."
            }
            Code::TpWidth => {
                "The tensor-parallel width is 0, or wider than the chips that are joined by the links the figures \
                 are for (the chip's scale-up domain). Chips beyond that domain serve replicas, each with its own \
                 width; write a width within it."
            }
            Code::TpSplit => {
                "Tensor parallelism gives each chip its own query heads, feed-forward columns, recurrent heads and \
                 vocabulary rows, so each of these must divide by the width; KV heads must divide by it, or it by \
                 them (they are then replicated over equal groups of chips). Every part that does not divide is \
                 reported with its number, and the help lists the widths at which all of them do. Nothing is padded \
                 silently: `vocab: padded` (`--vocab padded`) pads the vocabulary to a multiple of 64 and of the width, \
                 with rows that no token is."
            }
            Code::CtxRange => {
                "The context is 0, or more positions than the model was made for (`max_position_embeddings` of its \
                 config). Beyond that its rotary embedding was never trained, and its output is noise. Write a \
                 context up to the model's own; a context extension must be in the config, as its rope scaling."
            }
            Code::BatchRange => {
                "The batch, the number of sequences that a decode step advances by a token each and a prefill step by \
                 a chunk each, is 0 or too large for the tables: of a prefill, sequences times tokens count. Write at \
                 least 1. How many fit the memory at a context is a different \
                 question: see LOGOS-FIT-01."
            }
            Code::ChunkRange => {
                "The chunk, the number of tokens of each sequence that a prefill step takes, is 0 or larger than the \
                 context it writes into. Write at least 1 and at most `ctx`; a longer prompt is several steps."
            }
            Code::RowsRange => {
                "The rows, the tokens of one stateless forward step, are 0 or more than the model's own context. \
                 Write at least 1 and at most the context; longer inputs are for prefill."
            }
            Code::FitMemory => {
                "Weights and carried state (KV cache and recurrent state, for every sequence of the batch at the \
                 whole context) need more bytes a chip than its main memory has. The facts show each part, and the \
                 help what would fit: fewer sequences, a shorter context, or a wider width. KV heads that are \
                 replicated (a width above the KV heads) do not shrink further with the width."
            }
            Code::TextSyntax => {
                "A program's text is not LOGOS: the message has line, column, and what was expected. Sentences end \
                 in a full stop, `Let` binds a name once, attributes follow the operands after commas."
            }
            Code::TextShape => {
                "The operands of a statement have shapes that its operation does not take together: the columns of \
                 the left operand of a matmul are the rows of the right one, and both operands of plus are alike. \
                 The message shows the shapes found."
            }
            Code::TextSharding => {
                "The operands of a statement lie over the chips in a way its operation cannot use, so that the \
                 result would be wrong on every chip: a partial sum that was not summed, a norm over a row that is \
                 split, a head whose KV group is on another chip. Usually a `sum of … over chips` is missing or \
                 doubled."
            }
            Code::TextState => {
                "A name is bound twice or never, or a carried state is written twice, or read after it was written. \
                 A step reads a state at its old value and writes it once, last, so that a step can be repeated and \
                 checked."
            }
            Code::LowerStatement => {
                "A program could not be turned into stages. The message names the program (`layer 3 (attention)`) \
                 and the statement. If the config is a real model's and the text is the compiler's own, this is a \
                 limit of the compiler: report it with the config."
            }
            Code::LowerSpace => {
                "The stages of a program need more cells or more scratchpad than the chip has, even one statement \
                 at a time. Fewer rows (a smaller batch or chunk) or a wider tensor-parallel width make each stage \
                 smaller."
            }
            Code::Certificate => {
                "The independent checker did not accept what the compiler produced, or a bundle was changed after \
                 it was made. The message has the rule and the row. For a fresh bundle this is a fault of the \
                 compiler: nothing is embedded, and a report with the config helps. For a stored one, make it \
                 again."
            }
            Code::Bundle => {
                "The bytes are not a bundle this version reads: the magic, the version, the length or the digest \
                 does not match. A file cut off or edited, or one made by another version. Make it again with \
                 `cargo logos emit`, or by building the crate."
            }
            Code::SizeOverflow => {
                "A product of sizes leaves 64 bits, or the limits within which the checker's arithmetic is exact. \
                 No model or deployment that exists is near these; look for a config value with too many digits, or \
                 a context times batch that was meant to be smaller."
            }
            Code::RequireUnmet => {
                "What `require` asks of a deployment does not hold for what was compiled. The message has the figure \
                 that holds: of `ctx` the largest context that fits with the deployment's sequences, of `sequences` \
                 the most that fit at its context, of `hbm_headroom` the bytes that weights and states leave of a \
                 chip's HBM; `hbm_fit` asks for no expert in DDR, `tight` for the interval of every program of one \
                 section within 1/256 of its bound. The help has sizes, found by trying them, with which it would \
                 hold. Change the deployment, or the requirement."
            }
            Code::RequireContradiction => {
                "Two requirements of a deployment allow no value in common, as `ctx >= 10` and `ctx <= 5` do, or one \
                 allows none at all, as `ctx < 0`. Whatever was compiled would be refused, so nothing is. Leave one \
                 out."
            }
            Code::CheckpointFile => {
                "A checkpoint is a folder with `model.safetensors`, or with `model.safetensors.index.json` and the \
                 shards it names, or with one `.gguf` file; or such a file itself, under any name. The message says what was found instead. Pickled files \
                 (`pytorch_model.bin`) run code when they are read and are never opened: convert them to safetensors."
            }
            Code::CheckpointHeader => {
                "The header of a file contradicts its format, itself, or the file's length: a tensor's bytes end \
                 after the file does, overlap another's or leave a hole, two tensors share a name, a shape has no \
                 size. Most often the file is cut off (an unfinished download, a full disk): fetch it again and \
                 compare its checksum."
            }
            Code::CheckpointIndex => {
                "`model.safetensors.index.json` says in which shard each tensor is, and the shards' own headers say \
                 what they hold. Where the two differ, files of two checkpoints were mixed or one was changed, and \
                 either reading could be the wrong model. Fetch index and shards of one revision."
            }
            Code::CheckpointStorage => {
                "A tensor is stored in a way that is described but not read as a weight: another element type, \
                 FP8 without its scales, half of an MXFP4 pair, a GGUF quantisation other than Q8_0. Values are \
                 never guessed. Use a checkpoint in F32, F16, BF16, Q8_0, FP8 with block or row scales, or MXFP4."
            }
            Code::CheckpointMissing => {
                "The config describes a model with a tensor that the checkpoint does not store under that name. \
                 Either the config is another model's, or the checkpoint is incomplete (a shard left out) or names \
                 its tensors in another way. Nothing is filled in: a model with a random or zero weight computes \
                 something else."
            }
            Code::CheckpointExtra => {
                "The checkpoint stores a tensor that the config's model does not have. Ignoring it would leave out \
                 part of what was trained, such as a bias the config does not mention or an adapter, so it is \
                 refused by name. Tensors of other inputs (`model.visual.*`), draft heads (`mtp.*`, layers beyond \
                 the depth), buffers that follow from the config and a tied head's copy are known and left unread."
            }
            Code::CheckpointShape => {
                "A tensor of the checkpoint has other sizes than the config says. One of the two files is another \
                 model's, or a key of the config was changed by hand. The message has both shapes, outermost axis \
                 first; compare them with the config's sizes to see which key is off."
            }
            Code::CheckpointValue => {
                "A weight is infinite or no number, or a head that the config ties to the embedding is stored with \
                 other values. With the former every logit becomes no number sooner or later: the file is damaged, \
                 or training diverged before it was saved. With the latter the config or the checkpoint is wrong \
                 about the tie."
            }
            Code::CheckpointNames => {
                "A GGUF file names its tensors in its own way and stores some of them in another order, or changed: \
                 which ones depends on its architecture. It is read where that is known and undone exactly. Use the \
                 safetensors checkpoint the file was converted from."
            }
            Code::CheckpointDescription => {
                "A description lists a checkpoint's tensors, their shapes and how they are stored, so that a build \
                 needs no checkpoint. It is written by `cargo logos describe` and not meant to be edited: one that \
                 does not parse, stands for tensors twice, or is of another version is refused. Write it again from \
                 the checkpoint."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[test]
    fn every_code_is_explained_in_its_own_words() {
        for (i, &code) in Code::ALL.iter().enumerate() {
            let text = code.explanation();
            assert!(text.len() > 120 && text.ends_with('.'), "{code}");
            assert!(!text.contains("  "), "{code} has doubled spaces: {text}");
            assert!(Code::ALL[..i].iter().all(|other| other.explanation() != text && other.as_str() != code.as_str()));
            assert_eq!(Code::from_name(code.as_str()), Some(code));
        }
        assert_eq!(Code::from_name("tp-02"), Some(Code::TpSplit));
        assert_eq!(Code::from_name("LOGOS-TP-99"), None);
    }
}
