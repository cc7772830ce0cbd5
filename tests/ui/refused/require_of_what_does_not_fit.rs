logos_rdu::logos_model! {
    pub mod model {
        model: config "models/qwen3.5-27b/config.json",
        chip: SN50,
        deployments: {
            DECODE: decode { tp: 8, ctx: 262_144, batch: 16 } require { sequences >= 16 },
        },
    }
}

fn main() {}
