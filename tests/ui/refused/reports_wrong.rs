logos_rdu::logos_model! {
    pub mod model {
        model: config "models/smollm2-135m/config.json",
        chip: SN40L,
        deployments: {
            DECODE: decode { ctx: 2_048 },
        },
        reports: [fti, vllm, "fit", fit, fit],
    }
    pub mod other {
        model: config "models/smollm2-135m/config.json",
        chip: SN40L,
        deployments: {
            DECODE: decode { ctx: 2_048 },
        },
        reports: fit,
    }
}

fn main() {}
