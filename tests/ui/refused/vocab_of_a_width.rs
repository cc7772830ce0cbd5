logos_rdu::logos_model! {
    pub mod model {
        model: config "models/phi-4/config.json",
        chip: SN50,
        deployments: {
            DECODE: decode { tp: 5, ctx: 8_192, batch: 1 },
        },
    }
}

fn main() {}
