logos_rdu::logos_model! {
    pub mod model {
        model: config "models/qwen3.5-27b/config.json",
        chip: SN50,
        vocab: paded,
        deployments: {
            DECODE: decode { tp: 8, ctx: 8_192, batch: 1 },
        },
    }
}

fn main() {}
