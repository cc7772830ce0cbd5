logos_rdu::logos_model! {
    pub mod model {
        model: config "models/qwen3.5-27b/config.json",
        chip: SN50,
        deployments: {
            FORWARD: forward { rows: 0 },
        },
    }
}

fn main() {}
