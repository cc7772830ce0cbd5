logos_rdu::logos_model! {
    pub mod model {
        model: config "models/qwen3.5-27b/config.json",
        chip: SN50,
        deployments: {
            FORWARD: forward { tp: 8, rows: 16 } require { ctx >= 4_096 },
        },
    }
}

fn main() {}
