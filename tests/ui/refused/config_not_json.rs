logos_rdu::logos_model! {
    pub mod model {
        model: config "models/bad/not-json.json",
        chip: SN50,
        deployments: {
            DECODE: decode { tp: 1, ctx: 8_192, batch: 1 },
        },
    }
}

fn main() {}
