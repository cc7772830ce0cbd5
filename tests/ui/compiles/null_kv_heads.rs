// `num_key_value_heads: null` is the reference implementation's way to say: as many as query heads.
logos_rdu::logos_model! {
    pub mod model {
        model: config "models/bad/null-kv-heads.json",
        chip: SN50,
        deployments: { DECODE: decode { tp: 1, ctx: 8_192 } },
    }
}

fn main() {
    let (layers, heads, columns, bytes) = (32, 32, 128, 2);
    assert_eq!(model::DECODE.fit().kv_bytes, 2 * layers * heads * columns * bytes * 8_192);
}
