logos_rdu::logos_model! {
    pub mod model {
        model: config "models/qwen3.5-27b/config.json",
        chip: SN50,
        deployments: {
            PREFILL: prefill { tp: 8, ctx: 262_144, chunk: 128, batch: 16 },
        },
    }
}

fn main() {}
