logos_rdu::logos_model! {
    pub mod model {
        model: config "/models/config.json",
        chip: SN50,
        deployments: {
            DECODE: decode { ctx: 8_192 },
        },
    }
}

fn main() {}
