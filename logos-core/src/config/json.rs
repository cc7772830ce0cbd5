//! Bytes to a JSON object, strictly: what `serde_json` would let pass in silence (a key given twice) is refused.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::{At, Code, Refusal};

/// Most bytes a config may have. Released ones have a few thousand; the largest, with a label a class, some hundred thousand.
pub(super) const MAX_BYTES: usize = 4 << 20;

/// Most keys given twice that are refused one by one: the first few tell what went wrong.
const MOST_TWICE: usize = 16;

/// Parses the bytes of a config into its object.
pub(super) fn parse(bytes: &[u8]) -> Result<Map<String, Value>, Vec<Refusal>> {
    let syntax = |message: String| {
        vec![
            Refusal::new(Code::ConfigSyntax, At::Model, message)
                .help("name the model's config.json, as it was released"),
        ]
    };
    if bytes.len() > MAX_BYTES {
        return Err(syntax(format!(
            "the config has {} bytes, expected at most {MAX_BYTES}: a config.json is a few thousand",
            bytes.len()
        )));
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(syntax("the config is empty, expected a JSON object".to_owned()));
    }
    if bytes.starts_with(b"\xEF\xBB\xBF") || bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
        let message = "the config begins with a byte order mark, which JSON does not allow".to_owned();
        return Err(syntax(message).into_iter().map(|refusal| refusal.help("save it as UTF-8 without one")).collect());
    }
    let mut reader = Strict { path: String::new(), twice: Vec::new() };
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = (Nested { reader: &mut reader })
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| syntax(describe(&error)))?;
    if !reader.twice.is_empty() {
        return Err(reader.twice.into_iter().map(given_twice).collect());
    }
    match value {
        Value::Object(object) => Ok(object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(syntax(format!("the config is {}, expected a JSON object", super::keys::shown(&value))))
        }
    }
}

fn given_twice(path: String) -> Refusal {
    let message = format!("`{path}` is given twice, expected once");
    Refusal::new(Code::ConfigConflict, At::ConfigKey(path), message).help("keep one of the two")
}

/// The parser's error in our words, with its line and column.
fn describe(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    if error.is_eof() {
        return format!("the config is cut off at line {line}, column {column}");
    }
    // The library appends the place to its message; ours comes first, so the tail is dropped.
    let text = error.to_string();
    let reason = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text);
    format!("the config is not JSON at line {line}, column {column}: {reason}")
}

/// Where the parser is, and which keys it has met twice.
struct Strict {
    path: String,
    twice: Vec<String>,
}

/// A value within the one `reader` is at.
struct Nested<'a> {
    reader: &'a mut Strict,
}

impl<'de> DeserializeSeed<'de> for Nested<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Nested<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Nested { reader: &mut *self.reader })? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        let outer = self.reader.path.len();
        while let Some(key) = entries.next_key::<String>()? {
            if outer > 0 {
                self.reader.path.push('.');
            }
            self.reader.path.push_str(&key);
            let known = self.reader.twice.len() >= MOST_TWICE || self.reader.twice.contains(&self.reader.path);
            if !known && object.contains_key(&key) {
                self.reader.twice.push(self.reader.path.clone());
            }
            let value = entries.next_value_seed(Nested { reader: &mut *self.reader })?;
            self.reader.path.truncate(outer);
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}
