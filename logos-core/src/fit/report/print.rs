//! JSON for people: what fits a line stands on one, all else is broken and indented.

use serde_json::Value;

/// Widest line that a list or an object is not broken for, in bytes.
///
/// Source: ours, the width of a row of a document's longest table.
const WIDTH: usize = 180;

/// A document's text, ending in one newline. Its outermost object is always broken.
pub(super) fn pretty(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value, 0, true);
    text.push('\n');
    text
}

fn write(text: &mut String, value: &Value, depth: usize, broken: bool) {
    let line = || flat(value);
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => text.push_str(&line()),
        Value::Array(items) => {
            let whole = if broken { None } else { within(value, depth) };
            match whole {
                Some(line) => text.push_str(&line),
                None => block(text, depth, ('[', ']'), items.iter().map(|item| (None, item))),
            }
        }
        Value::Object(members) => {
            let whole = if broken { None } else { within(value, depth) };
            match whole {
                Some(line) => text.push_str(&line),
                None => block(text, depth, ('{', '}'), members.iter().map(|(name, item)| (Some(name), item))),
            }
        }
    }
}

fn block<'v>(
    text: &mut String,
    depth: usize,
    (open, close): (char, char),
    items: impl Iterator<Item = (Option<&'v String>, &'v Value)>,
) {
    text.push(open);
    let mut first = true;
    for (name, item) in items {
        text.push_str(if first { "\n" } else { ",\n" });
        first = false;
        indent(text, depth + 1);
        if let Some(name) = name {
            text.push_str(&flat(&Value::String(name.clone())));
            text.push_str(": ");
        }
        write(text, item, depth + 1, false);
    }
    text.push('\n');
    indent(text, depth);
    text.push(close);
}

fn indent(text: &mut String, depth: usize) {
    text.extend(std::iter::repeat_n("  ", depth));
}

/// The value on one line, if it is no longer than a line.
fn within(value: &Value, depth: usize) -> Option<String> {
    let room = WIDTH.saturating_sub(2 * depth);
    if least(value, room)? > room {
        return None;
    }
    Some(flat(value)).filter(|line| line.len() <= room)
}

/// Least bytes of the value on one line; none as soon as they are more than `room`.
fn least(value: &Value, room: usize) -> Option<usize> {
    let sum = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => {
            items.iter().try_fold(2, |sum, item| Some(sum + least(item, room.checked_sub(sum)?)?))?
        }
        Value::Object(members) => members.iter().try_fold(2, |sum, (name, item)| {
            let sum = sum + name.len() + 2;
            Some(sum + least(item, room.checked_sub(sum)?)?)
        })?,
    };
    Some(sum).filter(|&sum| sum <= room)
}

/// On one line, with a space after each comma and colon.
fn flat(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(flat).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(name, item)| format!("{}: {}", Value::String(name.clone()), flat(item))).collect();
            format!("{{{}}}", members.join(", "))
        }
    }
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
