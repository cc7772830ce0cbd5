//! Descriptions: what the headers of a checkpoint say, as a small text to be kept beside a model's config, so that a build needs no
//! checkpoint. The same checkpoint gives the same text, byte by byte.
//!
//! ```json
//! {
//!   "format": "logos.checkpoint", "version": 1,
//!   "tensors": [
//!     {"name":"lm_head.weight","storage":"BF16","shape":[128256,4096]},
//!     {"name":"model.layers.{}.mlp.up_proj.weight","storage":"BF16","shape":[14336,4096],"at":[[[0,31]]]}
//!   ]
//! }
//! ```
//! A row with `at` stands for many tensors: each box of `at` has a first and a last number for every `{}` of the name, and all numbers
//! within are meant. A GGUF file's names mean what its architecture says, so that and the sizes it goes by are there under `gguf`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::fault::{Place, parse_error, shown};
use super::gguf::GgufNames;
use super::headers::{Headers, StoredTensor};
use super::storage::Storage;
use crate::{Code, Refusal};

const FORMAT: &str = "logos.checkpoint";
const VERSION: u64 = 1;

/// Most tensors a description may stand for: seven times those of the largest released checkpoint.
const MAX_TENSORS: usize = 1_000_000;
/// Most bytes of their names together.
const MAX_NAMES: usize = 128 << 20;
/// Most numbers of a name.
const MAX_NUMBERS: usize = 4;
/// Most axes of a tensor.
const MAX_AXES: usize = 8;

/// For each of some names its numbers.
type Numbers = Vec<Vec<u32>>;

/// A first and a last number.
type Span = [u32; 2];

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    storage: String,
    shape: Vec<u64>,
    /// Boxes: for each `{}` a span.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<Vec<Vec<Span>>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Gguf {
    architecture: String,
    sizes: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    version: u64,
    gguf: Option<Gguf>,
    tensors: Vec<Row>,
}

impl Headers {
    /// The headers as a description.
    pub fn describe(&self) -> String {
        let mut rows = BTreeMap::<(String, Storage, &[u64]), Numbers>::new();
        for tensor in self.tensors() {
            let (name, numbers) = template(&tensor.name);
            rows.entry((name, tensor.storage, &tensor.shape)).or_default().push(numbers);
        }
        let mut text = format!("{{\n  \"format\": {FORMAT:?}, \"version\": {VERSION},\n");
        if let Some(names) = self.gguf() {
            let sizes = names.parts().into_iter().map(|(key, size)| (key.to_owned(), size)).collect();
            let gguf = Gguf { architecture: names.architecture().to_owned(), sizes };
            let _ = writeln!(text, "  \"gguf\": {},", json(&gguf));
        }
        text.push_str("  \"tensors\": [");
        for (i, ((name, storage, shape), mut numbers)) in rows.into_iter().enumerate() {
            numbers.sort();
            let at = (!numbers[0].is_empty()).then(|| boxes(&numbers, 0));
            let row = Row { name, storage: storage.as_str().to_owned(), shape: shape.to_vec(), at };
            let _ = write!(text, "{}\n    {}", if i == 0 { "" } else { "," }, json(&row));
        }
        text.push_str("\n  ]\n}\n");
        text
    }

    /// Headers from a description; `file` is its name.
    ///
    /// # Errors
    /// [`Code::CheckpointDescription`] where it is none, [`Code::CheckpointHeader`] where two of its tensors share a name.
    pub fn from_description(file: &str, text: &[u8]) -> Result<Headers, Refusal> {
        let place = Place::file(file);
        let document: Document = serde_json::from_slice(text).map_err(|error| {
            let expected = "what `cargo logos describe` writes";
            place.refuse(Code::CheckpointDescription, "the description does not parse", expected, parse_error(&error))
        })?;
        if (document.format.as_str(), document.version) != (FORMAT, VERSION) {
            let found = format!("{}, version {}", shown(&document.format), document.version);
            let expected = format!("{FORMAT}, version {VERSION}");
            return Err(place
                .refuse(Code::CheckpointDescription, "it is another format", expected, found)
                .help("describe the checkpoint again with `cargo logos describe`"));
        }
        let (mut tensors, mut room) = (Vec::new(), MAX_NAMES);
        for row in document.tensors {
            expand(place, row, &mut tensors, &mut room)?;
        }
        let headers = Headers::new(vec![(file.to_owned(), tensors)])?;
        Ok(match document.gguf {
            None => headers,
            Some(Gguf { architecture, sizes }) => {
                headers.with_gguf(GgufNames::from_parts(place, &architecture, |key| sizes.get(key).copied())?)
            }
        })
    }
}

/// JSON of what is made of strings and numbers.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// A name with `{}` for each number between its dots, and the numbers. A name that cannot be put together again has none.
fn template(name: &str) -> (String, Vec<u32>) {
    let mut numbers = Vec::new();
    let parts: Vec<&str> = name
        .split('.')
        .map(|part| match part.parse::<u32>() {
            Ok(number) if number.to_string() == part => {
                numbers.push(number);
                "{}"
            }
            Ok(_) | Err(_) => part,
        })
        .collect();
    if numbers.is_empty() || numbers.len() > MAX_NUMBERS || name.contains("{}") {
        return (name.to_owned(), Vec::new());
    }
    (parts.join("."), numbers)
}

/// The fewest boxes, by the axes in order, that hold exactly these sorted lists of numbers, from number `axis` of each on.
fn boxes(numbers: &[Vec<u32>], axis: usize) -> Vec<Vec<Span>> {
    if numbers.first().is_none_or(|list| list.len() == axis) {
        return vec![Vec::new()];
    }
    let mut spans: Vec<(Span, Vec<Vec<Span>>)> = Vec::new();
    for same in numbers.chunk_by(|a, b| a[axis] == b[axis]) {
        let (number, inner) = (same[0][axis], boxes(same, axis + 1));
        match spans.last_mut() {
            Some((span, known)) if span[1].checked_add(1) == Some(number) && *known == inner => span[1] = number,
            Some(_) | None => spans.push(([number; 2], inner)),
        }
    }
    let whole = |(span, inner): (Span, Vec<Vec<Span>>)| {
        inner.into_iter().map(move |rest| std::iter::once(span).chain(rest).collect())
    };
    spans.into_iter().flat_map(whole).collect()
}

/// The tensors a row stands for.
fn expand(place: Place<'_>, row: Row, tensors: &mut Vec<StoredTensor>, room: &mut usize) -> Result<(), Refusal> {
    let place = place.tensor(&row.name);
    let refuse = |what: &str, expected: &str, found: String| {
        Err(place.refuse(Code::CheckpointDescription, what, expected, found))
    };
    let Some(storage) = Storage::from_name(&row.storage) else {
        return refuse("its storage is not known", "a storage of safetensors or ggml", shown(&row.storage));
    };
    let elements = row.shape.iter().try_fold(1u64, |product, &axis| product.checked_mul(axis));
    if row.shape.len() > MAX_AXES || elements.and_then(|count| storage.bytes(count)).is_none() {
        let found = format!("{storage} with {} axes", row.shape.len());
        return refuse("its shape has no size", "at most 8 axes of whole blocks, fewer than 2^64 bytes", found);
    }
    let mut push = |name: String| {
        match room.checked_sub(name.len()).filter(|_| tensors.len() < MAX_TENSORS) {
            Some(left) => *room = left,
            None => {
                return refuse("the description stands for too much", "a million tensors or fewer", "more".to_owned());
            }
        }
        tensors.push(StoredTensor { name, shape: row.shape.clone(), storage });
        Ok(())
    };
    let Some(boxes) = &row.at else { return push(row.name.clone()) };
    let parts: Vec<&str> = row.name.split("{}").collect();
    for spans in boxes {
        let fits = spans.len() + 1 == parts.len() && spans.iter().all(|[first, last]| first <= last);
        if !fits || spans.is_empty() || spans.len() > MAX_NUMBERS {
            let expected = "a first and a last number for each `{}` of the name";
            return refuse("a box of `at` does not fit its name", expected, format!("{} spans", spans.len()));
        }
        let mut numbers: Vec<u32> = spans.iter().map(|[first, _]| *first).collect();
        loop {
            let mut name = parts[0].to_owned();
            for (number, part) in numbers.iter().zip(&parts[1..]) {
                let _ = write!(name, "{number}{part}");
            }
            push(name)?;
            // The next one in order, the last number first.
            let Some(axis) = (0..spans.len()).rev().find(|&axis| numbers[axis] < spans[axis][1]) else { break };
            numbers[axis] += 1;
            for (number, [first, _]) in numbers.iter_mut().zip(spans).skip(axis + 1) {
                *number = *first;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::super::fault::Place;
    use super::*;

    fn tensor(name: impl Into<String>, storage: Storage, shape: &[u64]) -> StoredTensor {
        StoredTensor { name: name.into(), storage, shape: shape.to_vec() }
    }

    fn sorted(headers: &Headers) -> Vec<StoredTensor> {
        let mut tensors = headers.tensors().to_vec();
        tensors.sort();
        tensors
    }

    #[test]
    fn layers_and_experts_are_a_row() {
        let mut tensors = vec![tensor("lm_head.weight", Storage::Bf16, &[8, 4])];
        for layer in (0..12).rev() {
            tensors.push(tensor(format!("model.layers.{layer}.norm.weight"), Storage::Bf16, &[4]));
            for expert in 0..if layer == 5 { 3 } else { 16 } {
                tensors.push(tensor(format!("model.layers.{layer}.mlp.experts.{expert}.w1"), Storage::F8E4M3, &[4, 4]));
            }
        }
        // One that is not stored as the others.
        tensors[1].storage = Storage::F32;
        tensors.push(tensor("odd.{}.007.name.1.2", Storage::F4, &[2]));
        let headers = Headers::new(vec![("model".to_owned(), tensors)]).unwrap();
        let text = headers.describe();
        expect![[r#"
            {
              "format": "logos.checkpoint", "version": 1,
              "tensors": [
                {"name":"lm_head.weight","storage":"BF16","shape":[8,4]},
                {"name":"model.layers.{}.mlp.experts.{}.w1","storage":"F8_E4M3","shape":[4,4],"at":[[[0,4],[0,15]],[[5,5],[0,2]],[[6,11],[0,15]]]},
                {"name":"model.layers.{}.norm.weight","storage":"F32","shape":[4],"at":[[[11,11]]]},
                {"name":"model.layers.{}.norm.weight","storage":"BF16","shape":[4],"at":[[[0,10]]]},
                {"name":"odd.{}.007.name.1.2","storage":"F4","shape":[2]}
              ]
            }
        "#]].assert_eq(&text);
        let back = Headers::from_description("d.json", text.as_bytes()).unwrap();
        assert_eq!(sorted(&back), sorted(&headers));
        assert_eq!(back.describe(), text);
    }

    #[test]
    fn the_names_of_gguf_mean_what_they_did() {
        let sizes = [
            ("attention.head_count", 4),
            ("attention.head_count_kv", 2),
            ("ssm.group_count", 2),
            ("ssm.time_step_rank", 6),
            ("ssm.state_size", 16),
            ("ssm.inner_size", 48),
        ];
        let number = |key: &str| sizes.iter().find(|(known, _)| *known == key).map(|(_, size)| *size);
        for architecture in ["llama", "qwen2", "qwen3", "gemma3", "qwen35"] {
            let names = GgufNames::from_parts(Place::file("m"), architecture, number).unwrap();
            let tensors = vec![tensor("blk.0.attn_q.weight", Storage::Q8_0, &[64, 32])];
            let headers = Headers::new(vec![("m".to_owned(), tensors)]).unwrap().with_gguf(names);
            let back = Headers::from_description("d.json", headers.describe().as_bytes()).unwrap();
            assert_eq!(back.gguf(), headers.gguf());
            assert!(back.gguf().is_some_and(|names| names.architecture() == architecture));
        }
    }

    #[track_caller]
    fn refused(tensors: &str, expect: Expect) {
        let text = format!(r#"{{"format": "logos.checkpoint", "version": 1, "tensors": [{tensors}]}}"#);
        let refusal = Headers::from_description("d.json", text.as_bytes()).unwrap_err();
        expect.assert_eq(&refusal.to_string());
    }

    #[test]
    fn what_is_no_description() {
        let parse = |text: &str| Headers::from_description("d.json", text.as_bytes()).unwrap_err().to_string();
        expect![[r#"
            LOGOS-CKPT-10: d.json: the description does not parse
              expected: what `cargo logos describe` writes
              found: EOF while parsing a value at line 1 column 0"#]]
        .assert_eq(&parse(""));
        expect![[r#"
            LOGOS-CKPT-10: d.json: the description does not parse
              expected: what `cargo logos describe` writes
              found: unknown field `weight_map`, expected one of `format`, `version`, `gguf`, `tensors` at line 1 column 13"#]].assert_eq(&parse(r#"{"weight_map": {}}"#));
        expect![[r#"
            LOGOS-CKPT-10: d.json: it is another format
              expected: logos.checkpoint, version 1
              found: logos.checkpoint, version 2
              help: describe the checkpoint again with `cargo logos describe`"#]]
        .assert_eq(&parse(r#"{"format": "logos.checkpoint", "version": 2, "tensors": []}"#));
        refused(
            r#"{"name": "a", "storage": "Q9", "shape": []}"#,
            expect![[r#"
            LOGOS-CKPT-10: tensor `a` of d.json: its storage is not known
              expected: a storage of safetensors or ggml
              found: Q9"#]],
        );
        refused(
            r#"{"name": "a", "storage": "F32", "shape": [4294967296, 4294967296]}"#,
            expect![[r#"
            LOGOS-CKPT-10: tensor `a` of d.json: its shape has no size
              expected: at most 8 axes of whole blocks, fewer than 2^64 bytes
              found: F32 with 2 axes"#]],
        );
        refused(
            r#"{"name": "a", "storage": "F32", "shape": [1], "at": [[]]}"#,
            expect![[r#"
            LOGOS-CKPT-10: tensor `a` of d.json: a box of `at` does not fit its name
              expected: a first and a last number for each `{}` of the name
              found: 0 spans"#]],
        );
        refused(
            r#"{"name": "a.{}", "storage": "F32", "shape": [1], "at": [[[2, 1]]]}"#,
            expect![[r#"
            LOGOS-CKPT-10: tensor `a.{}` of d.json: a box of `at` does not fit its name
              expected: a first and a last number for each `{}` of the name
              found: 1 spans"#]],
        );
        refused(
            r#"{"name": "a.{}", "storage": "F32", "shape": [1], "at": [[[0, 3]], [[3, 4]]]}"#,
            expect![[r#"
            LOGOS-CKPT-02: tensor `a.3` of d.json: its name is there twice
              expected: one tensor
              found: another in d.json"#]],
        );
        refused(
            r#"{"name": "a.{}.{}", "storage": "F32", "shape": [1], "at": [[[0, 4294967295], [0, 4294967295]]]}"#,
            expect![[r#"
                LOGOS-CKPT-10: tensor `a.{}.{}` of d.json: the description stands for too much
                  expected: a million tensors or fewer
                  found: more"#]],
        );
    }
}
