logos_rdu::logos_model! {
    pub mod model {
        model: config "models/smollm2-135m/config.json",
        chip: SN40L,
        deployments: {
            FORWARD: forward { rows: 16 },
        },
        reports: [fit],
    }
}

fn main() {}
