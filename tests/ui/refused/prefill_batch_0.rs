logos_rdu::logos_model! {
    pub mod model {
        model: config "models/qwen3.5-27b/config.json",
        chip: SN50,
        deployments: {
            PREFILL: prefill { tp: 8, ctx: 8_192, chunk: 128, batch: 0 },
        },
    }
}

fn main() {}
