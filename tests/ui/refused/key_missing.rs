logos_rdu::logos_model! {
    pub mod model {
        deployments: {
            DECODE: decode { tp: 8 },
        },
    }
}

fn main() {}
