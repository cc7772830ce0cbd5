//! Qwen3.5-27B on eight SN50s: prints what LOGOS made of it while this crate was compiled.

mod args;
mod certificate;
mod layer;
mod overview;
#[cfg(test)]
mod tests;
mod text;

use std::io::{self, Write};
use std::process::ExitCode;

use logos_rdu::Deployment;

logos_rdu::logos_model! {
    /// Qwen3.5-27B on half a SambaRack.
    pub mod qwen35 {
        model: config "models/qwen3.5-27b/config.json",
        chip: SN50,
        deployments: {
            DECODE:  decode  { tp: 8, ctx: 262_144, batch: 8 } require { hbm_fit, ctx >= 131_072 },
            PREFILL: prefill { tp: 8, ctx: 262_144, chunk: 512 },
        },
    }
}

// Facts of the deployment hold while the crate compiles, or it does not compile.
const _: () = assert!(qwen35::DECODE.fit().hbm_headroom_bytes > 8 << 30);

const DEPLOYMENTS: [(&str, Deployment); 2] = [("DECODE", qwen35::DECODE), ("PREFILL", qwen35::PREFILL)];

fn main() -> ExitCode {
    match args::parse(std::env::args().skip(1)) {
        Ok(args::Args::Overview) => finish(overview::print(&mut io::stdout().lock(), &DEPLOYMENTS)),
        Ok(args::Args::Layer { layer, chip }) => {
            let (layers, chips) = (qwen35::DECODE.layers(), qwen35::DECODE.chips());
            if layer as usize >= layers || chip as usize >= chips {
                return usage(&format!("there are layers 0 to {} and chips 0 to {}", layers - 1, chips - 1));
            }
            finish(layer::print(&mut io::stdout().lock(), &DEPLOYMENTS, layer, chip))
        }
        Ok(args::Args::Help) => finish(writeln!(io::stdout(), "{}", args::USAGE).map(|()| true)),
        Err(error) => usage(&error),
    }
}

/// Success if everything could be printed and every certificate holds. A reader that has seen enough (`| head`) is no failure.
fn finish(printed: io::Result<bool>) -> ExitCode {
    match printed {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("qwen35-sn50: {error}");
            ExitCode::FAILURE
        }
    }
}

fn usage(error: &str) -> ExitCode {
    eprintln!("qwen35-sn50: {error}\n{}", args::USAGE);
    ExitCode::from(2)
}
