logos_rdu::logos_model! {
    pub mod model {
        model: config "models/llama-3.1-8b/config.json",
        chip: SN50,
        deployments: {
            A: decode { tp: "8", ctx: 8_192 },
            B: decode { tp: -8, ctx: 8_192 },
            C: decode { tp: 8.0, ctx: 8_192 },
            D: decode { tp: 8, ctx: 4_294_967_296 },
            E: decode { tp: TP, ctx: 8_192 },
        },
    }
}

const TP: u32 = 8;
const _: () = assert!(model::A.chips() == 8 && TP == 8);

fn main() {}
