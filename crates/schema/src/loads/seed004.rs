//! Figures that the loads of seed 004 share.

use crate::{Better, Figure, Figures, RunResult, Totals};

/// What makes a throughput of seed 004's loads what it is. These are the whole machine's, the warm-up
/// included; for each of `done` requests or messages where that tells more.
pub(super) fn why(run: &RunResult, done: u64, figures: &mut Figures) {
    let decided =
        |reasons: &[&str]| -> u64 { reasons.iter().filter_map(|reason| run.decisions.get(*reason)).sum() };
    let of = |number: u64, scale: u64| (number * scale).checked_div(done).unwrap_or(0);
    let totals = &run.totals;
    let mut add = |key: &str, label: &str, value: u64| {
        figures.count(key, label, Better::Neutral, value);
    };
    add("buddy_picks", "buddies picked", decided(&["buddy_last", "buddy_next"]));
    add("buddy_refusals", "buddies refused", decided(&["buddy_refused"]));
    add("buddy_picks_per_1000", "buddies picked per 1000", of(decided(&["buddy_last", "buddy_next"]), 1_000));
    add("buddy_refusals_per_1000", "buddies refused per 1000", of(decided(&["buddy_refused"]), 1_000));
    add("tick_slice", "tick: slice used up", decided(&["tick_slice"]));
    add("tick_latency", "tick: too far ahead", decided(&["tick_latency"]));
    // Those of locks in user space, which few loads have.
    let mut of_locks: Vec<&Figure<Totals>> =
        Totals::FIGURES.iter().filter(|figure| figure.place.is_none()).collect();
    of_locks.sort_by_key(|figure| figure.row);
    for figure in of_locks {
        figures.declared(figure, (figure.of)(totals));
    }
    figures.nanos("refill", "cache refill for each", Better::Lower, of(totals.cache_refill_ns, 1));
}
