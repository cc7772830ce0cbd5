//! The whole macro in process: every message with its place. What rustc makes of the expansion is tested in `tests/ui`.

use std::path::Path;

use expect_test::{Expect, expect};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::expand_in;

/// `line:column-column message` of every error, in the order of expansion.
fn faults(source: &str) -> String {
    let mut text = String::new();
    collect(expand(source), &mut text);
    text
}

fn expand(source: &str) -> TokenStream {
    let input: TokenStream = format!("[krate]\n{source}").parse().expect("the test's source lexes");
    expand_in(input, Some(Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()))
}

fn collect(stream: TokenStream, text: &mut String) {
    let mut named = None;
    for token in stream {
        match token {
            TokenTree::Ident(word) if word == "compile_error" => named = Some(word.span()),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && named.is_some() => {
                let (start, end) = (named.take().expect("just seen").start(), group.span_close().end());
                let message: String = match syn::parse2(group.stream()).expect("one literal") {
                    syn::Lit::Str(message) => message.value(),
                    other => panic!("a message is a string, found {}", quote::quote!(#other)),
                };
                // The first line of the source is the crate's path.
                text.push_str(&format!("{}:{}-{} {message}\n", start.line - 1, start.column, end.column));
            }
            TokenTree::Group(group) => collect(group.stream(), text),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

fn check(source: &str, expected: Expect) {
    expected.assert_eq(&faults(source));
}

/// A model whose deployments are `text`; the config does not exist, which the last line says.
fn deployments(text: &str) -> String {
    format!("mod m {{ model: config \"no.json\", chip: SN50, deployments: {{\n{text}\n}} }}")
}

#[test]
fn nothing_is_no_model() {
    check(
        "",
        expect![[r#"
        0:0-0 LOGOS-REQ-01: no model is written here
          help: write `pub mod name { model: config "models/NAME/config.json", … }`
    "#]],
    );
    check(
        "pub fn f() {}",
        expect![[r#"
            1:4-6 LOGOS-REQ-01: expected `mod`, found `fn`
              help: write `pub mod name { model: config "models/NAME/config.json", … }`
        "#]],
    );
    check(
        "pub mod fn {}",
        expect![[r#"
            1:8-10 LOGOS-REQ-01: `fn` cannot name a module
              help: write letters, digits and underscores, as in `qwen35`; no keyword
        "#]],
    );
    check(
        "pub mod m; mod n {}",
        expect![[r#"
            1:9-10 LOGOS-REQ-01: expected `{` after `mod m`
              help: write `pub mod name { model: config "models/NAME/config.json", … }`
        "#]],
    );
}

#[test]
fn keys_of_a_model() {
    check(
        "mod m {}",
        expect![[r#"
        1:4-5 LOGOS-REQ-01: `model` is missing
          help: write `model: config "models/NAME/config.json"`
        1:4-5 LOGOS-REQ-01: `chip` is missing
          help: write `chip: SN50`, or `chip: file "chips/NAME.toml"`
        1:4-5 LOGOS-REQ-01: `deployments` is missing
          help: write `deployments: { DECODE: decode { tp: 8, ctx: 8_192 } }`
    "#]],
    );
    check(
        "mod m {\n modle: config \"no.json\",\n chip = SN50,\n chip: SN40L,\n colour: 3,\n deployments: {},\n}",
        expect![[r#"
            2:1-6 LOGOS-REQ-02: unknown key `modle`
              help: did you mean `model`?
            3:6-7 LOGOS-REQ-01: expected `:` after `chip`, found `=`
            4:1-5 LOGOS-REQ-01: `chip` is given twice
              help: leave one of the two out
            5:1-7 LOGOS-REQ-02: unknown key `colour`
              help: known: `model`, `chip`, `weights`, `vocab`, `deployments`, `reports`
            6:14-15 LOGOS-REQ-01: there is no deployment
              help: write `DECODE: decode { tp: 8, ctx: 8_192 }` between the braces
        "#]],
    );
    check(
        "mod m { model: \"no.json\", chip: \"SN50\", weights: q8, deployments: [] }",
        expect![[r#"
            1:15-24 LOGOS-REQ-01: expected `config`, found `"no.json"`
              help: write `config "models/NAME/config.json"`
            1:32-38 LOGOS-REQ-01: the chip is a name, found `"SN50"`
              help: write `chip: SN50`
            1:49-51 LOGOS-REQ-02: unknown storage of weights `q8`
              help: known: `config`, `q8_0`, `checkpoint`
            1:66-67 LOGOS-REQ-01: expected `{` after `deployments:`, found `[`
              help: write `deployments: { DECODE: decode { tp: 8, ctx: 8_192 } }`
            1:15-24 LOGOS-REQ-03: there is no file `no.json`
              help: the path is relative to the folder of this crate's Cargo.toml
        "#]],
    );
    check(
        "mod m { model: confg \"no.json\" chip: 50, weights: 8, deployments: { } }",
        expect![[r#"
            1:15-20 LOGOS-REQ-01: expected `config`, found `confg`
              help: write `config "models/NAME/config.json"`
            1:31-35 LOGOS-REQ-01: a comma is missing before `chip`
            1:37-39 LOGOS-REQ-01: the chip is a name, found `50`
              help: write `chip: SN50`, or `chip: file "chips/NAME.toml"`
            1:50-51 LOGOS-REQ-01: the weights' storage is a name, found `8`
              help: write `weights: q8_0`, or leave it out for the config's own dtype
            1:66-67 LOGOS-REQ-01: there is no deployment
              help: write `DECODE: decode { tp: 8, ctx: 8_192 }` between the braces
            1:21-30 LOGOS-REQ-03: there is no file `no.json`
              help: the path is relative to the folder of this crate's Cargo.toml
        "#]],
    );
    check(
        "mod m { model: config no, #[x] chip: SN50; 7, deployments: { A } }",
        expect![[r#"
            1:22-24 LOGOS-REQ-01: the config's path is a string, found `no`
              help: write `config "models/NAME/config.json"`
            1:26-27 LOGOS-REQ-01: `chip` takes no attribute or documentation
            1:41-42 LOGOS-REQ-01: expected a comma, found `;`
            1:43-44 LOGOS-REQ-01: expected a key, found `7`
            1:63-64 LOGOS-REQ-01: expected `:` after `A`, found nothing
        "#]],
    );
}

#[test]
fn sizes_are_whole_numbers_written_out() {
    check(
        &deployments(
            "A: decode { tp: -8, ctx: 8.0, batch: \"4\" },\n\
             B: decode { tp: TP, ctx: 4_294_967_296, batch: 1 + 1 },\n\
             C: decode { tp: , ctx: true, batch },\n\
             D: decode { tp: 8u32, ctx: 0x1000, batch: 1f32 },\n\
             E: decode { tp: (8), ctx: 'c', batch: b\"1\" },\n\
             F: decode { ctx: 999999999999999999999999999999, tp: ! 8 },",
        ),
        expect![[r#"
            2:16-18 LOGOS-REQ-01: `tp` is negative: -8
              help: write a whole number: `tp: 8`
            2:25-28 LOGOS-REQ-01: `ctx` is a whole number, found the fraction `8.0`
              help: write a whole number: `ctx: 8_192`
            2:37-40 LOGOS-REQ-01: `batch` is a whole number, found the string "4"
              help: write `batch: 4`
            3:16-18 LOGOS-REQ-01: `tp` is a whole number, found the name `TP`
              help: write the number out: the macro runs before constants have values
            3:25-38 LOGOS-REQ-01: `ctx` is too large: 4_294_967_296
              help: the most that can be written is 4294967295
            3:47-52 LOGOS-REQ-01: `batch` is a whole number, found an expression
              help: write the number out: the macro evaluates nothing
            4:16-17 LOGOS-REQ-01: `tp` has no value
              help: write a whole number: `tp: 8`
            4:23-27 LOGOS-REQ-01: `ctx` is a whole number, found `true`
              help: write a whole number: `ctx: 8_192`
            4:35-36 LOGOS-REQ-01: expected `:` after `batch`, found nothing
            5:42-46 LOGOS-REQ-01: `batch` is a whole number, found `1f32`
              help: write a whole number: `batch: 8`
            6:16-19 LOGOS-REQ-01: `tp` is a whole number, found an expression
              help: write the number out: the macro evaluates nothing
            6:26-29 LOGOS-REQ-01: `ctx` is a whole number, found `'c'`
              help: write a whole number: `ctx: 8_192`
            6:38-42 LOGOS-REQ-01: `batch` is a whole number, found `b"1"`
              help: write a whole number: `batch: 8`
            7:17-47 LOGOS-REQ-01: `ctx` is too large: 999999999999999999999999999999
              help: the most that can be written is 4294967295
            7:53-54 LOGOS-REQ-01: `tp` is a whole number, found `!`
              help: write a whole number: `tp: 8`
            1:22-31 LOGOS-REQ-03: there is no file `no.json`
              help: the path is relative to the folder of this crate's Cargo.toml
        "#]],
    );
}

#[test]
fn keys_of_a_deployment() {
    check(
        &deployments(
            "A: decode { tp: 8 },\n\
             B: prefill { tp: 8, ctxt: 1, rows: 2 },\n\
             C: forward { rows: 1, rows: 2 },\n\
             D: dekode { tp: 8 },\n\
             E: decode,\n\
             A: forward { rows: 1 },\n\
             fn: forward { rows: 1 },\n\
             __X: forward { rows: 1 },\n\
             G: forward { rows: 1 } H: forward { rows: 1 }",
        ),
        expect![[r#"
            2:3-9 LOGOS-REQ-01: `ctx` is missing: decode needs it
              help: write `ctx: 8_192`
            3:20-24 LOGOS-REQ-02: unknown key of prefill `ctxt`
              help: did you mean `ctx`?
            3:29-33 LOGOS-REQ-02: `rows` is a key of forward, not of prefill
              help: prefill takes `tp`, `ctx`, `chunk`, `batch`, `experts`
            3:3-10 LOGOS-REQ-01: `chunk` is missing: prefill needs it
              help: write `chunk: 512`
            4:22-26 LOGOS-REQ-01: `rows` is given twice
              help: leave one of the two out
            5:3-9 LOGOS-REQ-02: unknown form of deployment `dekode`
              help: did you mean `decode`?
            6:9-10 LOGOS-REQ-01: expected `{` after `decode`, found `,`
              help: write its sizes in braces: `decode { ctx: 8_192 }`
            7:0-1 LOGOS-REQ-01: `A` is given twice
              help: give one of the two another name
            8:0-2 LOGOS-REQ-01: `fn` cannot name a constant
              help: write letters, digits and underscores, as in `DECODE_LONG`; no keyword
            9:0-3 LOGOS-REQ-01: `__X` is reserved: two underscores begin the macro's own names
              help: write a name that begins otherwise, as `DECODE_LONG` does
            10:23-24 LOGOS-REQ-01: a comma is missing before `H`
            1:22-31 LOGOS-REQ-03: there is no file `no.json`
              help: the path is relative to the folder of this crate's Cargo.toml
        "#]],
    );
}

#[test]
fn further_faults_are_counted() {
    let many: String = (0..40).map(|i| format!("A{i}: decode {{ tp: 8 }},\n")).collect();
    let text = faults(&deployments(&many));
    assert_eq!(text.lines().filter(|line| line.contains("is missing")).count(), 16);
    assert!(text.ends_with("18:5-11 LOGOS-REQ-01: and 25 more\n"), "{text}");
}

#[test]
fn literals_in_invisible_groups_are_seen_through() {
    let eight: TokenStream = "8".parse().expect("lexes");
    let eight = proc_macro2::Group::new(Delimiter::None, eight);
    let request = quote::quote! {
        [krate] mod m { model: config "no.json", chip: SN50, deployments: { A: decode { tp: #eight, ctx: #eight, batch: #eight } } }
    };
    let mut text = String::new();
    collect(expand_in(request, None), &mut text);
    assert!(text.contains("there is no file") && text.matches("LOGOS-").count() == 1, "{text}");
}

#[test]
fn a_module_that_is_refused_keeps_its_constants_and_attributes() {
    let text = expand("/// Docs.\n#[cfg(any())] pub(crate) mod m { model: config \"no.json\", chip: SN50, deployments: { A: decode { ctx: 1 }, B: x } }")
        .to_string();
    for part in [
        "# [doc = \" Docs.\"] # [cfg (any ())]",
        "pub (crate) mod m {",
        "pub const A : krate :: Deployment = __REFUSED ;",
        "pub const B : krate :: Deployment = __REFUSED ;",
        "const __REFUSED : krate :: Deployment = {",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(!text.contains("include_bytes"), "a file that cannot be read is not tracked:\n{text}");
}

#[test]
fn a_file_that_was_read_is_tracked_without_an_absolute_path() {
    let text = expand("mod m { model: config \"Cargo.toml\", chip: SN50, deployments: {} }").to_string();
    let tracked = ":: core :: include_bytes ! (:: core :: concat ! (:: core :: env ! (\"CARGO_MANIFEST_DIR\") , \"/\" , \"Cargo.toml\"))";
    assert!(text.contains(tracked), "{text}");
    assert!(!text.contains(env!("CARGO_MANIFEST_DIR")), "{text}");
}

#[test]
fn the_expansion_is_the_same_text_in_any_folder() {
    let config =
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/configs/smollm2-135m/config.json"))
            .expect("a fixture");
    let expand_at = |name: &str| {
        let root = std::env::temp_dir().join(format!("logos-macros-{}", std::process::id())).join(name);
        std::fs::create_dir_all(root.join("models")).expect("a folder of our own");
        std::fs::write(root.join("models/config.json"), &config).expect("written");
        let source = "[krate] pub mod m { model: config \"models/config.json\", chip: SN40L, deployments: { /// Mine.\n D: decode { tp: 1, ctx: 2_048 } } }";
        let text = expand_in(source.parse().expect("lexes"), Some(root.clone())).to_string();
        assert!(!text.contains(root.to_str().expect("text")), "{text}");
        std::fs::remove_dir_all(&root).expect("removed");
        text
    };
    let text = expand_at("here");
    assert!(text == expand_at("in/another/folder"));
    assert_eq!(text.matches("confirm (").count(), 13, "a constant a rule");
    assert_eq!(text.matches("confirm_fit (").count(), 1);
    for part in ["Mine.", "Decode of `m` on 1 x SN40L", "pub const D : krate :: Deployment = krate :: __deployment !"] {
        assert!(text.contains(part), "{part} is not in the expansion");
    }
}

/// The files of a request are read again by rustc, so that a change of any of them rebuilds, and none by an absolute path.
#[test]
fn a_chip_file_is_tracked_as_the_config_is() {
    let source = "mod m { model: config \"../tests/fixtures/configs/smollm2-135m/config.json\", \
        chip: file \"../tests/fixtures/chips/ex1.toml\", deployments: { D: decode { ctx: 64 } } }";
    let expansion = expand(source).to_string();
    for path in ["../tests/fixtures/configs/smollm2-135m/config.json", "../tests/fixtures/chips/ex1.toml"] {
        assert!(expansion.contains(&format!("\"/\" , \"{path}\"")), "{path} is not in\n{}", &expansion[..800]);
    }
    assert_eq!(expansion.matches("include_bytes").count(), 2);
    assert!(!expansion.contains(env!("CARGO_MANIFEST_DIR")));
    assert!(expansion.contains("the chip's memory is the figure of its file"), "not its vendor's");
}
