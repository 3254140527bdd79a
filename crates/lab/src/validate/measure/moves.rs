//! How tasks change CPUs, and when.

use super::quantile;
use crate::validate::log::{Names, millis};
use schema::{CpuId, Log, LogEvent};
use serde::Deserialize;
use workload::replay::TaskSelector;

/// Which moves, and what of them.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::validate) struct Moves {
    /// Tasks of this name, or pattern of names.
    of: String,
    /// Those after this time only, milliseconds: until then they spread over the machine.
    #[serde(default)]
    after_ms: f64,
    take: Take,
}

#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Take {
    /// How many there are.
    Count,
    /// From one to the next, the median in milliseconds.
    MedianGapMs,
    /// How many per cent of the gaps are followed by the move back.
    BackPercent,
    /// From one to the next but one, the median in milliseconds.
    MedianPairMs,
    /// How many per cent of those are that long, but for so much, in milliseconds.
    PairPercent { of_ms: f64, by_ms: f64 },
}

struct Move {
    at_ms: f64,
    from: CpuId,
    to: CpuId,
}

/// From each move to the one that is so many further on, milliseconds.
fn gaps_ms(moves: &[Move], further: usize) -> Vec<f64> {
    moves.iter().zip(moves.iter().skip(further)).map(|(one, other)| other.at_ms - one.at_ms).collect()
}

impl Moves {
    pub fn of(&self, log: &Log) -> f64 {
        let moves = self.moves(log);
        let percent = |count: usize, of: usize| 100.0 * count as f64 / of.max(1) as f64;
        match self.take {
            Take::Count => moves.len() as f64,
            Take::MedianGapMs => quantile(gaps_ms(&moves, 1), 0.5),
            Take::BackPercent => {
                let back = |pair: &&[Move]| (pair[0].from, pair[0].to) == (pair[1].to, pair[1].from);
                percent(moves.windows(2).filter(back).count(), moves.windows(2).len())
            }
            Take::MedianPairMs => quantile(gaps_ms(&moves, 2), 0.5),
            Take::PairPercent { of_ms, by_ms } => {
                let gaps = gaps_ms(&moves, 2);
                let near = gaps.iter().filter(|gap| (**gap - of_ms).abs() < by_ms).count();
                percent(near, gaps.len())
            }
        }
    }

    fn moves(&self, log: &Log) -> Vec<Move> {
        // What cannot be read as a pattern is one name.
        let whom: TaskSelector = self.of.parse().unwrap_or(TaskSelector::Comm(self.of.clone()));
        let mut names = Names::of(log);
        let mut moves = Vec::new();
        for record in &log.records {
            names.see(&record.event);
            let LogEvent::SchedMigrateTask { task, orig_cpu, dest_cpu } = &record.event else { continue };
            let at_ms = millis(record.time);
            if at_ms > self.after_ms && names.is(&whom, task.pid) {
                moves.push(Move { at_ms, from: *orig_cpu, to: *dest_cpu });
            }
        }
        moves
    }
}
