// The first is not compiled, so its refusal is not shown; the second's is.
logos_rdu::logos_model! {
    #[cfg(any())]
    pub mod never {
        model: config "models/qwen3.5-27b/config.json",
        chip: SN50,
        deployments: { DECODE: decode { tp: 5, ctx: 8_192 } },
    }
    #[cfg(not(any()))]
    pub mod always {
        model: config "models/qwen3.5-27b/config.json",
        chip: SN50,
        deployments: { DECODE: decode { tp: 5, ctx: 8_192 } },
    }
}

fn main() {}
