//! What rustc says of a bundle that does not meet what is required of it: the macro would not have embedded it.
logos_rdu::logos_model! {
    pub mod model {
        model: config "models/smollm2-135m/config.json",
        chip: SN40L,
        deployments: {
            DECODE: decode { ctx: 2_048 },
        },
    }
}

const DECODE: logos_rdu::Deployment = model::DECODE;
logos_rdu::__require! { DECODE hbm_fit }
logos_rdu::__require! { DECODE ctx > 1000000 }
logos_rdu::__require! { DECODE hbm_headroom < 0 }

fn main() {}
