//! Runs that go to a worker together: about a second of work, the longest first, so that none is left over at
//! the end.

use crate::costs::Costs;
use crate::plan::Plan;

/// How long a chunk shall take, nanoseconds.
const TARGET_NS: f64 = 1e9;
/// As many runs at most, so that their rows are never many.
const MOST: usize = 1000;

/// Runs by number, to be made one after the other.
#[derive(Clone, PartialEq, Debug)]
pub struct Chunk {
    /// Ascending.
    pub runs: Vec<usize>,
    /// How long they are expected to take, nanoseconds.
    pub(crate) cost_ns: f64,
}

/// These runs in chunks, those of the most expensive combinations first.
pub(crate) fn chunks(plan: &Plan, runs: &[usize], costs: &Costs) -> Vec<Chunk> {
    let mut priced: Vec<(usize, f64)> =
        runs.iter().map(|&run| (run, costs.ns(&plan.places(plan.point_of(run))))).collect();
    // Stable: runs that cost the same stay in their order, so that those of one combination are together.
    priced.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut chunks: Vec<Chunk> = Vec::new();
    for (run, ns) in priced {
        match chunks.last_mut() {
            Some(last) if last.cost_ns + ns <= TARGET_NS && last.runs.len() < MOST => {
                last.runs.push(run);
                last.cost_ns += ns;
            }
            _ => chunks.push(Chunk { runs: vec![run], cost_ns: ns }),
        }
    }
    chunks.iter_mut().for_each(|chunk| chunk.runs.sort_unstable());
    chunks
}
