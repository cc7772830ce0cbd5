//! Coverage: firings, cells over the units, tiles, groups, and the bytes of a token.

use logos_bundle::table::layout::{NONE, Part, edge, op, section, stage, statement, value};

use super::table::Table;
use super::trial::{Kind, Trial};

pub(crate) fn run(trial: &mut Trial<'_>) {
    let table = trial.table();
    for g in 0..table.rows(Part::Stages).len() {
        let [firings, na, nb] = [stage::FIRINGS, stage::NA, stage::NB].map(|field| table.get(Part::Stages, g, field));
        let bytes = table.wide(Part::Stages, g, stage::BYTES);
        let mut put = |kind, field, word| {
            trial.reject(kind, format_args!("stage {g}"), |t| t.set(Part::Stages, g, field, word));
        };
        put(Kind("a firing more", &[3]), stage::FIRINGS, firings + 1);
        put(Kind("a firing less", &[0, 3]), stage::FIRINGS, firings - 1);
        put(Kind("a cell more", &[3, 6, 9]), stage::NA, na + 1);
        put(Kind("a cell more", &[3, 6, 9]), stage::NB, nb + 1);
        put(Kind("a cell less", &[0, 3, 6, 9]), stage::NA, na - 1);
        put(Kind("a cell less", &[0, 3, 6, 9]), stage::NB, nb - 1);
        for other in [bytes + 1, bytes.wrapping_sub(1), 2 * bytes] {
            trial.reject(Kind("bytes of a token", &[0, 2]), format_args!("stage {g}"), |t| {
                t.set_wide(Part::Stages, g, stage::BYTES, other);
            });
        }
    }
    let tiled = |&v: &usize| table.is_activation(v) && !whole_to_all(table, v);
    for v in (0..table.rows(Part::Values).len()).filter(tiled) {
        let tile = table.get(Part::Values, v, value::TILE);
        // A tile of other columns is not its neighbours', or its stages' tokens, firings and slots are others.
        for other in [tile + 1, tile - 1, tile / 2, 2 * tile] {
            trial.reject(Kind("tile of a value", &[0, 1, 2, 3, 4, 5, 9]), format_args!("value {v} {other}"), |t| {
                t.set(Part::Values, v, value::TILE, other);
            });
        }
    }
    for s in 0..table.rows(Part::Sections).len() {
        let [rows, groups] = [section::GROUP_ROWS, section::GROUPS].map(|field| table.get(Part::Sections, s, field));
        for (kind, field, word) in [
            (Kind("a row more in a group", &[2, 3]), section::GROUP_ROWS, rows + 1),
            (Kind("a row less in a group", &[0, 2, 3]), section::GROUP_ROWS, rows - 1),
            (Kind("a group more", &[3]), section::GROUPS, groups + 1),
            (Kind("a group less", &[0, 3]), section::GROUPS, groups - 1),
        ] {
            trial.reject(kind, format_args!("section {s}"), |t| t.set(Part::Sections, s, field, word));
        }
        // Half the rows in twice the groups is another program's stages.
        trial.reject(Kind("groups of half the rows", &[0, 2, 3]), format_args!("section {s}"), |t| {
            t.set(Part::Sections, s, section::GROUP_ROWS, rows / 2);
            t.set(Part::Sections, s, section::GROUPS, 2 * groups);
        });
    }
}

/// Whether a value of heads is held by all who read it: then nothing takes it by tiles.
fn whole_to_all(table: &Table, v: usize) -> bool {
    let Some(program) = table.programs().find(|program| program.values.contains(&v)) else { return false };
    let bound = table.get(Part::Values, v, value::STATEMENT);
    if bound == NONE {
        return false;
    }
    let code = table.get(Part::Statements, program.statements.start + bound as usize, statement::OP);
    let own = (v - program.values.start) as u32;
    let mut edges =
        table.sections().filter(|section| section.program == program.index).flat_map(|section| section.edges);
    matches!(code, op::ATTENTION | op::LATENT_ATTENTION | op::HEAD_MATMUL | op::ROUTER)
        && edges.all(|e| table.get(Part::Edges, e, edge::VALUE) != own || table.get(Part::Edges, e, edge::KIND) == 1)
}
