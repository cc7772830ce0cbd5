//! Self-timed execution: every stage fires as soon as its tokens, its slots, its order and itself allow.

use std::collections::VecDeque;

use crate::spatial::StageId;

use super::follow::Times;
use super::{Fault, Net, Pace};

/// A self-timed execution.
#[derive(Clone, Debug)]
pub struct Run {
    times: Times,
    iterations: u64,
    /// Iterations that something follows which they may wait for.
    followed: u64,
}

impl Run {
    /// The cycle at which the last firing of an iteration starts.
    pub fn end(&self, iteration: u64) -> u64 {
        let last = |times: &Vec<u64>| {
            let firings = times.len() as u64 / self.iterations;
            times[((iteration + 1) * firings - 1) as usize]
        };
        self.times.iter().map(last).max().unwrap_or(0)
    }

    /// Cycles between the ends of the last two iterations that wait for all they ever wait for: the interval, once the run is periodic.
    pub fn interval(&self) -> u64 {
        match self.followed {
            0 | 1 => self.cycles(),
            n => self.end(n - 1) - self.end(n - 2),
        }
    }

    /// Cycles to the start of the last firing of all.
    pub fn cycles(&self) -> u64 {
        self.end(self.iterations.max(1) - 1)
    }
}

impl Net<'_> {
    /// Runs the net self-timed over `iterations`, at the unit model's pace or another.
    ///
    /// # Errors
    /// [`Fault::Deadlock`], or [`Fault::TooLong`].
    pub fn run(&self, iterations: u64, pace: &Pace) -> Result<Run, Fault> {
        self.affordable(iterations)?;
        let mut state = State::new(self, iterations, pace);
        state.run();
        for (stage, times) in (0..).map(StageId).zip(&state.times) {
            let firings = self.section.stage(stage).firings;
            let done = times.len() as u64;
            if done < firings * iterations {
                return Err(Fault::Deadlock { stage, firing: done % firings, iteration: done / firings });
            }
        }
        let waits = self.precedences.iter().any(|precedence| precedence.lag < 0);
        Ok(Run { times: state.times, iterations, followed: iterations.saturating_sub(u64::from(waits)) })
    }

    /// The first firing, stage by stage, that a run has later than the static schedule: there is none where the schedule is sound.
    pub fn first_later(&self, run: &Run) -> Option<(StageId, u64)> {
        let stages = (0..).map(StageId).zip(run.times.iter().zip(self.scheduled(run.iterations)));
        for (stage, (times, scheduled)) in stages {
            if let Some(j) = times.iter().zip(&scheduled).position(|(time, scheduled)| time > scheduled) {
                return Some((stage, j as u64));
            }
        }
        None
    }

    /// Whether a run's own firings have all they need: what [`Net::follow`] asks of the static schedule, turns apart.
    ///
    /// # Errors
    /// The first [`Fault`].
    pub fn follow_run(&self, run: &Run, pace: &Pace) -> Result<(), Fault> {
        self.check(&run.times, pace)
    }
}

/// How far along one end of an edge has been counted: the other end's firings seen, what they amount to, and the cycle
/// from which that holds.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    firings: u64,
    amount: u64,
    from: u64,
}

struct State<'n, 'a> {
    net: &'n Net<'a>,
    pace: &'n Pace,
    iterations: u64,
    times: Times,
    /// By edge: tokens sent, as the consumer has counted them; and tokens it has needed so far.
    sent: Vec<Seen>,
    needed: Vec<u64>,
    /// By edge: slots freed, as the producer has counted them; and slots it has claimed so far.
    freed: Vec<Seen>,
    claimed: Vec<u64>,
    /// By stage: edges in, edges out, precedences.
    ins: Vec<Vec<usize>>,
    outs: Vec<Vec<usize>>,
    after: Vec<Vec<usize>>,
    /// By stage: the stages that a firing of it may set free.
    wakes: Vec<Vec<usize>>,
}

impl<'n, 'a> State<'n, 'a> {
    fn new(net: &'n Net<'a>, iterations: u64, pace: &'n Pace) -> Self {
        let (stages, edges) = (net.section.stages.len(), net.channels.len());
        let lists = || vec![Vec::new(); stages];
        let (mut ins, mut outs, mut after, mut wakes) = (lists(), lists(), lists(), lists());
        for (edge, channel) in net.channels.iter().enumerate() {
            let (u, v) = (channel.from.index(), channel.to.index());
            outs[u].push(edge);
            ins[v].push(edge);
            wakes[u].push(v);
            wakes[v].push(u);
        }
        for (at, precedence) in net.precedences.iter().enumerate() {
            after[precedence.to.index()].push(at);
            wakes[precedence.from.index()].push(precedence.to.index());
        }
        for list in &mut wakes {
            list.sort_unstable();
            list.dedup();
        }
        State {
            net,
            pace,
            iterations,
            times: vec![Vec::new(); stages],
            sent: vec![Seen::default(); edges],
            needed: vec![0; edges],
            freed: vec![Seen::default(); edges],
            claimed: vec![0; edges],
            ins,
            outs,
            after,
            wakes,
        }
    }

    /// Fires until nothing can. The order of visits changes nothing: a firing's time depends on the times before it alone.
    fn run(&mut self) {
        let stages = self.times.len();
        let mut queue: VecDeque<usize> = (0..stages).collect();
        let mut queued = vec![true; stages];
        while let Some(stage) = queue.pop_front() {
            queued[stage] = false;
            let before = self.times[stage].len();
            let most = self.net.section.stages[stage].firings * self.iterations;
            while (self.times[stage].len() as u64) < most {
                let Some(time) = self.next(stage) else { break };
                self.fire(stage, time);
            }
            if self.times[stage].len() == before {
                continue;
            }
            for &woken in &self.wakes[stage] {
                if !std::mem::replace(&mut queued[woken], true) {
                    queue.push_back(woken);
                }
            }
        }
    }

    /// When a stage's next firing starts; none while that is not known.
    fn next(&mut self, stage: usize) -> Option<u64> {
        let j = self.times[stage].len() as u64;
        let mut time = self.times[stage].last().map_or(0, |before| before + self.pace.ii[stage]);
        for &edge in &self.ins[stage] {
            let channel = &self.net.channels[edge];
            let needed = self.needed[edge] + channel.needs(j);
            let seen = &mut self.sent[edge];
            while seen.amount < needed {
                let sent = self.times[channel.from.index()].get(seen.firings as usize)?;
                seen.amount += channel.sends(seen.firings);
                seen.firings += 1;
                seen.from = sent + self.pace.latency[edge];
            }
            time = time.max(seen.from);
        }
        for &edge in &self.outs[stage] {
            let channel = &self.net.channels[edge];
            let claimed = self.claimed[edge] + channel.claims(j);
            let seen = &mut self.freed[edge];
            while seen.amount + channel.capacity < claimed {
                let freed = self.times[channel.to.index()].get(seen.firings as usize)?;
                seen.amount += channel.frees(seen.firings);
                seen.firings += 1;
                seen.from = freed + self.pace.release[edge];
            }
            time = time.max(seen.from);
        }
        for &at in &self.after[stage] {
            let precedence = &self.net.precedences[at];
            let (from, to) = (precedence.from.index(), precedence.to.index());
            let firings = (self.net.section.stages[from].firings, self.net.section.stages[to].firings);
            // What comes after the last iteration does not come.
            if let Some(k) = precedence.awaits(j, firings).filter(|k| *k < firings.0 * self.iterations) {
                time = time.max(self.times[from].get(k as usize)? + self.pace.order[at]);
            }
        }
        Some(time)
    }

    fn fire(&mut self, stage: usize, time: u64) {
        let j = self.times[stage].len() as u64;
        self.times[stage].push(time);
        for &edge in &self.ins[stage] {
            self.needed[edge] += self.net.channels[edge].needs(j);
        }
        for &edge in &self.outs[stage] {
            self.claimed[edge] += self.net.channels[edge].claims(j);
        }
    }
}
