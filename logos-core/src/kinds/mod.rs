//! Layer kinds: equal programs up to renaming, their names, identities and bindings.
//!
//! In: a model's specification and a step. Out: the programs to lower, as few as there are kinds of layer, and which layers
//! run each. Does not know what lowering makes of them.

mod identity;
mod shape;

use std::collections::BTreeMap;

pub use identity::Identities;
pub use shape::shape_digest;

use crate::author::{self, Authored, Binding, Cut, Part, describe};
use crate::language;
use crate::refusal::Refusal;
use crate::request::{Form, Weights};
use crate::spec::ModelSpec;

/// What a program is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Token ids to the first hidden state.
    Embed,
    /// A decoder layer of one kind.
    Layer,
    /// The last hidden state to the next token.
    Head,
}

/// One program of a deployment.
#[derive(Clone, Debug, PartialEq)]
pub struct KindProgram {
    /// `embed`, `head`, or what the kind of layer is; unique among the deployment's.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// The first layer that runs it, whose names it has; none for embedding and head.
    pub first_layer: Option<u32>,
    /// The layers that run it, ascending; empty for embedding and head.
    pub layers: Vec<u32>,
    /// The program and where its declared values come from.
    pub authored: Authored,
    /// Layers of the kind whose checkpoint is laid out otherwise, with the bindings to use for them in place of those of
    /// `authored` (value by value the same program). Empty for every family that names its tensors alike in all layers.
    pub exceptions: Vec<Exception>,
    /// The program as text.
    pub text: String,
    /// Identity of the cut: see [`Identities`].
    pub identity: [u8; 32],
}

/// Layers that run a kind's program with other checkpoint tensors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// The layers, ascending.
    pub layers: Vec<u32>,
    /// Their bindings, in the order of the program's declared values.
    pub bindings: Vec<Binding>,
}

impl KindProgram {
    /// The bindings of a layer that runs this program (any number for embedding and head).
    pub fn bindings(&self, layer: u32) -> &[Binding] {
        let own = self.exceptions.iter().find(|exception| exception.layers.binary_search(&layer).is_ok());
        own.map_or(&self.authored.bindings, |exception| &exception.bindings)
    }
}

/// The programs of a step: the embedding where the step has one, one a layer kind in the order of their first layers, the
/// head.
///
/// Layers that the specification says are equal are authored once. Kinds that differ in the specification are one where
/// their programs are equal up to a consistent renaming of everything but the rotary tables, each value stored the same way.
///
/// # Errors
/// One refusal for each program that cannot be authored.
pub fn programs(spec: &ModelSpec, form: Form, tp: u32, weights: Weights) -> Result<Vec<KindProgram>, Vec<Refusal>> {
    let identities = Identities::new(spec, form, tp, weights);
    let cut = |part| Cut { step: form, tp, weights, part };
    let mut programs = Vec::new();
    let mut refusals = Vec::new();
    let mut add = |name: &str, role, part| match author::author(spec, &cut(part)) {
        Ok(authored) => programs.push(KindProgram {
            name: name.to_owned(),
            role,
            first_layer: None,
            layers: Vec::new(),
            text: language::print(&authored.program),
            authored,
            exceptions: Vec::new(),
            identity: identities.of(part),
        }),
        Err(refusal) => refusals.push(refusal),
    };
    match form {
        Form::Forward { .. } => {}
        Form::Decode { .. } | Form::Prefill { .. } => add("embed", Role::Embed, Part::Embed),
    }
    add("head", Role::Head, Part::Head);

    let mut kinds = Kinds::default();
    for layers in groups(spec) {
        let Some(&first) = layers.first() else { continue };
        match author::author(spec, &cut(Part::Layer(first))) {
            Ok(authored) => kinds.add(authored, layers),
            Err(refusal) => refusals.push(refusal),
        }
    }
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let layers = kinds.finish(spec, &identities);
    // The head was authored beside the embedding and stands last.
    let at = programs.len().saturating_sub(1);
    programs.splice(at..at, layers);
    Ok(programs)
}

/// The layers of each distinct layer specification, in the order of their first layers.
fn groups(spec: &ModelSpec) -> Vec<Vec<u32>> {
    let mut group_of: BTreeMap<u32, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for (layer, &row) in (0u32..).zip(&spec.layer_of) {
        let group = *group_of.entry(row).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(layer);
    }
    groups
}

/// Kinds found so far, in the order of their first layers.
#[derive(Default)]
struct Kinds {
    found: Vec<Found>,
}

struct Found {
    digest: [u8; 32],
    authored: Authored,
    layers: Vec<u32>,
    exceptions: Vec<Exception>,
}

impl Kinds {
    fn add(&mut self, authored: Authored, layers: Vec<u32>) {
        let digest = shape_digest(&authored.program);
        match self.found.iter_mut().find(|kind| kind.digest == digest) {
            None => self.found.push(Found { digest, authored, layers, exceptions: Vec::new() }),
            Some(kind) => {
                if kind.authored.bindings != authored.bindings {
                    kind.exceptions.push(Exception { layers: layers.clone(), bindings: authored.bindings });
                }
                kind.layers.extend(layers);
                kind.layers.sort_unstable();
            }
        }
    }

    fn finish(self, spec: &ModelSpec, identities: &Identities) -> Vec<KindProgram> {
        let describe_first = |layers: &[u32]| {
            let row = layers.first().and_then(|&l| spec.layer_of.get(l as usize));
            row.and_then(|&row| spec.layers.get(row as usize)).map(describe).unwrap_or_default()
        };
        let descriptions: Vec<String> = self.found.iter().map(|kind| describe_first(&kind.layers)).collect();
        let names = unique(&descriptions, self.found.iter().map(|kind| kind.layers[0]));
        let kinds = self.found.into_iter().zip(names);
        kinds
            .map(|(kind, name)| KindProgram {
                name,
                role: Role::Layer,
                first_layer: kind.layers.first().copied(),
                identity: identities.layer(kind.layers[0]),
                layers: kind.layers,
                text: language::print(&kind.authored.program),
                authored: kind.authored,
                exceptions: kind.exceptions,
            })
            .collect()
    }
}

/// Each kind's description, with its first layer where others have the same.
fn unique(descriptions: &[String], first_layers: impl Iterator<Item = u32>) -> Vec<String> {
    let named = descriptions.iter().zip(first_layers);
    named
        .map(|(text, layer)| {
            let alone = descriptions.iter().filter(|other| *other == text).count() == 1;
            if alone { text.clone() } else { format!("{text} (layer {layer})") }
        })
        .collect()
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "a list of ranges that has one")]
mod tests;
