logos_rdu::logos_model! {
    pub mod model {
        model: config "models/qwen3.5-27b/config.json",
        chip: SN50,
        deployments: {
            DECODE: decode { tp: 8, ctx: 262_144, batch: 8 } require { ctx, ctx => 5, ctx >= LONG, ctx >= -5, hbm_fit >= 1, sequences >= 8 GiB, hbm_headroom >= 8 gib, ctx >= 5.5 },
        },
    }
}

fn main() {}
