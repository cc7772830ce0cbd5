logos_rdu::logos_model! {
    pub mod model {
        model: config "models/qwen3.5-27b/config.json",
        chip: SN50,
        deployments: {
            DECODE: decode { tp: 8, ctx: 262_144, batch: 8 } require { ctx >= 18_446_744_073_709_551_616, hbm_headroom >= 17_179_869_184 GiB },
        },
    }
}

fn main() {}
