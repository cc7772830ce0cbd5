logos_rdu::logos_model! {
    pub mod out_of_range {
        model: config "models/smollm2-135m/config.json",
        chip: file "chips/out-of-range.toml",
        deployments: {
            DECODE: decode { tp: 1, ctx: 512 },
        },
    }
    pub mod contradiction {
        model: config "models/smollm2-135m/config.json",
        chip: file "chips/contradiction.toml",
        deployments: {
            DECODE: decode { tp: 1, ctx: 512 },
        },
    }
    pub mod taken_name {
        model: config "models/smollm2-135m/config.json",
        chip: file "chips/taken-name.toml",
        deployments: {
            DECODE: decode { tp: 1, ctx: 512 },
        },
    }
}

fn main() {}
