logos_rdu::logos_model! {
    pub mod model {
        model: config "models/qwen3.5-27b",
        chip: SN50,
        deployments: {
            DECODE: decode { ctx: 8_192 },
        },
    }
}

fn main() {}
