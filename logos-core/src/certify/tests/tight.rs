//! How near their bounds the programs of released models come: every config, on two chips, in decodes of few and many sequences and in
//! prefills.

use std::fmt::Write as _;
use std::path::PathBuf;

use expect_test::expect;

use crate::chip::{self, Chip};
use crate::compile::lay;
use crate::fit::Need;
use crate::request::{self, DeploymentRequest, Form, Weights};
use crate::spec::ModelSpec;
use crate::{kinds, shard};

/// The width that holds a deployment: the least from eight chips on, or the widest below.
fn width(spec: &ModelSpec, chip: &Chip, form: Form) -> Option<u32> {
    let holds = |&tp: &u32| {
        let deployment = DeploymentRequest::new("D", form, Some(tp));
        request::check_deployment(spec, chip, &deployment).is_empty()
            && Need::of(spec, chip, &deployment, Weights::Config)
                .is_ok_and(|need| need.excess() == 0 && need.facts(0, 0).is_ok())
    };
    let (below, from): (Vec<u32>, Vec<u32>) = shard::widths(spec, 64).into_iter().partition(|&tp| tp < 8);
    from.into_iter().find(holds).or_else(|| below.into_iter().rev().find(holds))
}

/// Programs of one section in the deployment, and a line for each that is not tight.
fn sweep(model: &str, spec: &ModelSpec, chip: &Chip, form: Form, table: &mut String) -> u32 {
    let Some(tp) = width(spec, chip, form) else { return 0 };
    let kinds = kinds::programs(spec, form, tp, Weights::Config).unwrap();
    let Ok(layout) = lay(spec, chip, form, &kinds, 0) else { return 0 };
    let mut programs = 0;
    for (kind, spatial) in kinds.iter().zip(&layout.laid.spatial) {
        let [section] = &spatial.sections[..] else { continue };
        programs += 1;
        let over = section.interval - section.bound;
        if 256 * over > section.bound {
            let what = match form {
                Form::Decode { batch, .. } => format!("decode {batch}"),
                Form::Prefill { chunk, .. } => format!("prefill {chunk}"),
                Form::Forward { rows } => format!("forward {rows}"),
            };
            let binder = format!("{:?}", section.binder).to_lowercase();
            let (over, at) = (format!("{over} over {}", section.bound), format!("{} tp {tp}", chip.name));
            writeln!(table, "{model}, {at}, {what}, {}: {over}, {binder}", kind.name).unwrap();
        }
    }
    programs
}

#[test]
fn programs_of_one_section_come_within_a_256th_of_their_bound() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/configs");
    let mut models: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    models.sort();
    let (mut table, mut programs) = (String::new(), 0);
    for path in models.into_iter().filter(|path| path.is_dir()) {
        let spec = crate::config::read(&std::fs::read(path.join("config.json")).unwrap()).unwrap();
        let ctx = spec.max_context.min(8192);
        let decodes = [1, 8, 64, 256].map(|batch| Form::Decode { ctx, batch });
        let prefills = [128, 512].map(|chunk| Form::Prefill { ctx, chunk });
        for chip in ["SN40L", "SN50"].map(|name| chip::lookup(name).unwrap()) {
            for form in decodes.into_iter().chain(prefills) {
                programs += sweep(&path.file_name().unwrap().to_string_lossy(), &spec, chip, form, &mut table);
            }
        }
    }
    assert!(programs > 1000, "{programs}");
    expect![[r#"
        deepseek-r1, SN50 tp 32, decode 1, latent attention, experts: 870 over 68966, memory
        deepseek-r1, SN50 tp 32, decode 8, latent attention, experts: 1156 over 269596, memory
        deepseek-r1, SN50 tp 64, decode 64, latent attention: 7143 over 573327, memory
        deepseek-r1, SN50 tp 64, decode 64, latent attention, experts: 20660 over 937077, memory
        deepseek-v2-lite, SN40L tp 8, decode 1, latent attention, experts: 648 over 30256, memory
        deepseek-v2-lite, SN40L tp 8, decode 8, latent attention, experts: 996 over 168462, memory
        deepseek-v2-lite, SN40L tp 8, decode 64, latent attention: 2703 over 556359, memory
        deepseek-v2-lite, SN40L tp 8, decode 64, latent attention, experts: 14591 over 735283, memory
        deepseek-v2-lite, SN40L tp 16, decode 256, latent attention: 55609 over 2156311, memory
        deepseek-v2-lite, SN40L tp 16, decode 256, latent attention, experts: 44182 over 2503470, memory
        deepseek-v2-lite, SN50 tp 8, decode 1, latent attention, experts: 784 over 29782, memory
        deepseek-v2-lite, SN50 tp 8, decode 8, latent attention, experts: 791 over 165827, memory
        deepseek-v3, SN50 tp 32, decode 1, latent attention, experts: 870 over 68966, memory
        deepseek-v3, SN50 tp 32, decode 8, latent attention, experts: 1156 over 269596, memory
        deepseek-v3, SN50 tp 64, decode 64, latent attention: 7143 over 573327, memory
        deepseek-v3, SN50 tp 64, decode 64, latent attention, experts: 20660 over 937077, memory
        glm-4.5, SN40L tp 16, decode 1, attention, experts: 586 over 42191, memory
        glm-4.5, SN40L tp 16, decode 8, attention, experts: 927 over 222274, memory
        glm-4.5, SN50 tp 16, decode 1, attention, experts: 589 over 41531, memory
        glm-4.5, SN50 tp 32, decode 64, attention, experts: 9621 over 482740, memory
        glm-4.5-air, SN40L tp 8, decode 1, attention, experts: 937 over 61441, memory
        glm-4.5-air, SN40L tp 8, decode 8, attention, experts: 2003 over 309926, memory
        glm-4.5-air, SN40L tp 8, decode 64, attention, experts: 16266 over 790164, memory
        glm-4.5-air, SN40L tp 16, decode 256, attention, experts: 49737 over 1395227, memory
        glm-4.5-air, SN50 tp 8, decode 1, attention, experts: 1031 over 60480, memory
        glm-4.5-air, SN50 tp 8, decode 8, attention, experts: 1377 over 305078, memory
        glm-4.5-air, SN50 tp 8, decode 64, attention, experts: 4550 over 777803, memory
        glm-4.5-air, SN50 tp 16, decode 256, attention, experts: 37995 over 1373400, memory
        gpt-oss-20b, SN40L tp 8, decode 1, attention, window 128, experts: 1406 over 28239, memory
        gpt-oss-20b, SN40L tp 8, decode 1, attention, experts: 1359 over 28239, memory
        gpt-oss-20b, SN40L tp 8, decode 8, attention, window 128, experts: 2621 over 183010, memory
        gpt-oss-20b, SN40L tp 8, decode 8, attention, experts: 16573 over 183010, memory
        gpt-oss-20b, SN40L tp 8, decode 64, attention, window 128, experts: 5687 over 212805, memory
        gpt-oss-20b, SN40L tp 8, decode 64, attention, experts: 14340 over 317037, memory
        gpt-oss-20b, SN40L tp 8, decode 256, attention, window 128, experts: 26055 over 390631, memory
        gpt-oss-20b, SN40L tp 8, decode 256, attention, experts: 24897 over 807560, memory
        gpt-oss-20b, SN50 tp 8, decode 1, attention, window 128, experts: 1408 over 27797, memory
        gpt-oss-20b, SN50 tp 8, decode 1, attention, experts: 1370 over 27797, memory
        gpt-oss-20b, SN50 tp 8, decode 8, attention, window 128, experts: 1548 over 180147, memory
        gpt-oss-20b, SN50 tp 8, decode 8, attention, experts: 14710 over 180147, memory
        gpt-oss-20b, SN50 tp 8, decode 64, attention, window 128, experts: 30779 over 180147, memory
        gpt-oss-20b, SN50 tp 8, decode 64, attention, experts: 3151 over 312077, memory
        gpt-oss-20b, SN50 tp 8, decode 256, attention, window 128, experts: 10364 over 384520, memory
        gpt-oss-20b, SN50 tp 8, decode 256, attention, experts: 9432 over 794926, memory
        kimi-k2-instruct, SN50 tp 64, decode 1, latent attention, experts: 621 over 52706, memory
        kimi-k2-instruct, SN50 tp 64, decode 8, latent attention, experts: 891 over 186003, memory
        llama-3.2-1b-instruct, SN50 tp 8, decode 64, attention: 579 over 145221, memory
        llama-4-scout-17b-16e-instruct, SN40L tp 8, decode 1, attention, chunks of 8192, experts: 1890 over 69962, memory
        llama-4-scout-17b-16e-instruct, SN40L tp 8, decode 1, attention, experts: 1891 over 69962, memory
        llama-4-scout-17b-16e-instruct, SN40L tp 8, decode 8, attention, chunks of 8192, experts: 2800 over 298904, memory
        llama-4-scout-17b-16e-instruct, SN40L tp 8, decode 8, attention, experts: 2252 over 265398, memory
        llama-4-scout-17b-16e-instruct, SN40L tp 8, decode 64, attention, chunks of 8192, experts: 19540 over 756807, memory
        llama-4-scout-17b-16e-instruct, SN40L tp 8, decode 64, attention, experts: 19541 over 756807, memory
        llama-4-scout-17b-16e-instruct, SN50 tp 8, decode 1, attention, chunks of 8192, experts: 1910 over 68868, memory
        llama-4-scout-17b-16e-instruct, SN50 tp 8, decode 1, attention, experts: 1913 over 68868, memory
        llama-4-scout-17b-16e-instruct, SN50 tp 8, decode 8, attention, chunks of 8192, experts: 2022 over 294228, memory
        llama-4-scout-17b-16e-instruct, SN50 tp 8, decode 8, attention, experts: 1594 over 277737, memory
        llama-4-scout-17b-16e-instruct, SN50 tp 8, decode 64, attention, chunks of 8192, experts: 7679 over 744967, memory
        llama-4-scout-17b-16e-instruct, SN50 tp 8, decode 64, attention, experts: 7677 over 744967, memory
        minimax-m2.7, SN40L tp 8, decode 1, attention, experts: 390 over 36309, memory
        minimax-m2.7, SN40L tp 16, decode 64, attention, experts: 7347 over 677085, memory
        minimax-m2.7, SN50 tp 8, decode 1, attention, experts: 391 over 35741, memory
        minimax-m2.7, SN50 tp 16, decode 64, attention, experts: 6881 over 666493, memory
        mixtral-8x22b-v0.1, SN40L tp 8, decode 1, attention, experts: 1562 over 153666, memory
        mixtral-8x22b-v0.1, SN40L tp 8, decode 64, attention, experts: 6271 over 823758, memory
        mixtral-8x22b-v0.1, SN50 tp 8, decode 1, attention, experts: 1566 over 151262, memory
        mixtral-8x22b-v0.1, SN50 tp 8, decode 64, attention, experts: 3499 over 810872, memory
        mixtral-8x7b-v0.1, SN40L tp 8, decode 1, attention, experts: 1476 over 87554, memory
        mixtral-8x7b-v0.1, SN40L tp 8, decode 8, attention, experts: 1744 over 355583, memory
        mixtral-8x7b-v0.1, SN40L tp 8, decode 64, attention, experts: 6577 over 590131, memory
        mixtral-8x7b-v0.1, SN40L tp 8, decode 256, attention, experts: 31476 over 1706990, memory
        mixtral-8x7b-v0.1, SN50 tp 8, decode 1, attention, experts: 1492 over 86184, memory
        mixtral-8x7b-v0.1, SN50 tp 8, decode 8, attention, experts: 1718 over 350020, memory
        mixtral-8x7b-v0.1, SN50 tp 8, decode 64, attention, experts: 2936 over 580899, memory
        mixtral-8x7b-v0.1, SN50 tp 8, decode 256, attention, experts: 9916 over 1680287, memory
        qwen3-235b-a22b, SN40L tp 8, decode 1, attention, experts: 846 over 51201, memory
        qwen3-235b-a22b, SN40L tp 8, decode 8, attention, experts: 1292 over 319230, memory
        qwen3-235b-a22b, SN40L tp 16, decode 64, attention, experts: 7712 over 546333, memory
        qwen3-235b-a22b, SN50 tp 8, decode 1, attention, experts: 858 over 52461, memory
        qwen3-235b-a22b, SN50 tp 16, decode 64, attention, experts: 8985 over 537786, memory
        qwen3-30b-a3b, SN40L tp 8, decode 1, attention, experts: 1440 over 13503, memory
        qwen3-30b-a3b, SN40L tp 8, decode 8, attention, experts: 1398 over 105640, memory
        qwen3-30b-a3b, SN40L tp 8, decode 64, attention, experts: 8071 over 407194, memory
        qwen3-30b-a3b, SN40L tp 8, decode 256, attention, experts: 33071 over 1244861, memory
        qwen3-30b-a3b, SN50 tp 8, decode 1, attention, experts: 1632 over 13291, memory
        qwen3-30b-a3b, SN50 tp 8, decode 8, attention, experts: 1271 over 103987, memory
        qwen3-30b-a3b, SN50 tp 8, decode 64, attention, experts: 2953 over 400824, memory
        qwen3-30b-a3b, SN50 tp 8, decode 256, attention, experts: 8494 over 1225387, memory
        qwen3-next-80b-a3b-thinking, SN40L tp 8, decode 1, gated deltanet, experts: 318 over 17032, memory
        qwen3-next-80b-a3b-thinking, SN40L tp 8, decode 1, attention, experts: 1662 over 16997, memory
        qwen3-next-80b-a3b-thinking, SN40L tp 8, decode 8, gated deltanet, experts: 412 over 65891, memory
        qwen3-next-80b-a3b-thinking, SN40L tp 8, decode 8, attention, experts: 611 over 132869, memory
        qwen3-next-80b-a3b-thinking, SN40L tp 8, decode 64, gated deltanet, experts: 11656 over 397200, memory
        qwen3-next-80b-a3b-thinking, SN40L tp 8, decode 64, attention, experts: 11046 over 903493, memory
        qwen3-next-80b-a3b-thinking, SN40L tp 8, decode 256, gated deltanet, experts: 53329 over 514461, memory
        qwen3-next-80b-a3b-thinking, SN40L tp 8, decode 256, attention, experts: 47544 over 2539739, memory
        qwen3-next-80b-a3b-thinking, SN50 tp 8, decode 1, gated deltanet, experts: 321 over 16766, memory
        qwen3-next-80b-a3b-thinking, SN50 tp 8, decode 1, attention, experts: 1947 over 16731, memory
        qwen3-next-80b-a3b-thinking, SN50 tp 8, decode 8, gated deltanet, experts: 416 over 64860, memory
        qwen3-next-80b-a3b-thinking, SN50 tp 8, decode 8, attention, experts: 569 over 130790, memory
        qwen3-next-80b-a3b-thinking, SN50 tp 8, decode 64, gated deltanet, experts: 2955 over 390987, memory
        qwen3-next-80b-a3b-thinking, SN50 tp 8, decode 64, attention, experts: 3659 over 889359, memory
        qwen3-next-80b-a3b-thinking, SN50 tp 8, decode 256, gated deltanet, experts: 19461 over 506413, memory
        qwen3-next-80b-a3b-thinking, SN50 tp 8, decode 256, attention, experts: 18073 over 2500009, memory
        qwen3.5-35b-a3b, SN40L tp 8, decode 1, gated deltanet, experts: 322 over 14706, memory
        qwen3.5-35b-a3b, SN40L tp 8, decode 1, attention, experts: 2477 over 14670, memory
        qwen3.5-35b-a3b, SN40L tp 8, decode 8, gated deltanet, experts: 739 over 53793, memory
        qwen3.5-35b-a3b, SN40L tp 8, decode 8, attention, experts: 35143 over 87264, memory
        qwen3.5-35b-a3b, SN40L tp 8, decode 64, gated deltanet, experts: 10833 over 217586, memory
        qwen3.5-35b-a3b, SN40L tp 8, decode 64, attention, experts: 13009 over 723879, memory
        qwen3.5-35b-a3b, SN40L tp 8, decode 256, gated deltanet, experts: 48402 over 329263, memory
        qwen3.5-35b-a3b, SN40L tp 8, decode 256, attention, experts: 42854 over 2354541, memory
        qwen3.5-35b-a3b, SN50 tp 8, decode 1, gated deltanet, experts: 340 over 14476, memory
        qwen3.5-35b-a3b, SN50 tp 8, decode 1, attention, experts: 2722 over 14440, memory
        qwen3.5-35b-a3b, SN50 tp 8, decode 8, gated deltanet, experts: 420 over 52951, memory
        qwen3.5-35b-a3b, SN50 tp 8, decode 8, attention, experts: 684 over 118881, memory
        qwen3.5-35b-a3b, SN50 tp 8, decode 64, gated deltanet, experts: 3285 over 214182, memory
        qwen3.5-35b-a3b, SN50 tp 8, decode 64, attention, experts: 3783 over 712555, memory
        qwen3.5-35b-a3b, SN50 tp 8, decode 256, gated deltanet, experts: 17641 over 324112, memory
        qwen3.5-35b-a3b, SN50 tp 8, decode 256, attention, experts: 16650 over 2317708, memory
        qwen3.6-35b-a3b, SN40L tp 8, decode 1, gated deltanet, experts: 322 over 14706, memory
        qwen3.6-35b-a3b, SN40L tp 8, decode 1, attention, experts: 2477 over 14670, memory
        qwen3.6-35b-a3b, SN40L tp 8, decode 8, gated deltanet, experts: 739 over 53793, memory
        qwen3.6-35b-a3b, SN40L tp 8, decode 8, attention, experts: 35143 over 87264, memory
        qwen3.6-35b-a3b, SN40L tp 8, decode 64, gated deltanet, experts: 10833 over 217586, memory
        qwen3.6-35b-a3b, SN40L tp 8, decode 64, attention, experts: 13009 over 723879, memory
        qwen3.6-35b-a3b, SN40L tp 8, decode 256, gated deltanet, experts: 48402 over 329263, memory
        qwen3.6-35b-a3b, SN40L tp 8, decode 256, attention, experts: 42854 over 2354541, memory
        qwen3.6-35b-a3b, SN50 tp 8, decode 1, gated deltanet, experts: 340 over 14476, memory
        qwen3.6-35b-a3b, SN50 tp 8, decode 1, attention, experts: 2722 over 14440, memory
        qwen3.6-35b-a3b, SN50 tp 8, decode 8, gated deltanet, experts: 420 over 52951, memory
        qwen3.6-35b-a3b, SN50 tp 8, decode 8, attention, experts: 684 over 118881, memory
        qwen3.6-35b-a3b, SN50 tp 8, decode 64, gated deltanet, experts: 3285 over 214182, memory
        qwen3.6-35b-a3b, SN50 tp 8, decode 64, attention, experts: 3783 over 712555, memory
        qwen3.6-35b-a3b, SN50 tp 8, decode 256, gated deltanet, experts: 17641 over 324112, memory
        qwen3.6-35b-a3b, SN50 tp 8, decode 256, attention, experts: 16650 over 2317708, memory
    "#]].assert_eq(&table);
}
