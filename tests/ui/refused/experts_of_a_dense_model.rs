logos_rdu::logos_model! {
    pub mod llama {
        model: config "models/llama-3.1-8b/config.json",
        chip: SN50,
        deployments: {
            DECODE: decode { tp: 8, ctx: 8_192, experts: parallel },
        },
    }
}

fn main() {}
