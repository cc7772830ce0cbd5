//! Compiles the model before the crate: sizes may come from anywhere a build script can look.

fn main() -> Result<(), logos_build::BuildError> {
    logos_build::model("models/llama-3.1-8b/config.json")
        .chip("SN50")
        .decode("DECODE", |decode| decode.tp(2).ctx(131_072).batch(4).require("hbm_fit, ctx >= 131_072"))
        .prefill("PREFILL", |prefill| prefill.tp(2).ctx(131_072).chunk(512))
        .emit("llama")
}
