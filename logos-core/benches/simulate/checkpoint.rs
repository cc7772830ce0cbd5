//! A checkpoint of random weights: what takes part in a speed, without anybody's weights.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use logos_core::config;
use logos_core::spec::inventory;

/// Writes `config.json` and a bf16 `model.safetensors` of the config's tensors to a folder; leaves one of the right length as it is.
pub(crate) fn write(folder: &Path, config: &str) -> io::Result<PathBuf> {
    let spec = config::read(config.as_bytes()).map_err(|refusals| io::Error::other(format!("{refusals:?}")))?;
    let inventory = inventory(&spec).map_err(|refusal| io::Error::other(refusal.to_string()))?;
    let mut header = serde_json::Map::new();
    let mut tensors = Vec::new();
    let mut end = 0u64;
    for tensor in inventory.iter() {
        let elements: u64 = tensor.shape.iter().map(|&axis| u64::from(axis)).product();
        let start = end;
        end += 2 * elements;
        let entry = serde_json::json!({ "dtype": "BF16", "shape": tensor.shape, "data_offsets": [start, end] });
        header.insert(tensor.name.to_string(), entry);
        tensors.push((elements, tensor.shape.len()));
    }
    let mut header = serde_json::to_vec(&header)?;
    header.resize(header.len().next_multiple_of(8), b' ');

    fs::create_dir_all(folder)?;
    fs::write(folder.join("config.json"), config)?;
    let path = folder.join("model.safetensors");
    let length = 8 + header.len() as u64 + end;
    if fs::metadata(&path).is_ok_and(|file| file.len() == length) {
        return Ok(path);
    }
    let mut out = BufWriter::with_capacity(1 << 20, File::create(&path)?);
    out.write_all(&(header.len() as u64).to_le_bytes())?;
    out.write_all(&header)?;
    let mut random = 1u64;
    for (elements, axes) in tensors {
        // Vectors are norms, near one half; matrices are small and of both signs.
        let (centre, reach) = if axes == 1 { (0.5, 0.25) } else { (0.0, 0.05) };
        for _ in 0..elements {
            // Xorshift; the upper half is random enough for weights.
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let unit = (random >> 32) as f32 / 4_294_967_296.0;
            let value: f32 = centre + reach * (2.0 * unit - 1.0);
            out.write_all(&((value.to_bits() >> 16) as u16).to_le_bytes())?;
        }
    }
    out.flush()?;
    Ok(path)
}
