logos_rdu::logos_model! {
    pub mod model {
        model: config "models/llama-3.1-8b/config.json",
        chip: SN50,
        deployments: {
            DECODE: decode { tp: 8, ctx: 131_073, batch: 1 },
        },
    }
}

fn main() {}
