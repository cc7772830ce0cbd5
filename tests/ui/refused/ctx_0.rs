logos_rdu::logos_model! {
    pub mod model {
        model: config "models/qwen3.5-27b/config.json",
        chip: SN50,
        deployments: {
            DECODE: decode { tp: 8, ctx: 0, batch: 1 },
            PREFILL: prefill { tp: 8, ctx: 0, chunk: 512 },
        },
    }
}

fn main() {}
