//! JSON for people: what fits a line stands on one, all else is broken and indented.

use std::fmt::Write;

use serde_json::Value;

/// Widest line that a list or an object is not broken for, in bytes.
///
/// Source: ours, the width of a row of a document's longest table.
const WIDTH: usize = 180;

/// A document's text, ending in one newline. Its outermost object is always broken.
pub(super) fn pretty(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Object(_) | Value::Array(_) => block(&mut text, value, 0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => scalar(&mut text, value),
    }
    text.push('\n');
    text
}

/// A value on one line if that is no longer than a line, else broken.
fn write(text: &mut String, value: &Value, depth: usize) {
    let start = text.len();
    let room = WIDTH.saturating_sub(2 * depth);
    if !line(text, value, start.saturating_add(room)) {
        text.truncate(start);
        block(text, value, depth);
    }
}

/// A list or an object, an item a line.
fn block(text: &mut String, value: &Value, depth: usize) {
    let item = |text: &mut String, first: bool, name: Option<&str>, value: &Value| {
        text.push_str(if first { "\n" } else { ",\n" });
        indent(text, depth + 1);
        if let Some(name) = name {
            quote(text, name);
            text.push_str(": ");
        }
        write(text, value, depth + 1);
    };
    let close = match value {
        Value::Array(items) => {
            text.push('[');
            items.iter().enumerate().for_each(|(at, value)| item(text, at == 0, None, value));
            ']'
        }
        Value::Object(members) => {
            text.push('{');
            members.iter().enumerate().for_each(|(at, (name, value))| item(text, at == 0, Some(name), value));
            '}'
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return scalar(text, value),
    };
    text.push('\n');
    indent(text, depth);
    text.push(close);
}

fn indent(text: &mut String, depth: usize) {
    text.extend(std::iter::repeat_n("  ", depth));
}

/// The value on one line, with a space after each comma and colon. False as soon as it is longer than `end` bytes of text, unless it is a
/// scalar, which cannot be broken.
fn line(text: &mut String, value: &Value, end: usize) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            scalar(text, value);
            true
        }
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { ", " });
                if !line(text, item, end) || text.len() > end {
                    return false;
                }
            }
            text.push(']');
            text.len() <= end
        }
        Value::Object(members) => {
            text.push('{');
            for (at, (name, item)) in members.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { ", " });
                quote(text, name);
                text.push_str(": ");
                if !line(text, item, end) || text.len() > end {
                    return false;
                }
            }
            text.push('}');
            text.len() <= end
        }
    }
}

fn scalar(text: &mut String, value: &Value) {
    match value {
        Value::String(string) => quote(text, string),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            // Writing to a string cannot fail.
            let _ = write!(text, "{value}");
        }
    }
}

/// A string as JSON has it; most have nothing to escape.
fn quote(text: &mut String, string: &str) {
    if string.bytes().any(|byte| byte == b'"' || byte == b'\\' || byte < b' ') {
        let _ = write!(text, "{}", Value::String(string.to_owned()));
        return;
    }
    text.push('"');
    text.push_str(string);
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn what_fits_a_line_stands_on_one() {
        let long: Vec<String> = (0..12).map(|n| format!("a name of some length, number {n}")).collect();
        let value = json!({ "a": { "b": [1, 2.5, null], "c\"": true }, "long": long[..6], "empty": {} });
        expect![[r#"
            {
              "a": {"b": [1, 2.5, null], "c\"": true},
              "long": [
                "a name of some length, number 0",
                "a name of some length, number 1",
                "a name of some length, number 2",
                "a name of some length, number 3",
                "a name of some length, number 4",
                "a name of some length, number 5"
              ],
              "empty": {}
            }
        "#]]
        .assert_eq(&pretty(&value));
        assert_eq!(serde_json::from_str::<Value>(&pretty(&value)).unwrap(), value);
    }
}
