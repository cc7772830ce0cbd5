//! A table `[facts.FIELD]` to a [`Fact`]: value, unit, provenance, citation and note, or what is wrong with each.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Keys, Reading, SOURCE_KEYS, did_you_mean};
use crate::Code;
use crate::chip::fact::{Fact, Provenance, Source, Value};
use crate::chip::field::{Field, Form};
use crate::chip::precision::Precision;
use crate::chip::toml::{Offset, Value as Read};
use crate::refusal::nearest;

const VALUE: &str = "value";
const UNIT: &str = "unit";
const PROVENANCE: &str = "provenance";
const CITE: &str = "cite";
const NOTE: &str = "note";

/// Sources by key; none where one is unsound, which has been told.
pub(super) type Sources<'t> = BTreeMap<&'t str, Option<Arc<Source>>>;

/// Facts with the places of their values, and the fields that have a table, sound or not.
#[derive(Default)]
pub(super) struct Facts {
    pub(super) facts: Vec<(Fact, Offset)>,
    pub(super) seen: Vec<Field>,
}

impl<'t> Reading<'t> {
    /// Reads the table of a fact.
    pub(super) fn fact(
        &mut self,
        name: &'t str,
        name_at: Offset,
        mut keys: Keys<'_, 't>,
        sources: &Sources<'t>,
        facts: &mut Facts,
    ) {
        let Some(field) = Field::from_name(name) else {
            let near = nearest(name, Field::ALL.iter().map(|field| field.as_str()));
            // What was meant is not reported as missing as well.
            facts.seen.extend(near.and_then(Field::from_name));
            let help = near.map(|near| format!("did you mean `{near}`?"));
            let help = help.unwrap_or_else(|| "logos-core/chips/README.md lists the fields".to_owned());
            self.refuse(Code::ChipUnknownField, name_at, format!("unknown field `{name}`"), help);
            return;
        };
        if facts.seen.contains(&field) {
            self.refuse(Code::ChipSyntax, name_at, format!("`{field}` is stated twice"), "leave one of the two out");
            return;
        }
        facts.seen.push(field);
        self.known_keys(&mut keys, &[VALUE, UNIT, PROVENANCE, CITE, NOTE], "of a fact");
        let value = self.value(field, &keys);
        let unit = self.unit(field, &keys);
        let provenance = self.provenance(field, &keys);
        let cite = self.cite(field, &keys, sources);
        let note = self.note(field, &keys, provenance);
        if let (Some((value, at)), Some(()), Some(provenance), Some(cite), Some(note)) =
            (value, unit, provenance, cite, note)
        {
            facts.facts.push((Fact { field, value, provenance, cite, note }, at));
        }
    }

    fn value(&mut self, field: Field, keys: &Keys<'_, 't>) -> Option<(Value, Offset)> {
        let Some(entry) = keys.get(VALUE) else {
            let help = format!("add `value = …`: {}", meaning(field));
            self.lacks(keys, Code::ChipUnlabelled, format!("`{field}` has no value"), help);
            return None;
        };
        let value = match (field.form(), &entry.value) {
            (Form::Number { least, most }, Read::Number(n)) => {
                if !(least..=most).contains(n) {
                    let message = format!("`{field}` is out of range: {n} {}", field.unit());
                    let help = format!("write a whole number from {least} to {most}: {}", meaning(field));
                    self.refuse(Code::ChipFigure, entry.value_at, message, help);
                    return None;
                }
                Value::Number(*n)
            }
            (Form::Text, Read::Text(_)) => Value::Text(self.text_of(entry)?),
            (Form::List, Read::List(names)) => Value::List(self.precisions(field, entry.value_at, names)?),
            (form @ (Form::Number { .. } | Form::Text | Form::List), _) => {
                let expected = match form {
                    Form::Number { .. } => "a whole number",
                    Form::Text => "a text",
                    Form::List => "a list of texts",
                };
                let message = format!("the value of `{field}` is not {expected}");
                self.refuse(Code::ChipFigure, entry.value_at, message, format!("write {expected}: {}", meaning(field)));
                return None;
            }
        };
        Some((value, entry.value_at))
    }

    fn precisions(&mut self, field: Field, at: Offset, names: &[(Offset, Cow<'t, str>)]) -> Option<Vec<String>> {
        let known = Precision::ALL.map(Precision::as_str);
        let before = self.refusals.len();
        if names.is_empty() {
            let help = format!("list some of {}, or leave the fact out", known.join(", "));
            self.refuse(Code::ChipFigure, at, format!("`{field}` is empty"), help);
        }
        for (i, (at, name)) in names.iter().enumerate() {
            if Precision::from_name(name).is_none() {
                let message = format!("unknown number format `{}`", name.escape_debug());
                self.refuse(Code::ChipUnknownField, *at, message, did_you_mean(name, &known));
            } else if names[..i].iter().any(|(_, earlier)| earlier == name) {
                self.refuse(Code::ChipFigure, *at, format!("`{name}` is listed twice"), "leave one of the two out");
            }
        }
        (self.refusals.len() == before).then(|| names.iter().map(|(_, name)| name.clone().into_owned()).collect())
    }

    fn unit(&mut self, field: Field, keys: &Keys<'_, 't>) -> Option<()> {
        let help = || format!("write `unit = \"{}\"`, and the value in it", field.unit());
        let Some(entry) = keys.get(UNIT) else {
            self.lacks(keys, Code::ChipUnlabelled, format!("`{field}` has no unit"), help());
            return None;
        };
        let message = match &entry.value {
            Read::Text(unit) if unit == field.unit() => return Some(()),
            Read::Text(unit) => format!("the unit of `{field}` is {}, not {}", field.unit(), unit.escape_debug()),
            Read::Number(_) | Read::List(_) => format!("the unit of `{field}` is not a text"),
        };
        self.refuse(Code::ChipUnlabelled, entry.value_at, message, help());
        None
    }

    fn provenance(&mut self, field: Field, keys: &Keys<'_, 't>) -> Option<Provenance> {
        let help = || {
            let known = Provenance::ALL.map(Provenance::as_str).join(", ");
            format!("write `provenance = \"…\"`, one of {known}")
        };
        let Some(entry) = keys.get(PROVENANCE) else {
            let message = format!("`{field}` has no provenance: nobody can tell where its figure comes from");
            self.lacks(keys, Code::ChipUnlabelled, message, help());
            return None;
        };
        let message = match &entry.value {
            Read::Text(label) => match Provenance::from_name(label) {
                Some(provenance) => return Some(provenance),
                None => format!("`{}` is no provenance", label.escape_debug()),
            },
            Read::Number(_) | Read::List(_) => format!("the provenance of `{field}` is not a text"),
        };
        self.refuse(Code::ChipUnlabelled, entry.value_at, message, help());
        None
    }

    fn cite(&mut self, field: Field, keys: &Keys<'_, 't>, sources: &Sources<'t>) -> Option<Vec<Arc<Source>>> {
        const HELP: &str = "write `cite = [\"KEY\"]`, and describe the source in `[sources.KEY]`";
        let Some(entry) = keys.get(CITE) else {
            self.lacks(keys, Code::ChipUnlabelled, format!("`{field}` has no citation"), HELP);
            return None;
        };
        let cited = match &entry.value {
            Read::List(cited) if !cited.is_empty() => cited,
            Read::List(_) => {
                self.refuse(Code::ChipUnlabelled, entry.value_at, format!("`{field}` cites nothing"), HELP);
                return None;
            }
            Read::Number(_) | Read::Text(_) => {
                self.refuse(Code::ChipUnlabelled, entry.value_at, format!("what `{field}` cites is not a list"), HELP);
                return None;
            }
        };
        let mut found = Vec::with_capacity(cited.len());
        for (at, key) in cited {
            if let Some(source) = sources.get(key.as_ref()) {
                found.extend(source.clone());
                continue;
            }
            let message = format!("`{field}` cites `{}`, which is not described", key.escape_debug());
            let help = match nearest(key, sources.keys().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("add `[sources.KEY]` with {}", SOURCE_KEYS.join(", ")),
            };
            self.refuse(Code::ChipUnlabelled, *at, message, help);
        }
        // Where one of them is unsound, that has been told.
        (found.len() == cited.len()).then_some(found)
    }

    fn note(&mut self, field: Field, keys: &Keys<'_, 't>, provenance: Option<Provenance>) -> Option<String> {
        if let Some(entry) = keys.get(NOTE) {
            return self.text_of(entry);
        }
        let why = match provenance {
            Some(Provenance::Published) | None => return Some(String::new()),
            Some(Provenance::Derived) => "by what arithmetic",
            Some(Provenance::Modeled) => "why it was chosen so",
            Some(Provenance::Measured) => "what was run",
        };
        let message = format!("`{field}` does not say {why}");
        self.lacks(keys, Code::ChipUnlabelled, message, "add `note = \"…\"`; a published figure needs none");
        None
    }
}

/// What a field means, to go inside a sentence.
pub(super) fn meaning(field: Field) -> &'static str {
    field.meaning().trim().trim_end_matches('.')
}
