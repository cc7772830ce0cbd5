//! A program as text.

use std::fmt::{self, Write};

use super::ast::{
    Axis, Element, Origin, Program, Recipe, Role, RopePart, RopeTable, Sharding, Statement, Storage, Value, ValueId,
};
use crate::ops::form::{AttributeKind, Form, MAX_OPERANDS, Piece};
use crate::spec::Scaling;

/// The text of a program: a heading, a sentence a line, a line feed last.
pub fn print(program: &Program) -> String {
    // A sentence of a layer is about sixty letters.
    let mut text = String::with_capacity(64 * (program.values.len() + program.statements.len()));
    // Writing to a string cannot fail.
    let _ = write_program(&mut text, program);
    text
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self))
    }
}

fn write_program(text: &mut String, program: &Program) -> fmt::Result {
    match program.chips {
        1 => text.push_str("## Main\n"),
        chips => writeln!(text, "## Main over {chips} chips")?,
    }
    writeln!(text, "Activations are {}.", program.activations.as_str())?;
    for value in &program.values {
        if let Origin::Declared(role) = &value.origin {
            write_declaration(text, program, value, role)?;
        }
    }
    for statement in &program.statements {
        write_statement(text, program, statement)?;
    }
    Ok(())
}

fn write_declaration(text: &mut String, program: &Program, value: &Value, role: &Role) -> fmt::Result {
    text.push_str("Let ");
    text.push_str(&value.name);
    text.push_str(" be ");
    match role {
        Role::State => write!(text, "{} of ", value.shape.seqs)?,
        Role::Weight if value.shape.seqs != 1 => write!(text, "{} of ", value.shape.seqs)?,
        Role::Input | Role::Weight | Role::Table(_) => text.push_str(article(value.shape.rows)),
    }
    write!(text, "{} by {} {} of ", value.shape.rows, value.shape.cols, role_word(role))?;
    text.push_str(match value.element {
        Element::Real => "Real",
        Element::Int => "Int",
    });
    let default = match value.element {
        Element::Int => value.storage == Storage::I32,
        Element::Real => *role == Role::Input && value.storage == program.activations,
    };
    if !default {
        text.push_str(", stored ");
        text.push_str(value.storage.as_str());
    }
    match value.sharding {
        Sharding::Whole => {}
        Sharding::Partial => text.push_str(", partial"),
        Sharding::Split { axis, parts } => {
            text.push_str(match axis {
                Axis::Rows => ", split rows",
                Axis::Columns => ", split columns",
                Axis::Experts => ", split experts",
            });
            if parts != program.chips {
                write!(text, " {parts} {}", if parts == 1 { "way" } else { "ways" })?;
            }
        }
    }
    match role {
        Role::Table(Recipe::Rope(table)) => write_table(text, table)?,
        Role::Table(Recipe::Temperature(temperature)) => {
            let [scale, floor] = [temperature.scale, temperature.floor].map(real);
            write!(text, ", temperature of scale {scale}, floor {floor}")?;
        }
        Role::Input | Role::Weight | Role::State => {}
    }
    text.push_str(".\n");
    Ok(())
}

/// `a` or `an` before a number as it is read aloud: eight, eighty, eight thousand, eleven, eighteen thousand.
fn article(number: u32) -> &'static str {
    let mut group = number;
    while group >= 1000 {
        group /= 1000;
    }
    match group {
        8 | 11 | 18 | 80..=89 | 800..=899 => "an ",
        _ => "a ",
    }
}

/// A role as the text writes it.
pub(super) fn role_word(role: &Role) -> &'static str {
    match role {
        Role::Input => "input",
        Role::Weight => "weight",
        Role::State => "state",
        Role::Table(_) => "table",
    }
}

fn write_table(text: &mut String, table: &RopeTable) -> fmt::Result {
    let part = match table.part {
        RopePart::Cos => "cosines",
        RopePart::Sin => "sines",
    };
    write!(text, ", {part} of theta {}, rotary {}", shortest(format!("{:?}", table.theta)), table.rotary)?;
    match &table.scaling {
        Scaling::None => Ok(()),
        Scaling::Linear { factor } => write!(text, ", linear factor {}", real(*factor)),
        Scaling::Dynamic { factor, original } => {
            write!(text, ", dynamic factor {}, original {original}", real(*factor))
        }
        Scaling::Llama3 { factor, low, high, original } => {
            let [factor, low, high] = [factor, low, high].map(|x| real(*x));
            write!(text, ", llama3 factor {factor}, low {low}, high {high}, original {original}")
        }
        Scaling::Yarn { factor, beta_fast, beta_slow, original, truncate, attention_factor } => {
            let [factor, fast, slow, attention] = [factor, beta_fast, beta_slow, attention_factor].map(|x| real(*x));
            write!(text, ", yarn factor {factor}, beta fast {fast}, beta slow {slow}, original {original}")?;
            text.push_str(if *truncate { ", truncated" } else { "" });
            write!(text, ", attention factor {attention}")
        }
        Scaling::LongRope { short, long, original, attention_factor } => {
            text.push_str(", longrope short");
            write_list(text, short);
            text.push_str(", long");
            write_list(text, long);
            write!(text, ", original {original}, attention factor {}", real(*attention_factor))
        }
    }
}

fn write_list(text: &mut String, list: &[f32]) {
    for x in list {
        text.push(' ');
        text.push_str(&real(*x));
    }
}

fn write_statement(text: &mut String, program: &Program, statement: &Statement) -> fmt::Result {
    let name = |id: &ValueId| program.value(*id).name.as_str();
    match statement {
        Statement::Let { result, op, operands } => {
            write!(text, "Let {} be ", name(result))?;
            let (form, words) = (op.form(), op.attributes());
            write_pieces(text, program, form, form.text, &form.place(operands), &words, "");
            for attribute in form.attributes {
                let word = words[attribute.word];
                match attribute.kind {
                    AttributeKind::Count => write!(text, ", {} {word}", attribute.name)?,
                    AttributeKind::OptionalCount if word != 0 => write!(text, ", {} {word}", attribute.name)?,
                    AttributeKind::Real(_) => write!(text, ", {} {}", attribute.name, real(f32::from_bits(word)))?,
                    AttributeKind::OptionalReal(_) if word != 0 => {
                        write!(text, ", {} {}", attribute.name, real(f32::from_bits(word)))?;
                    }
                    AttributeKind::Flag if word != 0 => write!(text, ", {}", attribute.name)?,
                    AttributeKind::Choice(choices) => write!(text, ", {}", choices[usize::from(word != 0)])?,
                    AttributeKind::OneOf(words) => {
                        let choice = words.get(word as usize).copied().unwrap_or("?");
                        write!(text, ", {} {choice}", attribute.name)?;
                    }
                    AttributeKind::Bit(bit) if word & bit != 0 => write!(text, ", {}", attribute.name)?,
                    AttributeKind::OptionalCount
                    | AttributeKind::OptionalReal(_)
                    | AttributeKind::Flag
                    | AttributeKind::Bit(_)
                    | AttributeKind::Inline(_)
                    | AttributeKind::RowsOf(_) => {}
                }
            }
            text.push_str(".\n");
            Ok(())
        }
        Statement::Append { value, state, pos } => {
            writeln!(text, "Append {} to {} at {}.", name(value), name(state), name(pos))
        }
        Statement::Show { value } => writeln!(text, "Show {}.", name(value)),
    }
}

fn write_pieces(
    text: &mut String,
    program: &Program,
    form: &Form,
    pieces: &[Piece],
    operands: &[Option<ValueId>; MAX_OPERANDS],
    words: &[u32; 6],
    mut space: &'static str,
) {
    for piece in pieces {
        match piece {
            Piece::Comma => text.push(','),
            Piece::Optional(group, inner) => {
                if form.optional[*group].iter().all(|operand| operands[*operand].is_some()) {
                    write_pieces(text, program, form, inner, operands, words, space);
                }
            }
            Piece::Word(word) => {
                text.push_str(space);
                text.push_str(word);
            }
            Piece::Operand(index) => {
                text.push_str(space);
                text.push_str(operands[*index].map_or("?", |id| program.value(id).name.as_str()));
            }
            Piece::Number(index) => {
                text.push_str(space);
                text.push_str(&real(f32::from_bits(words[form.attributes[*index].word])));
            }
        }
        space = " ";
    }
}

/// The shortest digits that read back as the same f32.
fn real(x: f32) -> String {
    shortest(format!("{x:?}"))
}

/// Without the fraction that `Debug` gives a whole number.
fn shortest(mut digits: String) -> String {
    if digits.ends_with(".0") {
        digits.truncate(digits.len() - 2);
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_shortest_that_read_back() {
        let words = [1e-6, 0.0625, 1.0, 8192.0, -0.0, 1e20, 0.088_388_346, f32::MIN_POSITIVE].map(real);
        assert_eq!(words, ["1e-6", "0.0625", "1", "8192", "-0", "1e20", "0.088388346", "1.1754944e-38"]);
        assert_eq!(shortest(format!("{:?}", 1e7_f64)), "10000000");
    }

    #[test]
    fn the_article_is_the_one_spoken() {
        let an = [8, 11, 18, 80, 88, 800, 8192, 11_000, 18_432, 85_000, 800_000, 8_000_000, 11_000_000];
        assert!(an.iter().all(|number| article(*number) == "an "));
        let a = [1, 5, 10, 12, 17, 19, 28, 110, 118, 180, 512, 1100, 1800, 5120, 110_000, 118_000, 180_000];
        assert!(a.iter().all(|number| article(*number) == "a "));
    }
}
