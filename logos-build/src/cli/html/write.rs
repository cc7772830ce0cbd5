//! Writing markup: elements that are always closed, text and attributes that are always escaped.

use std::fmt::{self, Display, Write};

/// A page in the making.
#[derive(Default)]
pub(super) struct Html {
    out: String,
}

/// An attribute: its name, and its value before escaping.
pub(super) type Attribute<'a> = (&'static str, &'a dyn Display);

impl Html {
    /// The page as far as it is written.
    pub(super) fn finish(self) -> String {
        self.out
    }

    /// Markup of our own.
    pub(super) fn markup(&mut self, markup: &'static str) {
        self.out.push_str(markup);
    }

    /// Text, escaped.
    pub(super) fn text(&mut self, text: impl Display) {
        escape(&mut self.out, &text);
    }

    /// An element with what `inside` writes in it.
    pub(super) fn element(&mut self, tag: &'static str, attributes: &[Attribute<'_>], inside: impl FnOnce(&mut Html)) {
        self.open(tag, attributes);
        self.out.push('>');
        inside(self);
        self.out.push_str("</");
        self.out.push_str(tag);
        self.out.push('>');
    }

    /// An element with text in it.
    pub(super) fn texts(&mut self, tag: &'static str, attributes: &[Attribute<'_>], text: impl Display) {
        self.element(tag, attributes, |html| html.text(text));
    }

    /// An element with nothing in it.
    pub(super) fn leaf(&mut self, tag: &'static str, attributes: &[Attribute<'_>]) {
        self.open(tag, attributes);
        self.out.push_str("/>");
    }

    /// A new line: pages are read in editors too.
    pub(super) fn line(&mut self) {
        self.out.push('\n');
    }

    fn open(&mut self, tag: &'static str, attributes: &[Attribute<'_>]) {
        self.out.push('<');
        self.out.push_str(tag);
        for (name, value) in attributes {
            self.out.push(' ');
            self.out.push_str(name);
            self.out.push_str("=\"");
            escape(&mut self.out, value);
            self.out.push('"');
        }
    }
}

/// Writes a value so that it is neither markup nor the end of an attribute, and changes no other text's direction.
fn escape(out: &mut String, value: &dyn Display) {
    // Writing to a string does not fail.
    let _ = write!(Escaped(out), "{value}");
}

struct Escaped<'a>(&'a mut String);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\n' | '\t' => self.0.push(c),
                // Marks, embeddings, overrides and isolates of direction.
                '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => self.0.push('\u{fffd}'),
                c if c.is_control() => self.0.push('\u{fffd}'),
                c => self.0.push(c),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Html;

    #[test]
    fn text_and_attributes_are_escaped() {
        let mut html = Html::default();
        html.element("p", &[("title", &"\"><script>'&")], |html| html.text("</p><script>a\u{202e}b\0"));
        assert_eq!(
            html.finish(),
            "<p title=\"&quot;&gt;&lt;script&gt;&#39;&amp;\">&lt;/p&gt;&lt;script&gt;a\u{fffd}b\u{fffd}</p>"
        );
    }

    #[test]
    fn elements_are_closed() {
        let mut html = Html::default();
        html.element("ul", &[], |html| {
            html.texts("li", &[], 1);
            html.leaf("hr", &[]);
        });
        assert_eq!(html.finish(), "<ul><li>1</li><hr/></ul>");
    }
}
