logos_rdu::logos_model! {
    pub mod model {
        model: config "models/qwen3.5-35b-a3b/config.json",
        chip: SN50,
        deployments: {
            DECODE: decode { tp: 1, ctx: 4_096 } require { hbm_fit },
        },
    }
}

fn main() {}
