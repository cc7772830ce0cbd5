logos_rdu::logos_model! {
    pub mod model {
        model: config "models/qwen3.5-27b/config.json",
        chip: SN10,
        deployments: {
            DECODE: decode { tp: 8, ctx: 4_096 } require { hbm_fit, hbm_headroom >= 1 },
        },
    }
}

fn main() {}
