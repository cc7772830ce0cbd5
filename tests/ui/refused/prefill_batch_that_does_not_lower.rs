logos_rdu::logos_model! {
    pub mod model {
        model: config "models/llama-3.1-8b/config.json",
        chip: SN50,
        deployments: {
            PREFILL: prefill { tp: 1, ctx: 2_048, chunk: 1_024, batch: 16 },
        },
    }
}

fn main() {}
