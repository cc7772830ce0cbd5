//! `model.safetensors.index.json`: which tensor is in which shard.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::fault::{Place, parse_error, shown};
use super::headers::Headers;
use crate::{Code, Refusal};

/// Largest index read, in bytes. Kimi-K2's, of 140,000 tensors, is 13 million.
pub(super) const MAX_INDEX: u64 = 100_000_000;

/// Tensor names with their shards' file names.
pub(super) struct Index<'a> {
    file: &'a str,
    entries: Vec<(String, String)>,
}

impl<'a> Index<'a> {
    /// Reads an index.
    ///
    /// # Errors
    /// [`Code::CheckpointIndex`] where it is no index, or names a shard that is no file beside it.
    pub(super) fn parse(file: &'a str, json: &[u8]) -> Result<Self, Refusal> {
        let place = Place::file(file);
        let raw: Raw = serde_json::from_slice(json).map_err(|error| {
            let expected = "an object with a `weight_map` of tensor and file names";
            place.refuse(Code::CheckpointIndex, "the index does not parse", expected, parse_error(&error))
        })?;
        let entries = raw.weight_map.0;
        for (tensor, shard) in &entries {
            let plain = shard.ends_with(".safetensors") && !shard.contains(['/', '\\', ':', '\0']);
            if !plain {
                let expected = "the name of a .safetensors file beside it";
                return Err(place.tensor(tensor).refuse(
                    Code::CheckpointIndex,
                    "its shard is no file's name",
                    expected,
                    shown(shard),
                ));
            }
        }
        if entries.is_empty() {
            return Err(place.refuse(Code::CheckpointIndex, "the index is empty", "tensors", "none"));
        }
        Ok(Index { file, entries })
    }

    /// The shards, each once, in order of their names.
    pub(super) fn shards(&self) -> BTreeSet<&str> {
        self.entries.iter().map(|(_, shard)| shard.as_str()).collect()
    }

    /// Holds the index and the shards' own headers to each other.
    ///
    /// # Errors
    /// [`Code::CheckpointIndex`] at a tensor that one has and the other has not, or in another file.
    pub(super) fn check(&self, headers: &Headers) -> Result<(), Refusal> {
        let mut listed = vec![false; headers.tensors().len()];
        for (name, shard) in &self.entries {
            let refuse = |found: String| {
                let expected = format!("in {}", shown(shard));
                Place::file(self.file).tensor(name).refuse(
                    Code::CheckpointIndex,
                    "it is not where the index says",
                    expected,
                    found,
                )
            };
            let Some(id) = headers.find(name) else { return Err(refuse("in no shard".to_owned())) };
            let file = &headers.files()[headers.file_of(id).0 as usize];
            if file != shard {
                return Err(refuse(format!("in {file}")));
            }
            if std::mem::replace(&mut listed[id.index()], true) {
                let place = Place::file(self.file).tensor(name);
                return Err(place.refuse(Code::CheckpointIndex, "the index lists it twice", "once", "twice"));
            }
        }
        match headers.ids().find(|id| !listed[id.index()]) {
            Some(id) => {
                let expected = format!("an entry in {}", self.file);
                Err(headers
                    .place(id)
                    .refuse(Code::CheckpointIndex, "the index does not list it", expected, "none")
                    .help("index and shards are of two checkpoints, or one of them was changed"))
            }
            None => Ok(()),
        }
    }
}

#[derive(Deserialize)]
struct Raw {
    #[serde(default, rename = "metadata")]
    _metadata: Option<IgnoredAny>,
    weight_map: Entries,
}

/// The map's entries in the order of the text; one that is there twice is kept twice.
struct Entries(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = Entries;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of tensor and file names")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Map)
    }
}
