//! The command line.

pub const USAGE: &str = "usage: qwen35-sn50 [--layer LAYER --chip CHIP]";

#[derive(Debug, PartialEq, Eq)]
pub enum Args {
    Overview,
    Layer { layer: u32, chip: u32 },
    Help,
}

/// # Errors
/// A sentence for the user.
pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Args, String> {
    let (mut layer, mut chip) = (None, None);
    while let Some(arg) = args.next() {
        let number = match arg.as_str() {
            "--layer" => &mut layer,
            "--chip" => &mut chip,
            "--help" | "-h" => return Ok(Args::Help),
            other => return Err(format!("unknown argument `{other}`")),
        };
        let value = args.next().ok_or_else(|| format!("`{arg}` needs a number"))?;
        *number = Some(value.parse().map_err(|_| format!("`{arg}` needs a number, found `{value}`"))?);
    }
    match (layer, chip) {
        (None, None) => Ok(Args::Overview),
        (Some(layer), Some(chip)) => Ok(Args::Layer { layer, chip }),
        (Some(_), None) => Err("`--layer` goes with `--chip`".into()),
        (None, Some(_)) => Err("`--chip` goes with `--layer`".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Args, String> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn layer_and_chip_go_together() {
        assert_eq!(parsed(""), Ok(Args::Overview));
        assert_eq!(parsed("--chip 3 --layer 17"), Ok(Args::Layer { layer: 17, chip: 3 }));
        assert_eq!(parsed("--layer 17"), Err("`--layer` goes with `--chip`".into()));
        assert_eq!(parsed("--layer -1 --chip 0"), Err("`--layer` needs a number, found `-1`".into()));
        assert_eq!(parsed("--layer"), Err("`--layer` needs a number".into()));
        assert_eq!(parsed("17"), Err("unknown argument `17`".into()));
    }
}
