logos_rdu::logos_model! {
    pub mod model {
        model: config "models/qwen3.5-27b/config.json",
        chip: SN50,
        deployment: {
            DECODE: decode { tp: 8; ctx: 4 * 1024 },
        },
    }
}

// No error follows from the first: the constant exists.
const _: () = assert!(model::DECODE.fit().fits);

fn main() {}
