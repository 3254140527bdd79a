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

/// From each move to the next but one, milliseconds.
fn pair_gaps(moves: &[Move]) -> Vec<f64> {
    moves.iter().zip(moves.iter().skip(2)).map(|(one, other)| other.at_ms - one.at_ms).collect()
}

impl Moves {
    pub fn of(&self, log: &Log) -> f64 {
        let moves = self.moves(log);
        let pairs: Vec<(&Move, &Move)> = moves.iter().zip(moves.iter().skip(1)).collect();
        let gaps: Vec<f64> = pairs.iter().map(|(one, next)| next.at_ms - one.at_ms).collect();
        let percent = |count: usize| 100.0 * count as f64 / gaps.len().max(1) as f64;
        match self.take {
            Take::Count => moves.len() as f64,
            Take::MedianGapMs => quantile(gaps, 0.5),
            Take::BackPercent => {
                let back = |(one, next): &&(&Move, &Move)| (one.from, one.to) == (next.to, next.from);
                percent(pairs.iter().filter(back).count())
            }
            Take::MedianPairMs => quantile(pair_gaps(&moves), 0.5),
            Take::PairPercent { of_ms, by_ms } => {
                let gaps = pair_gaps(&moves);
                let near = gaps.iter().filter(|gap| (**gap - of_ms).abs() < by_ms).count();
                100.0 * near as f64 / gaps.len().max(1) as f64
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
