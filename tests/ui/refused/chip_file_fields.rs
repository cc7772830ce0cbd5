logos_rdu::logos_model! {
    pub mod duplicate {
        model: config "models/smollm2-135m/config.json",
        chip: file "chips/duplicate.toml",
        deployments: {
            DECODE: decode { tp: 1, ctx: 512 },
        },
    }
    pub mod unknown_field {
        model: config "models/smollm2-135m/config.json",
        chip: file "chips/unknown-field.toml",
        deployments: {
            DECODE: decode { tp: 1, ctx: 512 },
        },
    }
    pub mod missing_field {
        model: config "models/smollm2-135m/config.json",
        chip: file "chips/missing-field.toml",
        deployments: {
            DECODE: decode { tp: 1, ctx: 512 },
        },
    }
}

fn main() {}
