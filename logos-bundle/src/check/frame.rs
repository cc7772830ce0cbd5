//! Rule 0, the frame: header, directory, deployment and chip. What it returns can be indexed part by part.

use super::ledger::{At, Ledger, equal, failed, hold, part};
use super::rows::{EdgeRow, StageRow, StatementRow, ValueRow};
use super::{HEADER, RANGE_LIMIT};
use crate::table::layout::{HEADER_ROWS, MAGIC, PARTS, Part, ROW, VERSION, header};

/// One row.
pub(super) type Row = [u32; ROW];

/// The rows of a table by part, with the deployment and the chip read.
pub(super) struct Frame<'a> {
    pub(super) deployment: Deployment,
    pub(super) chip: Chip,
    pub(super) programs: &'a [Row],
    pub(super) sections: &'a [Row],
    pub(super) values: &'a [ValueRow],
    pub(super) statements: &'a [StatementRow],
    pub(super) stages: &'a [StageRow],
    pub(super) edges: &'a [EdgeRow],
    pub(super) turns: &'a [Row],
    pub(super) ropes: &'a [Row],
    pub(super) bindings: &'a [Row],
    pub(super) layers: &'a [Row],
    pub(super) strings: &'a [Row],
    pub(super) factors: &'a [Row],
    pub(super) string_bytes: u64,
}

/// What was asked for.
#[derive(Clone, Copy)]
pub(super) struct Deployment {
    pub(super) form: u32,
    pub(super) chips: i128,
    pub(super) seqs: i128,
    pub(super) tokens: i128,
    pub(super) ctx: i128,
    pub(super) layers: u32,
    pub(super) weight_bytes: i128,
    pub(super) state_bytes: i128,
    pub(super) kv_bytes: i128,
    pub(super) ddr_weight_bytes: i128,
    pub(super) sram_state_bytes: i128,
    pub(super) max_ctx: i128,
    pub(super) max_seqs: i128,
}

/// The unit model and the memories.
#[derive(Clone, Copy)]
pub(super) struct Chip {
    /// Sites: cells, and no more than the mesh has room for.
    pub(super) sites: i128,
    pub(super) columns: i128,
    pub(super) rows: i128,
    pub(super) array_rows: i128,
    pub(super) array_columns: i128,
    pub(super) lanes: i128,
    pub(super) chain: i128,
    pub(super) depth: i128,
    pub(super) tree: i128,
    pub(super) scratchpad_rate: i128,
    pub(super) inject: i128,
    pub(super) hop: i128,
    /// Bytes per 65,536 cycles by tier; SRAM's is not used.
    pub(super) rate: [i128; 3],
    pub(super) link_rate: i128,
    /// Cycles from the end of an initiation interval to the result's arrival, but for the way and the tree: of a stage that
    /// computes or stores, of a load by tier, of a collective.
    pub(super) tail: i128,
    pub(super) load_tail: [i128; 3],
    pub(super) link_tail: i128,
    pub(super) context_tile: i128,
    pub(super) tile: i128,
    pub(super) sram_ports: i128,
    /// Bytes by tier; SRAM's is `cells * scratchpad`.
    pub(super) bytes: [i128; 3],
    /// Mesh rows of a strip, and its rows but the first.
    pub(super) strip: u64,
    pub(super) below: i128,
    /// Sites of a strip of full height, at least 1.
    pub(super) strip_sites: u64,
}

const fn wide(low: u32, high: u32) -> i128 {
    (low as u64 | (high as u64) << 32) as i128
}

/// Rows of a table: a split costs constant evaluation five times as much.
///
/// # Panics
/// If there are no such rows.
pub(super) const fn part_of<T>(rows: &[T], first: usize, count: usize) -> &[T] {
    assert!(first <= rows.len() && count <= rows.len() - first, "rows of the table");
    // SAFETY: these are `count` of the rows, as has just been asked.
    unsafe { &*core::ptr::slice_from_raw_parts(rows.as_ptr().add(first), count) }
}

/// Reads the frame; `None` if it cannot be relied on (then rule 0 has a fault).
pub(super) const fn frame<'a>(words: &'a [u32], l: &mut Ledger) -> Option<Frame<'a>> {
    let top = At(HEADER, 0);
    let (rows, rest) = words.as_chunks::<ROW>();
    let (count, rest) = (rows.len(), rest.len());
    equal!(l, 0, top, 0, rest, "words beyond the last whole row");
    hold!(l, 0, count >= HEADER_ROWS, top, HEADER_ROWS, count, "rows of the table, at least");
    if failed!(l, 0) {
        return None;
    }
    let [magic, version, size, reserved, _, _, strings, z0, z1, z2, z3, z4, z5, z6, z7, z8] = rows[0];
    equal!(l, 0, top, MAGIC, magic, "magic");
    equal!(l, 0, top, VERSION, version, "layout version");
    equal!(l, 0, top, count as u64 * ROW as u64, size as u64, "words of the table");
    equal!(l, 0, top, 0, reserved | z0 | z1 | z2 | z3 | z4 | z5 | z6 | z7 | z8, "reserved words of the header");
    let mut counts = [0usize; PARTS];
    let mut next = HEADER_ROWS as u64;
    let mut part = 0;
    while part < PARTS {
        let entry = header::DIRECTORY + 2 * part;
        let (first, n) = (words[entry], words[entry + 1]);
        equal!(l, 0, At(HEADER, (entry / ROW) as u32), next, first as u64, "first row of a part");
        next += n as u64;
        counts[part] = n as usize;
        part += 1;
    }
    equal!(l, 0, top, count as u64, next, "end of the last part");
    let mut spare = header::DIRECTORY + 2 * PARTS;
    while spare < HEADER_ROWS * ROW {
        equal!(l, 0, At(HEADER, (spare / ROW) as u32), 0, words[spare], "reserved words of the header");
        spare += 1;
    }
    equal!(l, 0, top, 2, counts[Part::Deployment as usize], "deployment rows");
    equal!(l, 0, top, 2, counts[Part::Chip as usize], "chip rows");
    let programs = counts[Part::Programs as usize];
    hold!(l, 0, programs > 0, top, 1, programs, "programs, at least");
    equal!(l, 0, top, programs, counts[Part::Digests as usize], "digest rows");
    let (bytes, space) = (strings as u64, counts[Part::Strings as usize] as u64 * 64);
    hold!(l, 0, bytes <= space && space < bytes + 64, top, space, bytes, "string bytes, in these bytes of rows");
    if failed!(l, 0) {
        return None;
    }
    let first = HEADER_ROWS;
    let deployment_rows = part_of(rows, first, 2);
    let first = first + 2;
    let chip_rows = part_of(rows, first, 2);
    let first = first + 2;
    let programs = part_of(rows, first, counts[2]);
    let first = first + counts[2];
    let sections = part_of(rows, first, counts[3]);
    let first = first + counts[3];
    let values = part_of(rows, first, counts[4]);
    let first = first + counts[4];
    let statements = part_of(rows, first, counts[5]);
    let first = first + counts[5];
    let stages = part_of(rows, first, counts[6]);
    let first = first + counts[6];
    let edges = part_of(rows, first, counts[7]);
    let first = first + counts[7];
    let turns = part_of(rows, first, counts[8]);
    let first = first + counts[8];
    let ropes = part_of(rows, first, counts[9]);
    let first = first + counts[9];
    let bindings = part_of(rows, first, counts[10]);
    let first = first + counts[10];
    let layers = part_of(rows, first, counts[11]);
    let first = first + counts[11] + counts[12];
    let strings = part_of(rows, first, counts[13]);
    let first = first + counts[13];
    let factors = part_of(rows, first, counts[14]);
    let deployment = deployment(&deployment_rows[0], &deployment_rows[1], bytes, l);
    let chip = chip(&chip_rows[0], &chip_rows[1], bytes, &deployment, l);
    if failed!(l, 0) {
        return None;
    }
    Some(Frame {
        deployment,
        chip,
        programs,
        sections,
        values: ValueRow::of(values),
        statements: StatementRow::of(statements),
        stages: StageRow::of(stages),
        edges: EdgeRow::of(edges),
        turns,
        ropes,
        bindings,
        layers,
        strings,
        factors,
        string_bytes: bytes,
    })
}

const fn deployment(row: &Row, second: &Row, strings: u64, l: &mut Ledger) -> Deployment {
    let at = At(part::DEPLOYMENT, 0);
    let row = *row;
    let [name, length, form, chips, seqs, tokens, ctx, layers, w0, w1, s0, s1, k0, k1, max_ctx, max_seqs] = row;
    let [d0, d1, r0, r1, z0, z1, z2, z3, z4, z5, z6, z7, z8, z9, z10, z11] = *second;
    let spare = z0 | z1 | z2 | z3 | z4 | z5 | z6 | z7 | z8 | z9 | z10 | z11;
    equal!(l, 0, At(part::DEPLOYMENT, 1), 0, spare, "reserved words of the deployment");
    let end = name as u64 + length as u64;
    hold!(l, 0, end <= strings, at, strings, end, "end of the model's name, at most");
    hold!(l, 0, form <= 2, at, 2, form, "deployment form, at most");
    hold!(l, 0, chips > 0 && chips < RANGE_LIMIT, at, RANGE_LIMIT, chips, "chips, above 0 and below");
    hold!(l, 0, seqs > 0 && seqs < RANGE_LIMIT, at, RANGE_LIMIT, seqs, "sequences, above 0 and below");
    hold!(l, 0, tokens > 0 && tokens < RANGE_LIMIT, at, RANGE_LIMIT, tokens, "tokens, above 0 and below");
    Deployment {
        form,
        chips: chips as i128,
        seqs: seqs as i128,
        tokens: tokens as i128,
        ctx: ctx as i128,
        layers,
        weight_bytes: wide(w0, w1),
        state_bytes: wide(s0, s1),
        kv_bytes: wide(k0, k1),
        ddr_weight_bytes: wide(d0, d1),
        sram_state_bytes: wide(r0, r1),
        max_ctx: max_ctx as i128,
        max_seqs: max_seqs as i128,
    }
}

const fn chip(first: &Row, second: &Row, strings: u64, deployment: &Deployment, l: &mut Ledger) -> Chip {
    let [
        name,
        length,
        cells,
        columns,
        rows,
        array_rows,
        array_columns,
        lanes,
        chain,
        depth,
        tree,
        pad,
        pad_rate,
        inject,
        hop,
        hbm,
    ] = *first;
    let [ddr, link, hbm_first, ddr_first, link_first, context, tile, ports, hbm0, hbm1, ddr0, ddr1, strip, _, _, _] =
        *second;
    let at = At(part::CHIP, 0);
    let end = name as u64 + length as u64;
    hold!(l, 0, end <= strings, at, strings, end, "end of the chip's name, at most");
    // Divisors, and every other word that is multiplied: one comparison a group, the groups small enough to name.
    let small = cells | columns | rows | array_rows | array_columns | lanes | chain | depth | tree;
    hold!(l, 0, small < RANGE_LIMIT, at, RANGE_LIMIT, small, "sizes of the cells and the mesh, below");
    let small = pad | pad_rate | inject | hop;
    hold!(l, 0, small < RANGE_LIMIT, at, RANGE_LIMIT, small, "sizes of scratchpad and network, below");
    let at = At(part::CHIP, 1);
    let small = hbm_first | ddr_first | link_first | context | tile | ports | strip;
    hold!(l, 0, small < RANGE_LIMIT, at, RANGE_LIMIT, small, "latencies and tiles, below");
    let units = cells > 0 && columns > 0 && rows > 0 && array_rows > 0 && array_columns > 0 && lanes > 0 && chain > 0;
    let units = units && pad > 0 && pad_rate > 0 && context > 0 && tile > 0 && ports > 0 && strip > 0;
    hold!(l, 0, units, at, 1, 0, "sizes that divide, above 0");
    hold!(l, 0, link > 0 || deployment.chips == 1, at, 1, link, "link rate between chips, at least");
    let tail = depth as i128 + 2;
    Chip {
        sites: if (cells as u64) < columns as u64 * rows as u64 {
            cells as i128
        } else {
            columns as i128 * rows as i128
        },
        columns: columns as i128,
        rows: rows as i128,
        array_rows: array_rows as i128,
        array_columns: array_columns as i128,
        lanes: lanes as i128,
        chain: chain as i128,
        depth: depth as i128,
        tree: tree as i128,
        scratchpad_rate: pad_rate as i128,
        inject: inject as i128,
        hop: hop as i128,
        rate: [0, hbm as i128, ddr as i128],
        link_rate: link as i128,
        tail,
        load_tail: [tail, tail + hbm_first as i128, tail + ddr_first as i128],
        link_tail: tail + link_first as i128,
        context_tile: context as i128,
        tile: tile as i128,
        sram_ports: ports as i128,
        bytes: [cells as i128 * pad as i128, wide(hbm0, hbm1), wide(ddr0, ddr1)],
        strip: strip as u64,
        below: strip as i128 - 1,
        // Where one of the two is 0 the chip has been rejected.
        strip_sites: if strip as u64 * columns as u64 > 0 { strip as u64 * columns as u64 } else { 1 },
    }
}
