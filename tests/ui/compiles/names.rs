#![no_implicit_prelude]
// Modules that bear the names of the standard crates, and a type with the name of a primitive.
mod core {}
mod std {}
mod alloc {}
#[allow(non_camel_case_types, dead_code)]
struct u32;

::logos_rdu::logos_model! {
    pub mod model {
        model: config "models/smollm2-135m/config.json",
        chip: SN40L,
        deployments: {
            DECODE: decode { tp: 1, ctx: 2_048 },
            FORWARD: forward { rows: 16 },
            // Names that an expansion might take for itself.
            WORDS: forward { rows: 1 },
            VERDICTS: forward { rows: 1 },
        },
    }
}

fn main() {
    ::std::assert_eq!(model::DECODE.chips(), 1);
    ::std::assert_eq!(model::FORWARD.tokens(), 16);
}
