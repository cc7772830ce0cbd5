//! How long everything takes in an execution: as the unit model says, or any less.

use super::{Net, delay};

/// Initiation intervals and delays of a net.
#[derive(Clone, Debug)]
pub struct Pace {
    /// Cycles between two firings of a stage, by stage.
    pub(super) ii: Vec<u64>,
    /// From a producer's firing to the use of its tokens, by edge.
    pub(super) latency: Vec<u64>,
    /// From a consumer's firing to the reuse of its slots, by edge.
    pub(super) release: Vec<u64>,
    /// From a firing to one that comes after it, by precedence.
    pub(super) order: Vec<u64>,
}

impl Pace {
    /// The unit model's own.
    pub fn of(net: &Net<'_>) -> Self {
        let stage = |id| net.section.stage(id);
        let channels = || net.channels.iter().map(|c| (stage(c.from), stage(c.to)));
        Pace {
            ii: net.section.stages.iter().map(|stage| stage.ii).collect(),
            latency: channels().map(|(u, v)| delay::forward(net.unit, u, v)).collect(),
            release: channels().map(|(u, v)| delay::release(net.unit, u, v)).collect(),
            order: net.precedences.iter().map(|precedence| precedence.delay).collect(),
        }
    }

    /// Each between 1 cycle and the unit model's, drawn from `seed`.
    pub fn drawn(net: &Net<'_>, seed: u64) -> Self {
        let mut state = seed;
        let mut draw = |most: &mut u64| *most = 1 + split_mix(&mut state) % (*most).max(1);
        let mut pace = Pace::of(net);
        pace.ii.iter_mut().for_each(&mut draw);
        pace.latency.iter_mut().for_each(&mut draw);
        pace.release.iter_mut().for_each(&mut draw);
        pace.order.iter_mut().for_each(&mut draw);
        pace
    }
}

/// The next number of Steele, Lea and Flood's SplitMix64.
pub(super) fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
