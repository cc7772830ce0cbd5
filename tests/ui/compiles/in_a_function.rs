fn main() {
    logos_rdu::logos_model! {
        pub mod model {
            model: config "models/smollm2-135m/config.json",
            chip: SN40L,
            deployments: {
                DECODE: decode { ctx: 2_048 },
            },
        }
    }
    const CTX: usize = model::DECODE.ctx();
    assert_eq!(CTX, 2_048);
}

