//! The header: magic, version, metadata, tensor infos; then the tensors' bytes, each aligned.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::super::fault::{Place, shown};
use super::super::headers::StoredTensor;
use super::super::layout::{Laid, check_layout, elements};
use super::super::storage::Storage;
use super::names::GgufNames;
use crate::{Code, Refusal};

/// The first bytes of a file.
pub(crate) const MAGIC: &[u8; 4] = b"GGUF";

/// Longest metadata key, in bytes, by the format.
const MAX_KEY: u64 = 65_535;
/// Longest tensor name, in bytes, by the format.
const MAX_NAME: u64 = 64;
/// Most axes of a tensor: ggml's own.
const MAX_AXES: u32 = 4;
/// Deepest array of arrays.
const MAX_DEPTH: u32 = 4;
/// Largest alignment, in bytes.
const MAX_ALIGNMENT: u64 = 1 << 16;

/// What of the metadata is kept: whole numbers and strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Number(u64),
    Text(&'a str),
}

/// The tensors of a file, in the order of their bytes, and what its names mean. `bytes` is the whole file.
///
/// # Errors
/// [`Code::CheckpointHeader`] and [`Code::CheckpointStorage`] at the file or tensor; [`Code::CheckpointNames`] for an architecture whose
/// names are not known.
pub(crate) fn parse(file: &str, bytes: &[u8]) -> Result<(Vec<Laid>, GgufNames), Refusal> {
    let mut cursor = Cursor { place: Place::file(file), bytes, at: MAGIC.len() };
    let version = cursor.u32("its version")?;
    if !matches!(version, 2 | 3) {
        let found = if version & 0xffff == 0 { "a big-endian file".to_owned() } else { format!("version {version}") };
        let expected = "version 2 or 3, little-endian";
        return Err(cursor.place.refuse(Code::CheckpointHeader, "this kind of GGUF is not read", expected, found));
    }
    let tensor_count = cursor.u64("its number of tensors")?;
    let metadata_count = cursor.u64("its number of metadata keys")?;
    let metadata = cursor.metadata(metadata_count)?;
    let alignment = alignment(cursor.place, &metadata)?;
    if let Some(Value::Number(parts @ 2..)) = metadata.get("split.count") {
        let expected = "a file of its own";
        return Err(cursor
            .place
            .refuse(
                Code::CheckpointHeader,
                "it is a part of a split file",
                expected,
                format_args!("one of {parts} parts"),
            )
            .help("merge the parts with `llama-gguf-split --merge`"));
    }
    let mut infos = Vec::new();
    for _ in 0..tensor_count {
        infos.push(cursor.info()?);
    }
    let names = GgufNames::new(cursor.place, |key| metadata.get(key).copied())?;
    let end = bytes.len() as u64;
    let data = (cursor.at as u64).next_multiple_of(alignment);
    let mut tensors = Vec::with_capacity(infos.len());
    for info in infos {
        tensors.push(laid(cursor.place, info, data, alignment)?);
    }
    // A file without tensors may end with its header.
    if !tensors.is_empty() || data < end {
        check_layout(file, &mut tensors, data..end.max(data), alignment)?;
    }
    Ok((tensors, names))
}

fn alignment(place: Place<'_>, metadata: &BTreeMap<&str, Value<'_>>) -> Result<u64, Refusal> {
    let found = match metadata.get("general.alignment") {
        None => return Ok(32),
        Some(&Value::Number(bytes)) if bytes.is_power_of_two() && (8..=MAX_ALIGNMENT).contains(&bytes) => {
            return Ok(bytes);
        }
        Some(Value::Number(bytes)) => bytes.to_string(),
        Some(Value::Text(text)) => shown(text),
    };
    let expected = format!("a power of two from 8 to {MAX_ALIGNMENT}");
    Err(place.refuse(Code::CheckpointHeader, "`general.alignment` is no alignment", expected, found))
}

/// A tensor as the header has it.
struct Info<'a> {
    name: &'a str,
    /// Innermost first.
    axes: Vec<u64>,
    kind: u32,
    offset: u64,
}

/// A tensor, held to its own figures.
fn laid(place: Place<'_>, info: Info<'_>, data: u64, alignment: u64) -> Result<Laid, Refusal> {
    let place = place.tensor(info.name);
    let Some(storage) = Storage::from_ggml(info.kind) else {
        let found = format!("number {}", info.kind);
        return Err(place.refuse(Code::CheckpointStorage, "its type is not known", "a type of ggml", found));
    };
    // Rows are whole blocks; a tensor without axes has one element.
    let (row, rows) = info.axes.split_first().map_or((1, &[][..]), |(&row, rows)| (row, rows));
    let size = storage.bytes(row).and_then(|bytes| bytes.checked_mul(elements(rows)?));
    let mut shape = info.axes;
    shape.reverse();
    let Some((size, _)) = size.zip(elements(&shape)) else {
        let expected = format!("rows of whole blocks of {}, fewer than 2^64 bytes", storage.block_elements());
        let found = format!("{storage} {shape:?}");
        return Err(place.refuse(Code::CheckpointHeader, "its shape has no size", expected, found));
    };
    let start = data.checked_add(info.offset).filter(|_| info.offset.is_multiple_of(alignment));
    let Some((start, end)) = start.and_then(|start| Some((start, start.checked_add(size)?))) else {
        let expected = format!("a multiple of {alignment} inside the file");
        return Err(place.refuse(Code::CheckpointHeader, "its offset is none", expected, info.offset));
    };
    let tensor = StoredTensor { name: info.name.to_owned(), shape, storage };
    Ok(Laid { tensor, bytes: start..end })
}

/// Reads from the front; where the file ends, says inside what.
struct Cursor<'a> {
    place: Place<'a>,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, bytes: u64, what: impl fmt::Display) -> Result<&'a [u8], Refusal> {
        let rest = &self.bytes[self.at..];
        match usize::try_from(bytes).ok().and_then(|bytes| rest.get(..bytes)) {
            Some(taken) => {
                self.at += taken.len();
                Ok(taken)
            }
            None => {
                let expected = format!("{bytes} bytes from byte {} on", self.at);
                let found = format!("{} until the file's end", rest.len());
                let what = format!("the file ends inside {what}");
                Err(self
                    .place
                    .refuse(Code::CheckpointHeader, what, expected, found)
                    .help("the file is cut off, or damaged"))
            }
        }
    }

    fn u32(&mut self, what: impl fmt::Display) -> Result<u32, Refusal> {
        let bytes = self.take(4, what)?;
        Ok(bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes)))
    }

    fn u64(&mut self, what: impl fmt::Display) -> Result<u64, Refusal> {
        let bytes = self.take(8, what)?;
        Ok(bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)))
    }

    fn name(&mut self, what: &str, longest: u64) -> Result<&'a str, Refusal> {
        let length = self.u64(what)?;
        if length > longest {
            let what = format!("{what} is too long");
            let expected = format!("at most {longest} bytes");
            return Err(self.place.refuse(Code::CheckpointHeader, what, expected, format!("{length} bytes")));
        }
        let at = self.at;
        let bytes = self.take(length, what)?;
        std::str::from_utf8(bytes).map_err(|error| {
            let what = format!("{what} at byte {at} is no text");
            self.place.refuse(Code::CheckpointHeader, what, "UTF-8", error)
        })
    }

    fn metadata(&mut self, count: u64) -> Result<BTreeMap<&'a str, Value<'a>>, Refusal> {
        let (mut kept, mut seen) = (BTreeMap::new(), BTreeSet::new());
        for _ in 0..count {
            let key = self.name("a metadata key", MAX_KEY)?;
            if !seen.insert(key) {
                let what = format!("metadata key `{}` is there twice", shown(key));
                return Err(self.place.refuse(Code::CheckpointHeader, what, "once", "twice"));
            }
            let kind = self.u32("a metadata type")?;
            if let Some(value) = self.value(key, kind, 0)? {
                kept.insert(key, value);
            }
        }
        Ok(kept)
    }

    /// Passes over a value, and gives it where it is kept.
    fn value(&mut self, key: &str, kind: u32, depth: u32) -> Result<Option<Value<'a>>, Refusal> {
        let what = || format!("metadata key `{}`", shown(key));
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
        Ok(match kind {
            // Unsigned.
            0 => Some(Value::Number(number(self.take(1, what())?))),
            2 => Some(Value::Number(number(self.take(2, what())?))),
            4 => Some(Value::Number(number(self.take(4, what())?))),
            10 => Some(Value::Number(number(self.take(8, what())?))),
            // Signed: nothing that is read is negative, and what is not negative is the same in both.
            1 => Some(number(self.take(1, what())?)).filter(|n| n >> 7 == 0).map(Value::Number),
            3 => Some(number(self.take(2, what())?)).filter(|n| n >> 15 == 0).map(Value::Number),
            5 => Some(number(self.take(4, what())?)).filter(|n| n >> 31 == 0).map(Value::Number),
            11 => Some(number(self.take(8, what())?)).filter(|n| n >> 63 == 0).map(Value::Number),
            // Floats and booleans.
            6 | 7 | 12 => {
                self.take(fixed(kind).unwrap_or(1), what())?;
                None
            }
            8 => {
                let length = self.u64(what())?;
                // A value that is no UTF-8 is none that is read: tokenizers hold such.
                std::str::from_utf8(self.take(length, what())?).ok().map(Value::Text)
            }
            9 => {
                self.array(key, depth)?;
                None
            }
            other => {
                let what = format!("{} has no type", what());
                return Err(self.place.refuse(Code::CheckpointHeader, what, "a type from 0 to 12", other));
            }
        })
    }

    /// Passes over an array.
    fn array(&mut self, key: &str, depth: u32) -> Result<(), Refusal> {
        let what = || format!("metadata key `{}`", shown(key));
        let kind = self.u32(what())?;
        let count = self.u64(what())?;
        if let Some(bytes) = fixed(kind) {
            self.take(count.saturating_mul(bytes), what())?;
        } else if depth == MAX_DEPTH {
            let what = format!("{} is an array of arrays too deep", what());
            return Err(self.place.refuse(Code::CheckpointHeader, what, format!("at most {MAX_DEPTH}"), "more"));
        } else {
            for _ in 0..count {
                self.value(key, kind, depth + 1)?;
            }
        }
        Ok(())
    }

    fn info(&mut self) -> Result<Info<'a>, Refusal> {
        let name = self.name("a tensor's name", MAX_NAME)?;
        let what = || format!("the entry of `{}`", shown(name));
        let axes = self.u32(what())?;
        if axes > MAX_AXES {
            let place = self.place.tensor(name);
            let expected = format!("at most {MAX_AXES}");
            return Err(place.refuse(Code::CheckpointHeader, "it has too many axes", expected, axes));
        }
        let axes = (0..axes).map(|_| self.u64(what())).collect::<Result<_, _>>()?;
        Ok(Info { name, axes, kind: self.u32(what())?, offset: self.u64(what())? })
    }
}

/// Bytes of a metadata type that always has as many.
const fn fixed(kind: u32) -> Option<u64> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}
