//! A vocabulary that no width divides, padded: the logits and tokens of one chip that holds it as it is.

use super::random::{Random, Tensors};
use super::*;
use crate::config;
use crate::spec::{Dtype, Weight};

/// 15 query heads on one KV head, 97 tokens: no width but 1 cuts it exactly.
const CONFIG: &[u8] = br#"{"model_type": "llama", "vocab_size": 97, "hidden_size": 60, "num_hidden_layers": 2,
    "num_attention_heads": 15, "num_key_value_heads": 1, "intermediate_size": 90, "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5, "hidden_act": "silu", "tie_word_embeddings": false, "torch_dtype": "float32",
    "rope_theta": 10000.0, "attention_bias": false, "mlp_bias": false, "head_dim": 4}"#;

/// Separate or tied, every logit far below the zero that padding has.
fn model(tied: bool) -> (ModelSpec, Tensors) {
    let mut spec = config::read(CONFIG).unwrap();
    assert_eq!(spec.dtype, Dtype::F32);
    if tied {
        spec.head.tied = true;
        spec.head.linear.weight = Weight::whole(spec.embedding.name.clone(), &spec.embedding.shape);
    }
    spec.head.linear.bias = Some(Weight::whole("lm_head.bias", &[spec.vocab]));
    let mut tensors = Tensors::new(&spec, &mut Random(97));
    tensors.shift("lm_head.bias", -100.0);
    (spec, tensors)
}

#[test]
fn widths_that_do_not_divide_the_vocabulary_give_one_chips_logits() {
    for tied in [false, true] {
        let (exact, tensors) = model(tied);
        let padded = ModelSpec { vocabulary: Vocabulary::Padded, ..exact.clone() };
        assert_eq!((shard::widths(&exact, 16), shard::widths(&padded, 16)), (vec![1], vec![1, 3, 5, 15]));
        let weights = Weights::Config;
        let one = Case { seed: 0, spec: &exact, tensors: &tensors, tp: 1, chip: "SN50", weights };
        // Over 15 chips, 13 hold nothing but padding.
        for tp in [1, 3, 5, 15] {
            let case = Case { spec: &padded, tp, ..one };
            for form in [Form::Decode { ctx: CTX, batch: 2 }, Form::Prefill { ctx: CTX, chunk: 7, batch: 1 }] {
                let (mut session, _) = one.both(form, Order::Schedule).unwrap();
                let (mut evaluated, mut executed) = case.both(form, Order::Schedule).unwrap();
                for step in 0..2 {
                    let count = if matches!(form, Form::Decode { .. }) { 2 } else { 7 };
                    let tokens: Vec<u32> = (0..count).map(|i| (13 * i + 96 * step) % 97).collect();
                    let expected = session.step(&tokens).unwrap();
                    assert!(expected.logits.data().iter().all(|&logit| logit < -50.0), "padding would win");
                    let found = executed.step(&tokens);
                    assert_eq!(found.as_ref().unwrap().tokens, expected.tokens, "{form:?} over {tp}");
                    case.same("padded", &expected, found).unwrap();
                    case.same("padded, evaluated", &expected, Ok(evaluated.step(&tokens).unwrap())).unwrap();
                }
                let beyond = vec![97; executed.seqs * executed.tokens];
                let error = executed.step(&beyond).unwrap_err();
                assert!(matches!(error, MachineError::Token { row: 0, token: 97, vocab: 97 }), "{error}");
                assert!(evaluated.step(&beyond).is_err());
            }
        }
    }
}
