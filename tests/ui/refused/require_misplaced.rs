logos_rdu::logos_model! {
    pub mod model {
        model: config "models/qwen3.5-27b/config.json",
        chip: SN50,
        deployments: {
            DECODE: decode { tp: 8, ctx: 262_144, require: { hbm_fit } },
            PREFILL: prefill { tp: 8, ctx: 262_144, chunk: 512 } require: { hbm_fit },
            SECOND: decode { tp: 8, ctx: 8_192 } requires { hbm_fit },
        },
    }
}

fn main() {}
