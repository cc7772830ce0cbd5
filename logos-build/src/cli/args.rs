//! The command line.

use clap::{Arg, ArgAction, ArgGroup, Command, value_parser};
use logos_core::{ExpertSplit, Vocabulary, Weights, chip};

use super::gemm::precisions;

/// The forms of deployment, in the order of their help.
pub(super) const MODES: [&str; 3] = ["decode", "prefill", "forward"];

/// The whole command.
pub(super) fn command() -> Command {
    Command::new("cargo logos")
        .bin_name("cargo logos")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Compile a language model's config for a spatial chip, and look at the result")
        .after_help("Cycles are cycles of a unit model, never a time. Nothing here ran on an RDU; no speed is claimed.")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            request(Command::new("check"))
                .about("Compile a deployment, check its certificate, show programs and bytes a chip")
                .arg(
                    flag(
                        "explain-widths",
                        "Tell of every width of the chip's domain instead: admitted, or why not, and what lies where",
                    )
                    .conflicts_with_all(["tp", "ctx", "batch", "chunk", "rows", "require"]),
                )
                .arg(json()),
        )
        .subcommand(
            request(Command::new("kinds"))
                .about("List the layer kinds: which layers run which program, and what each holds")
                .arg(json()),
        )
        .subcommand(
            request(Command::new("program"))
                .about("Print a program's LOGOS text")
                .arg(number("layer", "N", "The program of this layer, counted from 0"))
                .arg(flag("embed", "The embedding program"))
                .arg(flag("head", "The head program"))
                .group(ArgGroup::new("which").args(["layer", "embed", "head"]).required(true)),
        )
        .subcommand(request(Command::new("emit")).about("Write the bundle to a .logos file").arg(
            Arg::new("output").short('o').long("output").value_name("FILE").required(true).help("The file to write"),
        ))
        .subcommand(
            model(Command::new("fit"))
                .about(
                    "Show what a model needs of the chips' memories, for any width, and where each figure comes from",
                )
                .arg(flag("sources", "Also say where each figure comes from"))
                .arg(json())
                .arg(output()),
        )
        .subcommand(
            request(Command::new("report"))
                .about("Write a page about a model in a deployment: memory, ladder, mesh, schedule, roofline")
                .arg(output()),
        )
        .subcommand(
            model(Command::new("plan"))
                .about("Plan how vLLM would serve a model, and what a backend of it would have to support")
                .arg(json())
                .arg(output()),
        )
        .subcommand(gemm(Command::new("gemm")))
        .subcommand(
            Command::new("schema")
                .about("Print the JSON schema of a document; without a name, list them")
                .arg(Arg::new("schema").value_name("NAME").help("The document, `logos.rdu.fit`"))
                .arg(output()),
        )
        .subcommand(simulate(Command::new("simulate")))
        .subcommand(
            Command::new("describe")
                .about("Describe a checkpoint's tensors in a small text that stands for it in a build")
                .arg(
                    Arg::new("checkpoint")
                        .value_name("MODEL_DIR")
                        .required(true)
                        .help("A folder with safetensors or one GGUF file, or such a file"),
                )
                .arg(
                    Arg::new("config")
                        .long("config")
                        .value_name("CONFIG")
                        .help("Also hold it to the model of this config.json"),
                )
                .arg(
                    Arg::new("output")
                        .short('o')
                        .long("output")
                        .value_name("FILE")
                        .help("The file to write; standard output if left out"),
                ),
        )
        .subcommand(
            Command::new("chips")
                .about("List the chips; with a name or a file, show every fact with its label and sources")
                .arg(Arg::new("chip").value_name("NAME").help(chips()))
                .arg(chip_file().conflicts_with("chip"))
                .arg(
                    flag("toml", "Print the chip's file, to start one's own from")
                        .requires("whose")
                        .conflicts_with("json"),
                )
                .group(ArgGroup::new("whose").args(["chip", "chip-file"]))
                .arg(json()),
        )
        .subcommand(
            Command::new("inspect")
                .about("List and re-check the bundles of a .logos file or of a finished binary")
                .arg(
                    Arg::new("file")
                        .value_name("FILE")
                        .required(true)
                        .help("A .logos file, or an ELF, Mach-O or PE file"),
                )
                .arg(
                    Arg::new("export")
                        .long("export")
                        .value_name("FOLDER")
                        .help("Also write each bundle that checks to FOLDER as N.logos, and as a document N.json"),
                )
                .arg(
                    chip_file()
                        .action(ArgAction::Append)
                        .help("The file of a chip of one's own that a bundle names; may be given more than once"),
                )
                .arg(json()),
        )
        .subcommand(
            Command::new("explain")
                .about("Explain a code such as LOGOS-TP-02; without a code, list them")
                .arg(Arg::new("code").value_name("CODE").help("A code as an error begins with it; `TP-02` will do")),
        )
}

/// Adds what a request consists of.
fn request(command: Command) -> Command {
    deployed(command)
        .arg(experts())
        .arg(
            Arg::new("mode")
                .long("mode")
                .value_name("MODE")
                .default_value("decode")
                .value_parser(MODES)
                .help("The form of a step"),
        )
        .arg(number("ctx", "POSITIONS", "Context (decode, prefill)"))
        .arg(number("batch", "SEQUENCES", "Sequences of a step (decode, prefill); 1 if left out"))
        .arg(number("chunk", "TOKENS", "Tokens of each sequence in a step (prefill)"))
        .arg(number("rows", "TOKENS", "Tokens of the step (forward)"))
}

/// Adds what a document of a model is asked for.
fn model(command: Command) -> Command {
    request(command).mut_arg("ctx", |ctx| ctx.help("Context; of a decode the model's own most if left out"))
}

/// Adds a model, a chip, a width and a storage.
fn deployed(command: Command) -> Command {
    command
        .arg(Arg::new("config").value_name("CONFIG").required(true).help("The model's config.json"))
        .arg(Arg::new("chip").long("chip").value_name("CHIP").required_unless_present("chip-file").help(chips()))
        .arg(chip_file().conflicts_with("chip"))
        .arg(number("tp", "CHIPS", "Tensor-parallel width; the widest the model admits within a rack if left out"))
        .arg(
            Arg::new("require")
                .long("require")
                .value_name("LIST")
                .action(ArgAction::Append)
                .help("Refuse a deployment of which this does not hold: `hbm_fit, tight, ctx >= 131_072, sequences >= 8, hbm_headroom >= 8 GiB`"),
        )
        .arg(
            Arg::new("weights")
                .long("weights")
                .value_name("STORAGE")
                .default_value("config")
                .value_parser(Weights::NAMES)
                .help("How weights are stored"),
        )
        .arg(vocab())
        .arg(
            Arg::new("weights-from")
                .long("weights-from")
                .value_name("DESCRIPTION")
                .conflicts_with("weights")
                .help("Hold the model to a checkpoint, by its description, and keep each weight as it is stored there"),
        )
        .arg(
            Arg::new("name")
                .long("name")
                .value_name("NAME")
                .help("The model's name in the bundle; its folder's if left out"),
        )
}

/// Adds what a run on the host consists of.
fn simulate(command: Command) -> Command {
    command
        .about("Run a model's own weights through its compiled programs, on the host")
        .arg(
            Arg::new("model")
                .value_name("MODEL_DIR")
                .required(true)
                .help("A folder with config.json and its checkpoint, or a checkpoint file beside its config.json"),
        )
        .arg(
            Arg::new("tokens")
                .long("tokens")
                .value_name("IDS")
                .required(true)
                .value_delimiter(',')
                .value_parser(size)
                .help("The prompt's token ids, `1,2,3`"),
        )
        .arg(
            Arg::new("steps")
                .long("steps")
                .value_name("TOKENS")
                .default_value("16")
                .value_parser(value_parser!(u32).range(1..))
                .help("Tokens to generate, each the most likely"),
        )
        .arg(
            Arg::new("checkpoint")
                .long("checkpoint")
                .value_name("FILE")
                .help("The checkpoint file, where the folder has several"),
        )
        .arg(Arg::new("chip").long("chip").value_name("CHIP").default_value("SN50").help("The chip: SN50, SN40L, …"))
        .arg(chip_file().conflicts_with("chip"))
        .arg(number("tp", "CHIPS", "Tensor-parallel width; 1 if left out"))
        .arg(number("ctx", "POSITIONS", "Context; what the run reaches if left out"))
        .arg(number("chunk", "TOKENS", "Prompt tokens of a prefill step; the prompt, up to 512, if left out"))
        .arg(
            Arg::new("weights")
                .long("weights")
                .value_name("STORAGE")
                .default_value("config")
                .value_parser(Weights::NAMES)
                .help("How the chips would store weights; they are computed with as the checkpoint stores them"),
        )
        .arg(vocab())
        .arg(experts())
        .arg(
            Arg::new("weights-from")
                .long("weights-from")
                .value_name("DESCRIPTION")
                .conflicts_with("weights")
                .help("Keep each weight as a description has it, to which the checkpoint is held; MODEL_DIR itself is described too"),
        )
        .arg(
            Arg::new("order")
                .long("order")
                .value_name("ORDER")
                .default_value("schedule")
                .value_parser(["schedule", "self-timed"])
                .help("Which stage fires next: as scheduled, or any that can, drawn from --seed"),
        )
        .arg(
            Arg::new("seed")
                .long("seed")
                .value_name("N")
                .value_parser(value_parser!(u64))
                .help("The seed of a self-timed order; 0 if left out"),
        )
        .arg(
            flag("evaluate", "Evaluate statement by statement instead: the reference, without tiles and buffers")
                .conflicts_with_all(["order", "seed"]),
        )
        .arg(json())
}

fn experts() -> Arg {
    Arg::new("experts")
        .long("experts")
        .value_name("SPLIT")
        .default_value("columns")
        .value_parser(ExpertSplit::NAMES)
        .help("Whether each chip has a part of every routed expert (columns) or whole ones (parallel)")
}

/// Adds what a product consists of.
fn gemm(command: Command) -> Command {
    command
        .about("Lower, place and certify a matrix product by itself, and show its fit")
        .arg(Arg::new("chip").long("chip").value_name("CHIP").required_unless_present("chip-file").help(chips()))
        .arg(chip_file().conflicts_with("chip"))
        .arg(number("m", "ROWS", "Rows of the input; 8 tiles of the chip if left out"))
        .arg(number("n", "COLUMNS", "Columns of the weight; 8 tiles if left out"))
        .arg(number("k", "COLUMNS", "Columns of the input; 4 tiles if left out"))
        .arg(
            Arg::new("precision")
                .long("precision")
                .value_name("STORAGE")
                .default_value("int8")
                .value_parser(precisions())
                .help("How the weight is stored; int8 is q8_0, blocks of 32 with a scale each, and fp8 f8_e4m3, with one a block of 128 by 128"),
        )
        .arg(json())
        .arg(output())
}

/// A file for what would else be printed.
fn output() -> Arg {
    Arg::new("output").short('o').long("output").value_name("FILE").help("Write the document to a file")
}

fn vocab() -> Arg {
    Arg::new("vocab")
        .long("vocab")
        .value_name("ROWS")
        .default_value("exact")
        .value_parser(Vocabulary::NAMES)
        .help("Whether the vocabulary is padded to a multiple of 64 and of the width")
}

/// A chip of one's own.
fn chip_file() -> Arg {
    Arg::new("chip-file").long("chip-file").value_name("FILE").help("A chip of one's own, by its file")
}

/// What a chip may be, from the chips that there are.
fn chips() -> String {
    format!("The chip: {}", chip::NAMES.join(", "))
}

fn number(name: &'static str, unit: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(unit).help(help).allow_negative_numbers(true).value_parser(size)
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

fn json() -> Arg {
    Arg::new("json")
        .long("json")
        .action(ArgAction::SetTrue)
        .value_parser(value_parser!(bool))
        .help("Print JSON in place of tables")
}

/// A whole number, with underscores or without.
fn size(text: &str) -> Result<u32, String> {
    let digits: String = text.chars().filter(|&c| c != '_').collect();
    if digits.starts_with('-') {
        return Err("a size is not negative".to_owned());
    }
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err("a size is a whole number, `262144` or `262_144`".to_owned());
    }
    digits.parse().map_err(|_| format!("the largest size is {}", u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::{command, size};

    #[test]
    fn the_command_line_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn sizes_are_whole_numbers() {
        assert_eq!(size("262_144"), Ok(262_144));
        for wrong in ["", "_", "-1", "8.0", "0x8", "4294967296", "٣"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
