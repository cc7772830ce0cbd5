//! The page of a tiny model byte for byte; of all pages, that they are well-formed, fetch nothing, and say what they are.

use std::path::PathBuf;
use std::{env, fs};

use crate::cli::run;

fn shared(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests").join(path)
}

/// Runs `cargo logos report` on a fixture's config; status, output, errors.
fn report(config: &str, rest: &[&str]) -> (u8, String, String) {
    let config = shared("fixtures").join(config).join("config.json");
    let words = ["cargo-logos", "logos", "report"].into_iter().map(Into::into);
    let words = words.chain([config.into_os_string()]).chain(rest.iter().map(Into::into));
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = run(words, &mut out, &mut err);
    (status, String::from_utf8(out).expect("text"), String::from_utf8(err).expect("text"))
}

fn page(config: &str, rest: &[&str]) -> String {
    let (status, out, err) = report(config, rest);
    assert_eq!((status, err.as_str()), (0, ""), "{config} {rest:?}");
    out
}

/// Holds a page to what every page is: each element closed in order, no script, no address, nothing fetched.
fn hold(page: &str) {
    let body = page.strip_prefix("<!DOCTYPE html>\n").expect("a document type");
    let mut open: Vec<&str> = Vec::new();
    let mut rest = body;
    while let Some(at) = rest.find('<') {
        let tag = &rest[at + 1..];
        let end = tag.find('>').expect("a tag ends");
        let (inside, after) = (&tag[..end], &tag[end + 1..]);
        assert!(!inside.contains('<'), "`<` within a tag: {inside}");
        assert_eq!(inside.matches('"').count() % 2, 0, "{inside}");
        rest = after;
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closed out of order, before {:.80}", after);
        } else if !inside.ends_with('/') {
            open.push(inside.split_whitespace().next().expect("a name"));
        }
    }
    assert!(open.is_empty(), "never closed: {open:?}");
    let lower = page.to_ascii_lowercase();
    for never in
        ["http", "<script", "javascript:", "<link", "<img", "<iframe", "@import", " src=", " href=", " onload="]
    {
        assert!(!lower.contains(never), "{never} is in the page");
    }
    // Patterns of the page itself.
    assert!(lower.match_indices("url(").all(|(at, _)| lower[at..].starts_with("url(#")));
    for part in [
        "Nothing here ran on an RDU, and no speed is claimed.",
        "never a time",
        "prefers-color-scheme:dark",
        "@media print",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let drawings = page.matches("<svg ").count();
    let told = page.matches("role=\"img\" aria-label=").count() + page.matches("aria-hidden=\"true\"").count();
    assert_eq!(drawings, told, "every drawing has a text or is decoration");
}

/// F12: the same request, the same bytes.
#[test]
fn the_page_of_a_tiny_model_is_reproduced() {
    let now = page("tiny/qwen3_5", &["--chip", "SN50", "--tp", "1", "--ctx", "32", "--batch", "2", "--name", "tiny"]);
    hold(&now);
    let file = shared("golden/tiny-qwen3_5.report.html");
    let kept = fs::read_to_string(&file).unwrap_or_default();
    if kept != now && env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&file, &now).expect("a golden that can be written");
        return;
    }
    let at = kept.lines().zip(now.lines()).take_while(|(kept, now)| kept == now).count();
    let line = |text: &str| text.lines().nth(at).unwrap_or("(its end)").chars().take(400).collect::<String>();
    assert!(
        kept == now,
        "UPDATE_EXPECT=1 writes it anew; line {}:\n  kept: {}\n  now:  {}",
        at + 1,
        line(&kept),
        line(&now)
    );
}

#[test]
fn pages_of_every_form_are_well_formed() {
    for (config, rest, parts) in [
        (
            "configs/qwen3.5-27b",
            &["--chip", "SN50", "--tp", "8", "--mode", "prefill", "--ctx", "8192", "--chunk", "512"][..],
            &["prefill of 512 tokens a step, up to 8,192 positions", "section 2 of 3", "id=\"roofline\""][..],
        ),
        (
            "tiny/qwen3_5",
            &["--chip", "SN50", "--tp", "1", "--mode", "prefill", "--ctx", "64", "--chunk", "8", "--batch", "3"],
            &["prefill of 8 tokens of each of 3 sequences a step, up to 64 positions"],
        ),
        (
            "configs/gemma-3-27b-it",
            &["--chip", "SN50", "--tp", "8", "--ctx", "4096"],
            &["title=\"layer 61: ", "HBM turns"],
        ),
        (
            "configs/deepseek-v3",
            &["--chip", "SN50", "--tp", "4", "--ctx", "4096"],
            &["DDR turns", "experts 304.50 GiB"],
        ),
        ("tiny/llama", &["--chip", "SN10", "--tp", "1", "--mode", "forward", "--rows", "8"], &["forward of 8 tokens"]),
        // What does not fit is no error: it is what was asked.
        ("configs/llama-3.1-70b", &["--chip", "SN50", "--tp", "1"], &["✗ does not fit", "lacking", "id=\"roofline\""]),
    ] {
        let page = page(config, rest);
        hold(&page);
        for part in parts {
            // Figures are elements of their own: as a reader reads, without tags.
            assert!(page.contains(part) || plain(&page).contains(part), "{config}: {part}");
        }
        let certified = page.contains("every program is placed, scheduled and certified");
        assert_eq!(page.contains("id=\"programs\""), certified, "{config}");
        assert_eq!(certified, config != "configs/llama-3.1-70b");
    }
}

fn plain(page: &str) -> String {
    let texts = page.split('<').filter_map(|piece| piece.split_once('>').map(|(_, text)| text));
    texts.collect()
}

#[test]
fn a_hostile_name_is_text() {
    let name = "</title><script>alert(1)</script>\" onload=\"x' \u{202e}&amp;";
    let page = page("tiny/llama", &["--chip", "SN50", "--tp", "1", "--ctx", "16", "--name", name]);
    let shown = "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot; onload=&quot;x&#39; \u{fffd}&amp;amp;";
    assert!(page.contains(&format!("<h1>{shown}</h1>")));
    assert!(!page.contains("<script") && !page.contains('\u{202e}') && !page.contains("onload=\"x"));
    hold(&page.replace(" onload=", " "));
}

#[test]
fn sizes_of_another_form_are_refused() {
    for (rest, part) in [
        (&["--chip", "SN50", "--chunk", "8"][..], "decode takes no --chunk"),
        (&["--chip", "SN50", "--mode", "prefill", "--ctx", "16"], "prefill needs --chunk"),
        (&["--chip", "SN50", "--mode", "prefill", "--ctx", "16", "--chunk", "0"], "--chunk"),
        (&["--chip", "SN50", "--mode", "prefill", "--ctx", "16", "--chunk", "8", "--batch", "0"], "--batch"),
        (&["--chip", "SN50", "--mode", "forward", "--rows", "16", "--batch", "2"], "forward takes no --batch"),
    ] {
        let (status, _, err) = report("tiny/llama", rest);
        assert!(status == 1 && err.contains(part), "{rest:?}: {err}");
    }
}
