//! Figures that say where they come from: on hover, and in a list at the end of the page.

use logos_core::fit::report::{Cited, Document, Label, ModelFit};

use super::bars::bytes;
use super::write::Html;
use crate::describe::grouped;

/// A figure's origin in words.
pub(super) struct Origin {
    /// `derived`, …
    pub(super) label: &'static str,
    /// How it follows, and from what.
    pub(super) how: String,
}

impl Origin {
    /// The origin of a figure of the document, by JSON pointer.
    pub(super) fn of(document: &Document<ModelFit>, pointer: &str) -> Option<Origin> {
        let row = document.provenance.of(pointer)?;
        let mut how = row.how.to_owned();
        let keys: Vec<&str> = row
            .config
            .iter()
            .filter_map(|group| document.provenance.keys.get(group))
            .flatten()
            .map(String::as_str)
            .collect();
        for (what, names) in [
            ("config keys", &keys),
            ("operations", &row.operations),
            ("chip facts", &row.facts),
            ("rows of the certificate", &row.certificate),
            ("asked for", &row.request),
        ] {
            if !names.is_empty() {
                how.push_str("; ");
                how.push_str(what);
                how.push_str(": ");
                how.push_str(&names.join(", "));
            }
        }
        Some(Origin { label: row.label.as_str(), how })
    }

    /// The origin of a fact of the chip.
    pub(super) fn fact<T>(document: &Document<ModelFit>, fact: &Cited<T>) -> Origin {
        let cites = &document.body.chip.cites;
        let sources: Vec<String> = fact
            .cite
            .split(", ")
            .map(|key| cites.get(key).map_or_else(|| key.to_owned(), |source| address_free(source)))
            .collect();
        Origin { label: fact.provenance.as_str(), how: sources.join("; ") }
    }

    /// A figure of the certified program, counted in cycles of the unit model.
    pub(super) fn modeled(how: &str) -> Origin {
        Origin { label: Label::Modeled.as_str(), how: how.to_owned() }
    }

    /// A figure that follows from the request and the programs.
    pub(super) fn derived(how: &str) -> Origin {
        Origin { label: Label::Derived.as_str(), how: how.to_owned() }
    }

    /// The same, with more digits before it.
    pub(super) fn prefixed(self, digits: &str) -> Origin {
        Origin { label: self.label, how: format!("{digits}; {}", self.how) }
    }

    /// The same, for another figure.
    pub(super) fn again(&self) -> Origin {
        Origin { label: self.label, how: self.how.clone() }
    }

    /// `derived: the sum of …`.
    pub(super) fn title(&self) -> String {
        format!("{}: {}", self.label, self.how)
    }
}

/// A source with its address as people say it: a page that fetches nothing has no address in it that a tool would follow.
pub(super) fn address_free(source: &str) -> String {
    source.replace("https://", "").replace("http://", "")
}

/// What the page has shown, for its list of origins.
#[derive(Default)]
pub(super) struct Shown {
    rows: Vec<(String, String, Origin)>,
}

impl Shown {
    /// Writes a figure that has its origin on hover, and keeps it for the list.
    pub(super) fn figure(&mut self, html: &mut Html, name: &str, value: &str, origin: Option<Origin>) {
        let Some(origin) = origin else {
            html.texts("span", &[("class", &"fig")], value);
            return;
        };
        html.texts("span", &[("class", &format!("fig {}", origin.label)), ("title", &origin.title())], value);
        if !self.rows.iter().any(|(known, of, _)| known == name && of == value) {
            self.rows.push((name.to_owned(), value.to_owned(), origin));
        }
    }

    /// Writes bytes in a unit of people's, with all their digits on hover and in the list.
    pub(super) fn bytes(&mut self, html: &mut Html, name: &str, n: u64, origin: Option<Origin>) {
        let origin = origin.map(|origin| origin.prefixed(&format!("{} bytes", grouped(n))));
        self.figure(html, name, &bytes(n), origin);
    }

    /// The list.
    pub(super) fn write(&self, html: &mut Html) {
        html.element("details", &[("class", &"origins")], |html| {
            html.texts("summary", &[], "Where every figure comes from");
            html.element("div", &[("class", &"scroll")], |html| {
                html.element("table", &[], |html| {
                    html.element("thead", &[], |html| {
                        html.element("tr", &[], |html| {
                            for head in ["figure", "value", "label", "how it is known"] {
                                html.texts("th", &[("scope", &"col")], head);
                            }
                        });
                    });
                    html.element("tbody", &[], |html| {
                        for (name, value, origin) in &self.rows {
                            html.element("tr", &[], |html| {
                                html.texts("th", &[("scope", &"row")], name);
                                html.texts("td", &[("class", &"number")], value);
                                html.texts("td", &[], origin.label);
                                html.texts("td", &[], &origin.how);
                            });
                            html.line();
                        }
                    });
                });
            });
        });
        html.line();
    }
}
