//! What the loads of the fair-class documents report about themselves.

use super::{Figures, percentile_step};
use schema::{
    Better, Figure, ForkStormResult, KeyrepeatResult, OltpResult, RunResult, Totals, VmarkResult,
    WakeupLatencyResult,
};

pub(super) fn wakeup_latency(result: &WakeupLatencyResult, figures: &mut Figures) {
    let latency = &result.latency_ns;
    figures.count("events", "events", Better::Higher, latency.count);
    figures.count("missed", "missed timer events", Better::Lower, result.missed);
    if latency.count == 0 {
        return;
    }
    figures.nanos("max", "maximum latency", Better::Lower, latency.max).headline();
    figures.nanos("avg", "average latency", Better::Lower, latency.mean).headline();
    figures.nanos("p99", "p99 latency", Better::Lower, latency.p99).in_steps_of(percentile_step(latency.p99));
}

pub(super) fn fork_storm(result: &ForkStormResult, figures: &mut Figures) {
    if result.hogs > 0 {
        let share = result.hog_share_permille();
        figures.count("hog_share_permille", "hogs' share (permille)", Better::Higher, share).headline();
    }
    figures.count("forks", "forks", Better::Higher, result.forks);
    figures.count("finished", "jobs done", Better::Higher, result.finished).headline();
}

pub(super) fn keyrepeat(result: &KeyrepeatResult, figures: &mut Figures) {
    figures.count("frames", "keys drawn", Better::Higher, result.frames);
    if result.between_ns.count == 0 {
        return;
    }
    figures.nanos("spread", "spread between drawings", Better::Lower, result.spread_ns).headline();
    figures.nanos("longest", "longest between drawings", Better::Lower, result.between_ns.max).headline();
    figures.count("stops", "stops of the cursor", Better::Lower, result.stops).headline();
    figures.nanos("response", "mean from key to screen", Better::Lower, result.response_ns.mean).headline();
    figures.nanos("response_max", "longest from key to screen", Better::Lower, result.response_ns.max);
}

pub(super) fn vmark(result: &VmarkResult, run: &RunResult, figures: &mut Figures) {
    if let Some(rate) = result.messages_per_second() {
        figures.count("messages_per_second", "messages per second", Better::Higher, rate).headline();
    }
    figures.count("received", "messages received", Better::Higher, result.received);
    why(run, result.sent + result.received, figures);
}

pub(super) fn oltp(result: &OltpResult, run: &RunResult, figures: &mut Figures) {
    let rate = result.requests_per_second();
    figures.count("requests_per_second", "requests per second", Better::Higher, rate).headline();
    figures.count("transactions", "transactions", Better::Higher, result.transactions);
    if result.latency_ns.count > 0 {
        figures.nanos("latency", "mean transaction", Better::Lower, result.latency_ns.mean);
        figures.nanos("latency_max", "longest transaction", Better::Lower, result.latency_ns.max);
    }
    why(run, result.all_requests, figures);
}

/// What makes a throughput of seed 004's loads what it is. These are the whole machine's, the warm-up
/// included; for each of `done` requests or messages where that tells more.
fn why(run: &RunResult, done: u64, figures: &mut Figures) {
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
