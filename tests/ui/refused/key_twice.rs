logos_rdu::logos_model! {
    pub mod model {
        model: config "models/llama-3.1-8b/config.json",
        chip: SN50,
        chip: SN40L,
        deployments: {
            DECODE: decode { tp: 1, ctx: 8_192, tp: 2 },
        },
    }
}

fn main() {}
