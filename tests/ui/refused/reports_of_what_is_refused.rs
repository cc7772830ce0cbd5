//! Texts of a model that is refused exist, and nothing else fails.
logos_rdu::logos_model! {
    pub mod model {
        model: config "models/qwen3.5-27b/config.json",
        chip: SN50,
        deployments: {
            DECODE: decode { tp: 5, ctx: 8_192 },
        },
        reports: [fit, vllm_plan],
    }
}

const _: () = assert!(model::fit_json::DECODE.len() > 1);

fn main() {
    println!("{}", model::vllm_plan_json::DECODE);
}
