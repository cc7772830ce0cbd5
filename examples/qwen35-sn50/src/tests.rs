//! What the constants hold, as a user of them would test it.

use logos_rdu::view::{Binding, Bundles, Program};

use crate::{DEPLOYMENTS, layer, overview, qwen35};

fn program_at(index: u32) -> Program<'static> {
    qwen35::DECODE.bundle().layer(index).and_then(|layer| layer.program()).unwrap()
}

fn binding(layer: u32, name: &str) -> Binding<'static> {
    program_at(layer).bindings().find(|binding| binding.name(layer) == name).unwrap()
}

fn runs(binding: &Binding<'_>, chip: u32) -> Vec<String> {
    binding.axis0(chip).map(|run| run.to_string()).collect()
}

/// Three of four layers are Gated DeltaNet's, the fourth is attention.
#[test]
fn two_kinds() {
    for layer in 0..64 {
        let kind = if layer % 4 == 3 { "attention" } else { "gated deltanet" };
        assert_eq!(program_at(layer).name(), kind);
    }
}

/// `q_proj` holds a head's 256 query rows, then its 256 gate rows; chip 3 of 8 has heads 9, 10 and 11 of 24.
#[test]
fn chip_3_loads_its_three_heads() {
    assert_eq!(runs(&binding(19, "Wq19"), 3), ["4608..4864", "5120..5376", "5632..5888"]);
    assert_eq!(runs(&binding(19, "Wg19"), 3), ["4864..5120", "5376..5632", "5888..6144"]);
    // Four KV heads over eight chips: chips 2 and 3 both hold the second.
    assert_eq!(runs(&binding(19, "Wk19"), 2), runs(&binding(19, "Wk19"), 3));
    assert_eq!(binding(19, "Wk19").tensor(19).unwrap(), "model.language_model.layers.19.self_attn.k_proj.weight");
}

#[test]
fn everything_prints_and_every_certificate_holds() {
    let mut out = Vec::new();
    assert!(overview::print(&mut out, &DEPLOYMENTS).unwrap());
    for index in [0, 17, 63] {
        assert!(layer::print(&mut out, &DEPLOYMENTS, index, 7).unwrap());
    }
    let text = String::from_utf8(out).unwrap();
    assert!(text.lines().all(|line| !line.ends_with(' ')), "trailing blanks");
}

/// The tables lie in the binary itself, where `cargo logos inspect` finds them; a scan of the whole file does as well.
#[cfg(target_os = "linux")]
#[test]
fn the_binary_holds_both_tables() {
    let binary = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let mut found: Vec<u64> = Bundles::scan(&binary).flatten().map(|bundle| bundle.schedule_digest()).collect();
    let mut expected = DEPLOYMENTS.map(|(_, deployment)| deployment.schedule_digest());
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}
