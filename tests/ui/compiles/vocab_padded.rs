// 100352 rows do not divide by 5; as 100480 they do, and each chip has 20096.
logos_rdu::logos_model! {
    pub mod model {
        model: config "models/phi-4/config.json",
        chip: SN50,
        vocab: padded,
        deployments: { DECODE: decode { tp: 5, ctx: 8_192 } },
    }
}

fn main() {
    let embedding = model::DECODE.bundle().programs().next().and_then(|program| program.bindings().nth(1));
    let embedding = embedding.expect("the embedding");
    assert_eq!(embedding.padding(), 128);
    assert_eq!((embedding.axis0(3).to_string(), embedding.zeros(3)), ("60288..80384".to_owned(), 0));
    assert_eq!((embedding.axis0(4).to_string(), embedding.zeros(4)), ("80384..100352".to_owned(), 128));
}
