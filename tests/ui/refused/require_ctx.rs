logos_rdu::logos_model! {
    pub mod model {
        model: config "models/qwen3.5-27b/config.json",
        chip: SN50,
        deployments: {
            DECODE: decode { tp: 8, ctx: 131_072, batch: 16 } require { ctx >= 262_144 },
        },
    }
}

fn main() {}
