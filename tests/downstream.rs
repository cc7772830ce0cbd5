//! Crates outside the workspace, built by Cargo as a user's are: refusal and acceptance, the link section of the linked
//! binary, equal bytes from two folders, what is rebuilt when a config changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A package of ours in a folder of its own; all share a target folder, so that LOGOS is compiled once.
struct Package {
    folder: PathBuf,
}

impl Package {
    fn new(name: &str, files: &[(&str, &str)]) -> Package {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("downstream").join(name);
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace");
        let package = Package { folder };
        package.write(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"downstream\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
                 [dependencies]\nspatial = {{ package = \"logos-rdu\", path = {rdu:?} }}\n\n\
                 [build-dependencies]\nlogos-build = {{ path = {build:?} }}\n\n\
                 [profile.dev]\ndebug = false\n\n[workspace]\n",
                rdu = workspace.join("logos-rdu"),
                build = workspace.join("logos-build"),
            ),
        );
        // With the workspace's own versions nothing has to be looked up.
        let lock = fs::read_to_string(workspace.join("Cargo.lock")).expect("the workspace is locked");
        package.write("Cargo.lock", &lock);
        let config = fs::read_to_string(logos_tests::config("qwen3.5-27b")).expect("a fixture");
        package.write("models/config.json", &config);
        for (path, text) in files {
            package.write(path, text);
        }
        package
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn cargo(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO"))
            .args(arguments)
            .args(["--offline", "--quiet", "--color", "never"])
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", target())
            .env_remove("RUSTFLAGS")
            .output()
            .expect("cargo runs")
    }

    fn passes(&self, arguments: &[&str]) -> String {
        let output = self.cargo(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }

    fn fails(&self, arguments: &[&str]) -> String {
        let output = self.cargo(arguments);
        assert!(!output.status.success(), "{arguments:?} passes");
        String::from_utf8(output.stderr).expect("text")
    }
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("downstream/target")
}

fn model(tp: u32) -> String {
    format!(
        "spatial::logos_model! {{
    pub mod qwen35 {{
        model: config \"models/config.json\",
        chip: SN50,
        deployments: {{
            DECODE: decode {{ tp: {tp}, ctx: 262_144, batch: 8 }} require {{ hbm_fit, ctx >= 262_144 }},
        }},
        reports: [fit],
    }}
}}
const _: () = assert!(qwen35::DECODE.fit().hbm_headroom_bytes > 8 << 30);
"
    )
}

/// One test: its steps share packages and a target folder, which Cargo locks anyway.
#[test]
fn a_users_crates() {
    refused_at_16_and_accepted_at_8();
    a_changed_config_is_compiled_again();
    a_build_script_does_the_same();
    the_binary_holds_the_bundle_and_is_reproducible();
}

fn refused_at_16_and_accepted_at_8() {
    let main = |tp| format!("{}fn main() {{ println!(\"{{}}\", qwen35::DECODE.chips()); }}\n", model(tp));
    let package = Package::new("width", &[("src/main.rs", &main(16))]);
    let errors = package.fails(&["check"]);
    let first: Vec<&str> = errors.lines().filter(|line| line.starts_with("error: LOGOS-")).collect();
    assert!(first.contains(&"error: LOGOS-TP-02: the 24 query heads do not split over 16 chips"), "{errors}");
    assert!(errors.contains("help: ") && errors.contains("1, 2, 4"), "the widths are offered:\n{errors}");
    // The user's own assertion reads the constant and stays silent.
    let all: Vec<&str> = errors.lines().filter(|line| line.starts_with("error")).collect();
    assert_eq!(all.len(), first.len() + 1, "LOGOS's own and `could not compile`:\n{errors}");
    package.write("src/main.rs", &main(8));
    assert_eq!(package.passes(&["run"]), "8\n");
}

fn a_changed_config_is_compiled_again() {
    let main = format!("{}fn main() {{ println!(\"{{}}\", qwen35::DECODE.layers()); }}\n", model(8));
    let package = Package::new("tracked", &[("src/main.rs", &main)]);
    assert_eq!(package.passes(&["run"]), "64\n");
    let config = fs::read_to_string(package.folder.join("models/config.json")).expect("written");
    fs::remove_file(package.folder.join("models/config.json")).expect("removed");
    assert!(package.fails(&["check"]).contains("there is no file `models/config.json`"));
    package.write(
        "models/config.json",
        &config.replacen("\"num_attention_heads\": 24", "\"num_attention_heads\": \"24\"", 1),
    );
    assert!(package.fails(&["check"]).contains("LOGOS-CFG-04"));
    package.write("models/config.json", &config);
    assert_eq!(package.passes(&["run"]), "64\n");
}

fn a_build_script_does_the_same() {
    let script = |tp: u32| {
        format!(
            "fn main() -> Result<(), logos_build::BuildError> {{
    logos_build::model(\"models/config.json\")
        .chip(\"SN50\")
        .decode(\"DECODE\", |decode| decode.tp({tp}).ctx(262_144).batch(8).require(\"hbm_fit, ctx >= 262_144\"))
        .reports([logos_build::Report::Fit])
        .emit(\"qwen35\")
}}
"
        )
    };
    let main = format!(
        "#![forbid(unsafe_code)]\n#![deny(missing_docs, warnings)]\n//! A test.\nmod same {{\n{}}}\n\
         spatial::include_model!(\"qwen35\");\n\
         fn main() {{
    assert!(qwen35::DECODE.words() == same::qwen35::DECODE.words());
    assert!(qwen35::fit_json::DECODE == same::qwen35::fit_json::DECODE);
}}\n",
        model(8)
    );
    let package = Package::new("script", &[("src/main.rs", &main), ("build.rs", &script(8))]);
    package.passes(&["run"]);
    package.write("build.rs", &script(5));
    let errors = package.fails(&["check"]);
    assert!(errors.contains("the 24 query heads do not split over 5 chips"), "{errors}");
    // A second model of the name would replace the first.
    let twice = script(8).replacen(".emit(\"qwen35\")\n", ".emit(\"qwen35\")?;\n    main()\n", 1);
    package.write("build.rs", &twice);
    let errors = package.fails(&["check"]);
    assert!(errors.contains("the name `qwen35` is of an earlier model of this build script"), "{errors}");
}

fn the_binary_holds_the_bundle_and_is_reproducible() {
    // The library is linked and its deployment never read.
    let library = model(8);
    let files: &[(&str, &str)] = &[("src/lib.rs", &library), ("src/main.rs", "use downstream as _;\nfn main() {}\n")];
    let mut binaries = Vec::new();
    for name in ["here", "in/another/folder"] {
        let package = Package::new(name, files);
        package.passes(&["build"]);
        binaries.push(fs::read(target().join("debug/downstream")).expect("built"));
    }
    assert!(binaries[0] == binaries[1], "the binary depends on its folder");
    let text = String::from_utf8_lossy(&binaries[0]).into_owned();
    assert!(!text.contains("downstream/here"), "the binary holds its folder");
    assert!(!text.contains("\"logos.rdu.fit\""), "the binary holds a document that nothing reads");
    let main = "use downstream as _;\nfn main() { println!(\"{}\", downstream::qwen35::fit_json::DECODE); }\n";
    let package = Package::new("reads", &[("src/lib.rs", &library), ("src/main.rs", main)]);
    assert!(package.passes(&["run"]).starts_with("{\n  \"schema\": \"logos.rdu.fit\","));
    let binary = fs::read(target().join("debug/downstream")).expect("built");
    assert!(String::from_utf8_lossy(&binary).contains("\"logos.rdu.fit\""), "what is read is there");

    let file = target().join("inspected");
    fs::write(&file, &binaries[0]).expect("written");
    let line = ["cargo-logos", "inspect", "--json"].map(Into::into).into_iter().chain([file.into_os_string()]);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    assert_eq!(logos_build::cli::run(line, &mut out, &mut err), 0, "{}", String::from_utf8_lossy(&err));
    let document: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
    let bundles = document["bundles"].as_array().expect("bundles");
    assert_eq!(bundles.len(), 1, "the section holds the bundle once");
    assert_eq!(bundles[0]["deployment"]["model"], "qwen35");
    assert_eq!(bundles[0]["certificate"]["rechecked"], true);
}
