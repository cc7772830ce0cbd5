logos_rdu::logos_model! {
    pub mod mixtral {
        model: config "models/mixtral-8x7b-v0.1/config.json",
        chip: SN50,
        deployments: {
            DECODE: decode { tp: 16, ctx: 8_192, experts: parallel },
            // Each expert's columns do.
            CUT: decode { tp: 16, ctx: 8_192 },
        },
    }
}

fn main() {}
