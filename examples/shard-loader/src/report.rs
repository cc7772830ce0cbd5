//! Printing accounts and loads.

use std::collections::BTreeMap;

use logos_core::checkpoint::Checkpoint;
use logos_core::checkpoint::load::{Account, Load, LoadError, Loader, Why};

/// Bytes by how many chips read them and why, and what is not read or not as often as it should.
pub fn account(account: &Account, checkpoint: &Checkpoint) {
    let headers = checkpoint.headers();
    let once: u64 = account.readings.iter().map(|reading| reading.once).sum();
    println!("{} of {} tensors are read", account.readings.len(), headers.tensors().len());
    println!("{once:>8} bytes by one chip");
    let mut replicated = BTreeMap::<(u32, Why), u64>::new();
    for (&how, bytes) in account.readings.iter().flat_map(|reading| &reading.replicated) {
        *replicated.entry(how).or_default() += bytes;
    }
    for ((chips, why), bytes) in replicated {
        let why = match why {
            Why::Whole => "every chip holds the whole weight",
            Why::Groups => "fewer key and value heads than chips",
            Why::Block => "slices meet within a block",
        };
        println!("{bytes:>8} bytes by {chips} chips: {why}");
    }
    for &tensor in &account.unused {
        println!("not read: {}", headers.get(tensor).name);
    }
    for excess in &account.excess {
        let name = &headers.get(excess.tensor).name;
        println!("{name}: bytes {:?} are read by {} chips, not {}", excess.bytes, excess.chips, excess.expected);
    }
}

/// What a chip loads for the first layer.
pub fn loads(loader: &Loader<'_>, chip: u32) -> Result<(), LoadError> {
    println!("chip {chip}, layer 0:");
    for load in loader.chip(chip)? {
        let load = load?;
        if load.layer == Some(0) {
            let turned = if load.transposed { ", transposed" } else { "" };
            let ranges: usize = load.parts.iter().map(|part| part.ranges.len()).sum();
            let (value, tensor, bytes) = (&load.value, &load.tensor, load.bytes());
            println!("  {value:7} {tensor}: rows {:?}, columns {:?}{turned}", load.rows, load.columns);
            println!("          {bytes} bytes of {} in {ranges} runs, kept as {}", load.stored, load.kept);
        }
    }
    println!();
    Ok(())
}

/// The bytes of a load, one range after another, out of the mapped files.
pub fn bytes(load: &Load, checkpoint: &Checkpoint) -> Vec<u8> {
    let parts = load.parts.iter().flat_map(|part| {
        let (start, stored) = (checkpoint.extent(part.tensor).start, checkpoint.bytes(part.tensor));
        part.ranges.iter().flat_map(move |range| &stored[(range.start - start) as usize..(range.end - start) as usize])
    });
    parts.copied().collect()
}
