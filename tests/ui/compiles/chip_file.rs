//! A chip of one's own, and one's own copy of a known chip.

logos_rdu::logos_model! {
    pub mod model {
        model: config "models/smollm2-135m/config.json",
        chip: file "chips/ex1.toml",
        deployments: {
            DECODE: decode { ctx: 2_048, batch: 2 },
        },
    }
}

// The facts of the file are those of the constant: three of a node's four chips split nine heads.
const _: () = assert!(model::DECODE.chips() == 3 && model::DECODE.fit().memory_bytes == 16_000_000_000);

fn main() {
    assert_eq!(model::DECODE.bundle().chip().map(|chip| chip.name().to_string()).as_deref(), Some("EX1"));
}
