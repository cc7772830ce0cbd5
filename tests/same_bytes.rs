//! The macro, the build helper and the command give the same bytes for the same request.

use std::fs;
use std::path::{Path, PathBuf};

use logos_build::{Vocabulary, Weights};
use logos_rdu::Deployment;

logos_rdu::logos_model! {
    pub mod qwen35 {
        model: config "fixtures/configs/qwen3.5-27b/config.json",
        chip: SN50,
        deployments: {
            DECODE: decode { tp: 8, ctx: 262_144, batch: 8 },
            PREFILL: prefill { tp: 8, ctx: 262_144, chunk: 512 },
        },
    }
    pub mod smol {
        model: config "fixtures/configs/smollm2-135m/config.json",
        chip: SN40L,
        weights: q8_0,
        deployments: { FORWARD: forward { rows: 128 }, DECODE: decode { ctx: 2_048 } },
    }
    pub mod stored {
        model: config "fixtures/configs/qwen3.5-27b/config.json",
        chip: SN50,
        weights: checkpoint "fixtures/checkpoints/qwen3.5-27b.json",
        deployments: { DECODE: decode { tp: 8, ctx: 8_192 } },
    }
    pub mod own {
        model: config "fixtures/configs/smollm2-135m/config.json",
        chip: file "fixtures/chips/ex1.toml",
        deployments: {
            DECODE: decode { tp: 3, ctx: 2_048, batch: 2 },
            PREFILL: prefill { ctx: 2_048, chunk: 64, batch: 1 },
            TOGETHER: prefill { tp: 3, ctx: 2_048, chunk: 64, batch: 2 },
        },
    }
    pub mod padded {
        model: config "fixtures/configs/phi-4/config.json",
        chip: SN40L,
        vocab: padded,
        deployments: { DECODE: decode { tp: 5, ctx: 2_048 } },
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("same_bytes").join(name);
    fs::create_dir_all(&folder).expect("a folder of our own");
    folder
}

fn bytes(deployment: Deployment) -> Vec<u8> {
    deployment.words().iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn qwen35() -> logos_build::Model {
    logos_build::model("fixtures/configs/qwen3.5-27b/config.json")
        .chip("SN50")
        .decode("DECODE", |decode| decode.tp(8).ctx(262_144).batch(8))
        .prefill("PREFILL", |prefill| prefill.tp(8).ctx(262_144).chunk(512))
}

fn smol() -> logos_build::Model {
    logos_build::model("fixtures/configs/smollm2-135m/config.json")
        .chip("SN40L")
        .weights(Weights::Q8_0)
        .forward("FORWARD", |forward| forward.rows(128))
        .decode("DECODE", |decode| decode.ctx(2_048))
}

fn stored() -> logos_build::Model {
    logos_build::model("fixtures/configs/qwen3.5-27b/config.json")
        .chip("SN50")
        .weights_from("fixtures/checkpoints/qwen3.5-27b.json")
        .decode("DECODE", |decode| decode.tp(8).ctx(8_192))
}

fn own() -> logos_build::Model {
    logos_build::model("fixtures/configs/smollm2-135m/config.json")
        .chip_file("fixtures/chips/ex1.toml")
        .decode("DECODE", |decode| decode.tp(3).ctx(2_048).batch(2))
        .prefill("PREFILL", |prefill| prefill.ctx(2_048).chunk(64))
        .prefill("TOGETHER", |prefill| prefill.tp(3).ctx(2_048).chunk(64).batch(2))
}

fn padded() -> logos_build::Model {
    logos_build::model("fixtures/configs/phi-4/config.json")
        .chip("SN40L")
        .vocab(Vocabulary::Padded)
        .decode("DECODE", |decode| decode.tp(5).ctx(2_048))
}

#[test]
fn the_build_helper_writes_the_macros_bytes() {
    let out = folder("build");
    let mut cargo = Vec::new();
    qwen35().emit_to("qwen35", root(), &out, &mut cargo).expect("compiles");
    smol().emit_to("smol", root(), &out, &mut cargo).expect("compiles");
    stored().emit_to("stored", root(), &out, &mut cargo).expect("compiles");
    own().emit_to("own", root(), &out, &mut cargo).expect("compiles");
    padded().emit_to("padded", root(), &out, &mut cargo).expect("compiles");
    for (file, deployment) in [
        ("qwen35.DECODE.logos", qwen35::DECODE),
        ("qwen35.PREFILL.logos", qwen35::PREFILL),
        ("smol.FORWARD.logos", smol::FORWARD),
        ("smol.DECODE.logos", smol::DECODE),
        ("stored.DECODE.logos", stored::DECODE),
        ("own.DECODE.logos", own::DECODE),
        ("own.PREFILL.logos", own::PREFILL),
        ("own.TOGETHER.logos", own::TOGETHER),
        ("padded.DECODE.logos", padded::DECODE),
    ] {
        assert!(fs::read(out.join(file)).expect("written") == bytes(deployment), "{file} differs");
    }
    assert_eq!(
        String::from_utf8(cargo).expect("text"),
        "cargo::rerun-if-changed=fixtures/configs/qwen3.5-27b/config.json\n\
         cargo::rerun-if-changed=fixtures/configs/smollm2-135m/config.json\n\
         cargo::rerun-if-changed=fixtures/configs/qwen3.5-27b/config.json\n\
         cargo::rerun-if-changed=fixtures/checkpoints/qwen3.5-27b.json\n\
         cargo::rerun-if-changed=fixtures/configs/smollm2-135m/config.json\n\
         cargo::rerun-if-changed=fixtures/chips/ex1.toml\n\
         cargo::rerun-if-changed=fixtures/configs/phi-4/config.json\n"
    );
}

#[test]
fn the_command_writes_the_macros_bytes() {
    let file = folder("command").join("x.logos");
    let description = logos_tests::description("qwen3.5-27b").display().to_string();
    let ex1 = logos_tests::fixtures().join("chips/ex1.toml").display().to_string();
    for (arguments, deployment) in [
        ("qwen3.5-27b SN50 --tp 8 --ctx 262144 --batch 8 --name qwen35", qwen35::DECODE),
        ("qwen3.5-27b SN50 --mode prefill --tp 8 --ctx 262_144 --chunk 512 --name qwen35", qwen35::PREFILL),
        ("smollm2-135m SN40L --mode forward --rows 128 --weights q8_0 --name smol", smol::FORWARD),
        ("smollm2-135m SN40L --ctx 2048 --weights q8_0 --name smol", smol::DECODE),
        ("phi-4 SN40L --tp 5 --ctx 2048 --vocab padded --name padded", padded::DECODE),
        (&format!("smollm2-135m FILE:{ex1} --tp 3 --ctx 2048 --batch 2 --name own"), own::DECODE),
        (&format!("smollm2-135m FILE:{ex1} --mode prefill --ctx 2048 --chunk 64 --name own"), own::PREFILL),
        (
            &format!("smollm2-135m FILE:{ex1} --mode prefill --tp 3 --ctx 2048 --chunk 64 --batch 2 --name own"),
            own::TOGETHER,
        ),
        (&format!("qwen3.5-27b SN50 --tp 8 --ctx 8192 --weights-from {description} --name stored"), stored::DECODE),
    ] {
        let mut words = arguments.split(' ');
        let config = logos_tests::config(words.next().expect("a config"));
        let chip = words.next().expect("a chip");
        let (option, chip) = chip.strip_prefix("FILE:").map_or(("--chip", chip), |file| ("--chip-file", file));
        let mut line = vec![
            "cargo-logos".into(),
            "logos".into(),
            "emit".into(),
            config.into_os_string(),
            option.into(),
            chip.into(),
        ];
        line.extend(words.map(Into::into));
        line.extend(["-o".into(), file.clone().into_os_string()]);
        let (mut out, mut err) = (Vec::new(), Vec::new());
        assert_eq!(logos_build::cli::run(line, &mut out, &mut err), 0, "{}", String::from_utf8_lossy(&err));
        assert!(fs::read(&file).expect("written") == bytes(deployment), "{arguments} differs");
    }
}

#[test]
fn a_second_run_touches_no_file() {
    let out = folder("again");
    qwen35().emit_to("qwen35", root(), &out, &mut Vec::new()).expect("compiles");
    let times = |out: &Path| -> Vec<_> {
        let names = ["qwen35.rs", "qwen35.DECODE.logos", "qwen35.PREFILL.logos"];
        names.map(|name| fs::metadata(out.join(name)).and_then(|m| m.modified()).expect("written")).to_vec()
    };
    let first = times(&out);
    qwen35().emit_to("qwen35", root(), &out, &mut Vec::new()).expect("compiles");
    assert_eq!(times(&out), first);
    let text = fs::read_to_string(out.join("qwen35.rs")).expect("written");
    assert!(!text.contains(env!("CARGO_MANIFEST_DIR")), "no absolute path in what is included:\n{text}");
}

#[test]
fn refusals_are_told_to_cargo_and_to_the_caller() {
    let mut cargo = Vec::new();
    let error = logos_build::model("fixtures/configs/qwen3.5-27b/config.json")
        .chip("SN50")
        .decode("DECODE", |decode| decode.tp(5).ctx(8_192))
        .prefill("PREFILL", |prefill| prefill.tp(8).ctx(8_192))
        .decode("decode", |decode| decode.ctx(8_192))
        .emit_to("qwen35", root(), &folder("refused"), &mut cargo)
        .expect_err("five chips do not divide 24 heads");
    let cargo = String::from_utf8(cargo).expect("text");
    assert!(cargo.lines().all(|line| line.starts_with("cargo::")), "{cargo}");
    for part in ["the 24 query heads do not split over 5 chips", "prefill needs `chunk`", "the name DECODE is taken"] {
        assert!(cargo.contains(part), "{part} is not told to Cargo:\n{cargo}");
        assert!(format!("{error:?}").contains(part), "{part} is not in the error:\n{error:?}");
    }
    assert!(!folder("refused").join("qwen35.rs").exists(), "nothing is written");
}
