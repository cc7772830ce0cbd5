logos_rdu::logos_model! {
    pub mod small {
        //! Documented from within.
        model: config "models/smollm2-135m/config.json",
        chip: SN40L,
        weights: q8_0,
        deployments: {
            /// The user's own words.
            DECODE: decode { ctx: 2_048 },
            #[cfg(any())]
            NEVER: decode { ctx: 1_024 },
            #[deprecated = "use DECODE"]
            OLD: decode { ctx: 512 },
        },
    }
    mod large {
        deployments: { DECODE: decode { batch: 2u32, ctx: 8192usize, tp: 2, }, },
        chip: SN50,
        model: config r"models/llama-3.1-8b/config.json"
    }
}

fn main() {
    assert!(small::DECODE.fit().weight_bytes < large::DECODE.fit().weight_bytes);
}
