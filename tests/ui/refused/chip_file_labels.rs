logos_rdu::logos_model! {
    pub mod no_citation {
        model: config "models/smollm2-135m/config.json",
        chip: file "chips/no-citation.toml",
        deployments: {
            DECODE: decode { tp: 1, ctx: 512 },
        },
    }
    pub mod no_provenance {
        model: config "models/smollm2-135m/config.json",
        chip: file "chips/no-provenance.toml",
        deployments: {
            DECODE: decode { tp: 1, ctx: 512 },
        },
    }
    pub mod wrong_unit {
        model: config "models/smollm2-135m/config.json",
        chip: file "chips/wrong-unit.toml",
        deployments: {
            DECODE: decode { tp: 1, ctx: 512 },
        },
    }
}

fn main() {}
