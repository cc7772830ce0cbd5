logos_rdu::logos_model! {
    pub mod mixtral {
        model: config "models/mixtral-8x7b-v0.1/config.json",
        chip: SN50,
        deployments: {
            WHOLE: decode { tp: 8, ctx: 8_192, batch: 2, experts: parallel },
            CUT: decode { tp: 8, ctx: 8_192, batch: 2, experts: columns },
        },
    }
}

fn main() {
    assert_eq!(mixtral::WHOLE.fit().weight_bytes, mixtral::CUT.fit().weight_bytes);
}
