// The macro comes from a crate that knows logos-rdu by another name.
logos_reexport::logos_model! {
    mod model {
        model: config "models/smollm2-135m/config.json",
        chip: SN40L,
        deployments: { DECODE: decode { ctx: 2_048 } },
    }
}

fn main() {
    // The same request in another crate, in a module of another name.
    assert_eq!(model::DECODE.words().len(), logos_reexport::smol::DECODE.words().len());
}
