//! F10 and F7: products.

use logos_bundle::check;

use super::*;
use crate::Code;

fn chip(name: &str) -> &'static Chip {
    crate::chip::lookup(name).unwrap()
}

fn fit(chip: &'static Chip, product: Gemm) -> GemmFit {
    super::super::gemm(chip, &product).unwrap_or_else(|refusals| panic!("{refusals:?}")).body
}

#[test]
fn the_default_workload_is_eight_by_eight_tiles_over_four() {
    for chip in chip::NAMES.map(|name| chip::lookup(name).unwrap()) {
        let product = Gemm::of_tiles(chip);
        let document = super::super::gemm(chip, &product).unwrap();
        every_figure_is_traced(&document.to_value(), &Value::Null);
        let body = &document.body;
        let Tile { rows, cols, k } = Tile::of(chip);
        assert_eq!((product.m, product.n, product.k), (8 * rows, 8 * cols, 4 * k));
        let tiles = &body.workload.tiles;
        assert_eq!((tiles.rows_t, tiles.cols_t, tiles.k_tiles), (8, 8, 4));
        let (m, n, k) = (u64::from(product.m), u64::from(product.n), u64::from(product.k));
        assert_eq!(body.workload.macs, m * n * k);
        let bytes: Vec<u64> = body.arithmetic.operands.iter().map(|operand| operand.bytes).collect();
        assert_eq!(bytes, [2 * m * k, k * n / 32 * 34, 2 * m * n]);
        assert!(body.certificate.rechecked && body.certificate.rules.iter().all(|rule| rule.holds));
        assert!(body.residency.sites_used <= body.residency.sites_available);
        assert!(text_of(&document.provenance.trace, "/workload/macs").contains("m times n times k"));
    }
}

#[test]
fn any_size_and_precision_is_certified() {
    for &precision in Gemm::PRECISIONS {
        for (m, n, k) in [(1, 1, 32), (1, 4096, 4096), (130, 3, 33 * 32), (4096, 128_256, 64), (7, 65_536, 14_336)] {
            let body = fit(chip("SN40L"), Gemm { m, n, k, precision });
            assert!(body.certificate.rechecked, "{m} {n} {k} {precision}");
            assert_eq!(body.workload.source.matches("matmul").count(), 1);
        }
    }
}

/// The bytes of a weight, and what the chip's vendor says of its format.
#[test]
fn a_weight_in_blocks_has_its_scales_bytes() {
    // 300 by 200 elements have 3 by 2 blocks of 128 by 128; 320 have ten blocks of 32 a column.
    for (name, precision, k, bytes, unwitnessed) in [
        ("SN50", Storage::F8E4M3, 300, 300 * 200 + 4 * 3 * 2, false),
        ("SN40L", Storage::F8E4M3, 300, 300 * 200 + 4 * 3 * 2, true),
        ("SN50", Storage::Mxfp4, 320, 200 * 10 * 17, true),
        ("SN40L", Storage::Q8_0, 320, 200 * 10 * 34, false),
    ] {
        let body = fit(chip(name), Gemm { m: 5, n: 200, k, precision });
        assert_eq!(body.arithmetic.operands[1].bytes, bytes, "{name} {precision}");
        assert!(body.workload.source.contains(&format!("{k} by 200 weight of Real, stored {precision}")));
        assert_eq!(
            body.gated.iter().any(|what| what.contains("its vendor names no such format")),
            unwitnessed,
            "{name}"
        );
    }
}

#[test]
fn the_terms_of_an_interval_are_the_certificates() {
    let body = fit(chip("SN50"), Gemm { m: 512, n: 5120, k: 5120, precision: Storage::Bf16 });
    let view = &body.ii_report;
    assert_eq!(view.pipeline_ii, view.sections.iter().map(|section| section.interval_cycles).sum::<u64>());
    for stage in &view.stages {
        let most = stage.resource_ii.max(stage.recurrence_ii).max(stage.memory_ii).max(1);
        if stage.name.starts_with("load") {
            assert!(stage.ii >= most, "{stage:?}");
        } else {
            assert_eq!(stage.ii, most, "{stage:?}");
        }
    }
    for edge in &view.credit_depths {
        assert!(u64::from(edge.depth) >= edge.n_buffer_depth, "{edge:?}");
        assert!(edge.forward_cycles > edge.hops && edge.backward_cycles > edge.hops, "{edge:?}");
    }
    let bytes: u64 = view.buffer_depths.iter().map(|buffer| buffer.bytes).sum();
    assert_eq!(bytes, body.residency.buffer_bytes_on_mesh);
}

#[test]
fn impossible_products_are_refused_with_the_numbers() {
    let refuse = |m, n, k, precision| {
        let refusals = super::super::gemm(chip("SN50"), &Gemm { m, n, k, precision }).unwrap_err();
        let texts: Vec<String> = refusals.iter().map(ToString::to_string).collect();
        (refusals[0].code, texts.join("\n"))
    };
    let (code, text) = refuse(0, 0, 33, Storage::Q8_0);
    assert_eq!(code, Code::RequestForm);
    for part in ["`m` is 0", "`n` is 0", "`k` is 33", "64 for instance"] {
        assert!(text.contains(part), "{text}");
    }
    let (code, text) = refuse(1, 1 << 30, 1 << 30, Storage::F32);
    assert_eq!((code, text.contains("does not fit the HBM")), (Code::FitMemory, true), "{text}");
    assert_eq!(refuse(1, u32::MAX, 32, Storage::Bf16).0, Code::RequestForm);
    // The last multiple of 32 that a size may be is the longest axis itself: no larger one is advised.
    let (_, text) = refuse(1, 1, (1 << 30) + 1, Storage::Mxfp4);
    assert!(text.contains("mxfp4 has blocks of 32") && !text.contains("for instance"), "{text}");
    let (code, text) = refuse(1, 1, 32, Storage::I32);
    assert_eq!(code, Code::RequestForm);
    assert!(text.contains("`q8_0`, `f8_e4m3`, `mxfp4`, `bf16`, `f16`, `f32`"), "{text}");
}

#[test]
fn a_certificate_is_checked_as_the_document_is_made() {
    let certified = Gemm::of_tiles(chip("SN50")).certify(chip("SN50")).unwrap();
    assert!(check::all(&certified.words).hold());
}
