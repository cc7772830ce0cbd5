//! The certificate, checked again here and now, by the same function that rustc ran.

use std::io::{self, Write};

use logos_rdu::{Deployment, check};

use crate::text::grouped;

/// Prints what the checker and the text digests say; whether all of it holds.
pub fn print(out: &mut impl Write, deployment: &Deployment) -> io::Result<bool> {
    let verdicts = check::all(deployment.words());
    let texts = deployment.bundle().verify_text();
    let sum: u64 = verdicts.obligations.iter().sum();
    let holds = verdicts.hold() && texts.is_ok();
    writeln!(
        out,
        "\n  certificate: {}, {} obligations checked now",
        if holds { "holds" } else { "does NOT hold" },
        grouped(sum)
    )?;
    let counts: Vec<String> = check::RULES
        .iter()
        .zip(verdicts.obligations)
        .map(|(rule, obligations)| format!("{rule} {}", grouped(obligations)))
        .collect();
    for line in counts.chunks(7) {
        writeln!(out, "    {}", line.join(", "))?;
    }
    for fault in verdicts.faults.iter().flatten() {
        writeln!(
            out,
            "    rule {}, row {} of part {}: {}, expected {}, found {}",
            fault.rule, fault.row, fault.part, fault.what, fault.expected, fault.found
        )?;
    }
    match texts {
        Ok(()) => writeln!(out, "    every program's text has the SHA-256 of its digest row")?,
        Err(mismatch) => writeln!(out, "    {mismatch}")?,
    }
    Ok(holds)
}
