logos_rdu::logos_model! {
    pub mod mixtral {
        model: config "models/mixtral-8x7b-v0.1/config.json",
        chip: SN50,
        deployments: {
            ONE: decode { ctx: 8_192, experts: paralel },
            TWO: prefill { ctx: 8_192, chunk: 64, experts: 8 },
        },
    }
}

fn main() {}
