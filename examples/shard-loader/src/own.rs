//! The same slices with no compiler: the bundle, the header of a safetensors file, and reads at positions. This is all that a binary
//! needs that fills the memories of chips.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use logos_rdu::Deployment;
use logos_rdu::load::{self, Stored};
use serde_json::Value;

/// What one weight of a chip is made of.
pub struct Slice {
    /// The program's value.
    pub value: String,
    /// The tensor's bytes, one range after another.
    pub bytes: Vec<u8>,
}

/// Reads the slices of a chip out of a checkpoint of one file.
pub fn read(deployment: &Deployment, path: &Path, chip: u32) -> Result<Vec<Slice>, Box<dyn Error>> {
    let mut file = File::open(path)?;
    let tensors = header(&mut file)?;
    let files = [file];
    let loads = load::loads(deployment.bundle(), chip).ok_or("no such chip")?;
    let slices = loads.map(|load| {
        let tensor = load.tensor().map(|name| name.to_string()).unwrap_or_default();
        let stored = tensors.get(&tensor).ok_or_else(|| format!("no tensor {tensor}"))?;
        let mut bytes = Vec::new();
        for (place, ranges) in stored.parts.places().zip(load.ranges(stored)?) {
            bytes.extend(ranges.read_all(&files[..], place.file)?);
        }
        Ok(Slice { value: load.value().to_string(), bytes })
    });
    slices.collect()
}

/// Where the tensors of a safetensors file lie: its header is JSON, behind its length in eight bytes.
fn header(file: &mut File) -> Result<BTreeMap<String, Stored>, Box<dyn Error>> {
    let length = file.metadata()?.len();
    let mut size = [0; 8];
    file.read_exact(&mut size)?;
    let size = u64::from_le_bytes(size);
    let data = size.checked_add(8).filter(|&data| data <= length).ok_or("the header is longer than the file")?;
    let mut json = vec![0; usize::try_from(size)?];
    file.read_exact(&mut json)?;
    let header: BTreeMap<String, Value> = serde_json::from_slice(&json)?;
    let tensors = header.into_iter().filter(|(name, _)| name != "__metadata__").map(|(name, entry)| {
        let bytes = match entry["dtype"].as_str() {
            Some("F32") => 4,
            Some("BF16" | "F16") => 2,
            other => return Err(format!("{name} is stored as {other:?}").into()),
        };
        let shape: Vec<u64> = serde_json::from_value(entry["shape"].clone())?;
        let [start, end]: [u64; 2] = serde_json::from_value(entry["data_offsets"].clone())?;
        let elements = shape.iter().try_fold(bytes, |n: u64, &axis| n.checked_mul(axis));
        if elements != end.checked_sub(start) || end > length - data {
            return Err(format!("{name} does not lie where its header says").into());
        }
        Ok((name, Stored::plain(shape, 0, data + start, bytes)))
    });
    tensors.collect()
}
