//! Requirements, from the build helper and the command: what the macro says of the same is in `ui/refused`.

use std::fs;
use std::path::{Path, PathBuf};

use logos_build::{Code, Compare, Figure, Refusal, Requirement};

logos_rdu::logos_model! {
    pub mod plain {
        model: config "fixtures/configs/qwen3.5-27b/config.json",
        chip: SN50,
        deployments: { DECODE: decode { tp: 8, ctx: 262_144, batch: 8 } },
    }
    pub mod required {
        model: config "fixtures/configs/qwen3.5-27b/config.json",
        chip: SN50,
        deployments: {
            DECODE: decode { tp: 8, ctx: 262_144, batch: 8 } require {
                hbm_fit, tight, ctx >= 131_072, sequences == 13, hbm_headroom > 20 GiB,
            },
        },
    }
}

const REQUIRED: &str = "hbm_fit, tight, ctx >= 131_072, sequences == 13, hbm_headroom > 20 GiB";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("requirements").join(name);
    fs::create_dir_all(&folder).expect("a folder of our own");
    folder
}

/// A decode step of eight sequences, of which these are required.
fn built(requirements: &[&str]) -> logos_build::Model {
    logos_build::model("fixtures/configs/qwen3.5-27b/config.json").chip("SN50").decode("DECODE", |decode| {
        let decode = decode.tp(8).ctx(262_144).batch(8);
        requirements.iter().fold(decode, |decode, require| decode.require(*require))
    })
}

fn refused(model: &logos_build::Model) -> Vec<(Code, String)> {
    let said = |refusal: Refusal| (refusal.code, format!("{}: {}", refusal.at, refusal.message));
    model.compile(root(), "plain").expect_err("refused").into_iter().map(said).collect()
}

/// Runs `cargo logos check` on the same step; its status and what it says.
fn checked(require: &[&str]) -> (u8, String) {
    let mut line: Vec<_> = ["cargo-logos", "logos", "check"].map(Into::into).into();
    line.push(logos_tests::config("qwen3.5-27b").into_os_string());
    line.extend("--chip SN50 --tp 8 --ctx 262144 --batch 8".split(' ').map(Into::into));
    line.extend(require.iter().flat_map(|require| ["--require".into(), (*require).into()]));
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = logos_build::cli::run(line, &mut out, &mut err);
    (status, String::from_utf8(err).expect("text"))
}

/// B1: what is required of a bundle is no part of it.
#[test]
fn requirements_change_no_byte() {
    let words = plain::DECODE.words();
    let compiled = built(&[REQUIRED]).compile(root(), "plain").expect("all of it holds");
    assert!(compiled[0].words == words);
    assert_eq!(compiled[0].required.len(), 5);
    assert_eq!(required::DECODE.fit(), plain::DECODE.fit());
    assert_eq!(checked(&[REQUIRED]), (0, String::new()));
}

#[test]
fn the_included_file_repeats_them_for_rustc() {
    let out = folder("included");
    built(&["hbm_fit", "sequences > 12, hbm_headroom >= 20 GiB"])
        .emit_to("qwen35", root(), &out, &mut Vec::new())
        .expect("all of it holds");
    let text = fs::read_to_string(out.join("qwen35.rs")).expect("written");
    let required = "require { [hbm_fit] [sequences > 12] [hbm_headroom >= 21474836480] },\n";
    assert!(text.contains(required), "{text}");
    assert!(text.contains("Required: `hbm_fit`, `sequences > 12`, `hbm_headroom >= 21474836480`."), "{text}");
}

#[test]
fn values_are_required_as_words_are() {
    let model = |requirement: Requirement| {
        logos_build::model("fixtures/configs/qwen3.5-27b/config.json")
            .chip("SN50")
            .prefill("P", |prefill| prefill.tp(8).ctx(8_192).chunk(64).require([Requirement::HbmFit, requirement]))
    };
    assert!(model(Figure::Ctx.at_least(262_144)).compile(root(), "plain").is_ok());
    let below = Requirement::Figure { figure: Figure::Ctx, compare: Compare::Below, value: 262_144 };
    let said =
        "requirement 2 of P: `ctx < 262144` does not hold: the largest context that fits with 1 sequence is 262144";
    assert_eq!(refused(&model(below)), [(Code::RequireUnmet, said.to_owned())]);
}

#[test]
fn refusals_are_the_macros() {
    let unmet = "`sequences >= 14` does not hold: the most sequences that fit over 262144 positions are 13";
    assert_eq!(
        refused(&built(&["tight", "sequences >= 14"])),
        [(Code::RequireUnmet, format!("requirement 2 of DECODE: {unmet}"))]
    );
    let (status, said) = checked(&["tight", "sequences >= 14"]);
    assert_eq!(status, 1);
    assert!(said.contains(&format!("LOGOS-REQ-04: {unmet}\n")) && said.contains("at: --require\n"), "{said}");

    let both = "`ctx <= 5` contradicts `ctx >= 10`: nothing meets both";
    assert_eq!(
        refused(&built(&["ctx >= 10, ctx <= 5"])),
        [(Code::RequireContradiction, format!("requirement 2 of DECODE: {both}"))]
    );
    assert!(checked(&["ctx >= 10", "ctx <= 5"]).1.contains(&format!("LOGOS-REQ-05: {both}\n")));

    let unread = refused(&built(&["hbm_fit", "hbm_headroom >= 17179869184 GiB, hbmfit"]));
    assert_eq!(
        unread,
        [
            (
                Code::SizeOverflow,
                "requirement 2 of DECODE: 17179869184 GiB are more bytes than 64 bits count".to_owned()
            ),
            (Code::RequestUnknownKey, "requirement 3 of DECODE: unknown requirement `hbmfit`".to_owned()),
        ]
    );
    assert!(checked(&["hbmfit"]).1.contains("did you mean `hbm_fit`?"));
}
