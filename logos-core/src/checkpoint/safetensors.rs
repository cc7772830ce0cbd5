//! The header of a safetensors file: eight bytes of length, little-endian, then JSON, then the tensors' bytes without a hole.
//!
//! Source: the format's own description in the README of huggingface/safetensors.

use std::fmt;

use serde::de::{self, DeserializeSeed, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::fault::{Place, parse_error, shown};
use super::headers::StoredTensor;
use super::layout::{Laid, check_layout, elements};
use super::storage::Storage;
use crate::{Code, Refusal};

/// Longest header, in bytes: the limit of the format's reference implementation.
const MAX_HEADER: u64 = 100_000_000;

/// Most axes of a tensor.
const MAX_AXES: usize = 8;

/// Where the header lies, from the file's first eight bytes.
///
/// # Errors
/// [`Code::CheckpointHeader`] where the file is shorter than that, or the header longer than is allowed.
pub(super) fn header_length(file: &str, start: &[u8], file_bytes: u64) -> Result<u64, Refusal> {
    let place = Place::file(file);
    let Some(length) = start.first_chunk::<8>().map(|bytes| u64::from_le_bytes(*bytes)) else {
        let found = format!("{file_bytes} bytes");
        return Err(place.refuse(
            Code::CheckpointHeader,
            "the file is too short for a header",
            "8 bytes or more",
            found,
        ));
    };
    if start.starts_with(b"version ") {
        let found = "a Git LFS pointer";
        return Err(place
            .refuse(Code::CheckpointHeader, "the file stands for another", "a safetensors file", found)
            .help("fetch the file itself with `git lfs pull`"));
    }
    if length > MAX_HEADER {
        let expected = format!("at most {MAX_HEADER} bytes");
        return Err(place.refuse(
            Code::CheckpointHeader,
            "the header is too long",
            expected,
            format!("{length} bytes"),
        ));
    }
    if length > file_bytes - 8 {
        let expected = format!("8 bytes and a header of {length}");
        let found = format!("a file of {file_bytes} bytes");
        return Err(place
            .refuse(Code::CheckpointHeader, "the file ends inside its header", expected, found)
            .help("the file is cut off: download or copy it again"));
    }
    Ok(length)
}

/// The tensors of a file, in the order of their bytes. `bytes` is the whole file.
///
/// # Errors
/// [`Code::CheckpointHeader`] and [`Code::CheckpointStorage`], at the file or tensor.
pub(super) fn parse(file: &str, bytes: &[u8]) -> Result<Vec<Laid>, Refusal> {
    let file_bytes = bytes.len() as u64;
    let length = header_length(file, bytes, file_bytes)?;
    let data = 8 + length;
    let place = Place::file(file);
    let header = bytes.get(8..data as usize).unwrap_or_default();
    if header.first() != Some(&b'{') {
        let found = header.first().map_or("no byte".to_owned(), |byte| format!("byte {byte:#04x}"));
        return Err(place.refuse(Code::CheckpointHeader, "the header is no JSON object", "`{`", found));
    }
    let mut read = Read::default();
    let mut json = serde_json::Deserializer::from_slice(header);
    let parsed = (&mut read).deserialize(&mut json).and_then(|()| json.end());
    if let Err(error) = parsed {
        let place = read.current.as_deref().map_or(place, |tensor| place.tensor(tensor));
        let expected = "an object of `dtype`, `shape` and `data_offsets` a tensor";
        return Err(place.refuse(Code::CheckpointHeader, "the header does not parse", expected, parse_error(&error)));
    }
    let mut tensors = Vec::with_capacity(read.tensors.len());
    for (name, info) in read.tensors {
        tensors.push(laid(place, name, info, data)?);
    }
    check_layout(file, &mut tensors, data..file_bytes, 1)?;
    Ok(tensors)
}

/// A tensor, held to its own figures.
fn laid(place: Place<'_>, name: String, info: Info, data: u64) -> Result<Laid, Refusal> {
    let place = place.tensor(&name);
    let Some(storage) = Storage::from_safetensors(&info.dtype) else {
        let found = shown(&info.dtype);
        return Err(place.refuse(Code::CheckpointStorage, "its dtype is not known", "a dtype of the format", found));
    };
    if info.shape.len() > MAX_AXES {
        let expected = format!("at most {MAX_AXES}");
        return Err(place.refuse(Code::CheckpointHeader, "it has too many axes", expected, info.shape.len()));
    }
    let Some(size) = elements(&info.shape).and_then(|count| storage.bytes(count)) else {
        let expected = format!("whole bytes of {storage}, fewer than 2^64");
        let found = format!("{:?}", info.shape);
        return Err(place.refuse(Code::CheckpointHeader, "its shape has no size", expected, found));
    };
    let [start, end] = info.data_offsets;
    let (Some(from), Some(to)) = (data.checked_add(start), data.checked_add(end)) else {
        let found = format!("{start} to {end}");
        return Err(place.refuse(
            Code::CheckpointHeader,
            "its offsets are too large",
            "offsets inside the file",
            found,
        ));
    };
    if end.checked_sub(start) != Some(size) {
        let expected = format!("{size} bytes for {storage} {:?}", info.shape);
        let found = format!("offsets {start} to {end}");
        return Err(place.refuse(Code::CheckpointHeader, "its offsets do not match its shape", expected, found));
    }
    Ok(Laid { tensor: StoredTensor { name, shape: info.shape, storage }, bytes: from..to })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Info {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: [u64; 2],
}

/// The entries in the order of the text, and the name of the one being read: an error's place.
#[derive(Default)]
struct Read {
    tensors: Vec<(String, Info)>,
    current: Option<String>,
}

impl<'de> DeserializeSeed<'de> for &mut Read {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Read {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut metadata = false;
        while let Some(name) = map.next_key::<String>()? {
            self.current = Some(name.clone());
            if name == "__metadata__" {
                if std::mem::replace(&mut metadata, true) {
                    return Err(de::Error::custom("`__metadata__` is there twice"));
                }
                map.next_value::<Metadata>()?;
            } else {
                self.tensors.push((name, map.next_value()?));
            }
            self.current = None;
        }
        Ok(())
    }
}

/// Free-form strings, not kept.
struct Metadata;

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::collections::BTreeMap::<String, String>::deserialize(deserializer).map(|_| Metadata)
    }
}
