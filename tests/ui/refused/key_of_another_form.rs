logos_rdu::logos_model! {
    pub mod model {
        model: config "models/llama-3.1-8b/config.json",
        chip: SN50,
        deployments: {
            PREFILL: prefill { ctx: 8_192, chunk: 128, rows: 2 },
            FORWARD: forward { rows: 128, batch: 2 },
        },
    }
}

fn main() {}
