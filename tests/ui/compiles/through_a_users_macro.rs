macro_rules! served {
    ($name:ident, $path:literal, $chip:ident, $ctx:literal, $($batch:literal)?) => {
        logos_rdu::logos_model! {
            pub mod $name {
                model: config $path,
                chip: $chip,
                deployments: { DECODE: decode { ctx: $ctx, $(batch: $batch)? } },
            }
        }
    };
}

served!(one, "models/smollm2-135m/config.json", SN40L, 2_048,);
served!(two, "models/smollm2-135m/config.json", SN40L, 2_048, 2);

fn main() {
    assert_eq!((one::DECODE.sequences(), two::DECODE.sequences()), (1, 2));
}
