logos_rdu::logos_model! {
    /// Documentation of the user.
    pub(crate) mod model {
        model: config "models/smollm2-135m/config.json",
        chip: SN40L,
        deployments: {
            DECODE: decode { tp: 1, ctx: 2_048, batch: 4 },
        },
    }
}

static TOKENS: [u32; model::DECODE.sequences()] = [7; model::DECODE.sequences()];
const _: () = assert!(model::DECODE.fit().fits && model::DECODE.fit().hbm_headroom_bytes > 32 << 30);
const COPY: logos_rdu::Deployment = model::DECODE;

fn main() {
    assert_eq!(TOKENS.len(), 4);
    assert!(logos_rdu::check::all(COPY.words()).hold());
    assert!(COPY.bundle().verify_text().is_ok());
}
