logos_rdu::logos_model! {
    pub mod not_toml {
        model: config "models/smollm2-135m/config.json",
        chip: file "chips/not-toml.toml",
        deployments: {
            DECODE: decode { tp: 1, ctx: 512 },
        },
    }
    pub mod no_file {
        model: config "models/smollm2-135m/config.json",
        chip: file "chips/ex.toml",
        deployments: {
            DECODE: decode { tp: 1, ctx: 512 },
        },
    }
    pub mod no_word {
        model: config "models/smollm2-135m/config.json",
        chip: "chips/ex1.toml",
        deployments: {
            DECODE: decode { tp: 1, ctx: 512 },
        },
    }
    pub mod no_path {
        model: config "models/smollm2-135m/config.json",
        chip: file SN50,
        deployments: {
            DECODE: decode { tp: 1, ctx: 512 },
        },
    }
    pub mod other_word {
        model: config "models/smollm2-135m/config.json",
        chip: from "chips/ex1.toml",
        deployments: {
            DECODE: decode { tp: 1, ctx: 512 },
        },
    }
}

fn main() {}
