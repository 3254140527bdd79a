//! The machine: counters of the whole of it, idle time, locks, interrupts.

use super::Figures;
use schema::Better;
use schema::RunResult;

/// Totals, then sums and maxima over the CPUs. Single CPUs are not compared: which one a task lands on is
/// chance.
pub fn measure(run: &RunResult, figures: &mut Figures) {
    use Better::{Lower, Neutral};
    let totals = &run.totals;
    figures.group("totals", "");
    figures.count("migrations", "migrations", Lower, totals.migrations).headline();
    figures.count("context_switches", "context switches", Neutral, totals.context_switches);
    figures.count("wakeups", "wakeups", Neutral, totals.wakeups);
    figures.count("wakeup_preemptions", "wakeup preemptions", Neutral, totals.wakeup_preemptions);
    figures.count("pushes", "pushes", Neutral, totals.pushes);
    figures.count("pulls", "pulls", Neutral, totals.pulls);
    figures.count("push_ipis", "push IPIs", Neutral, totals.push_ipis);
    figures.count("rt_searches", "RT searches", Neutral, totals.rt_searches);
    figures.nanos("rt_search", "RT search time", Lower, totals.rt_search_ns);
    let in_flight = u64::from(totals.push_ipis_in_flight_max);
    figures.count("push_ipis_in_flight_max", "most push IPIs in flight", Lower, in_flight);
    let by_source = u64::from(totals.push_ipis_in_flight_by_source_max);
    figures.count(
        "push_ipis_in_flight_by_source_max",
        "most push IPIs in flight for a CPU",
        Lower,
        by_source,
    );

    let locks = || run.cpus.iter().map(|cpu| &cpu.rq_lock);
    figures.group("cpus", "");
    figures.nanos("idle", "idle time", Neutral, run.cpus.iter().map(|cpu| cpu.idle_ns).sum());
    figures.count("ipis_sent", "IPIs sent", Neutral, run.cpus.iter().map(|cpu| cpu.ipis_sent).sum());
    figures.group("rq_lock", "rq lock");
    let wait_max = locks().map(|lock| lock.wait_max_ns).max().unwrap_or(0);
    figures.nanos("wait_max", "longest wait", Lower, wait_max).headline();
    figures.nanos("wait_sum", "waiting time", Lower, locks().map(|lock| lock.wait_sum_ns).sum());
    let waiters_max = locks().map(|lock| u64::from(lock.waiters_max)).max().unwrap_or(0);
    figures.count("waiters_max", "most waiters", Lower, waiters_max);
    let holding_own_max = locks().map(|lock| u64::from(lock.waiters_holding_own_max)).max().unwrap_or(0);
    figures.count("waiters_holding_own_max", "most waiters holding their own", Lower, holding_own_max);
    figures.count("contended", "contended", Lower, locks().map(|lock| lock.contended).sum());
    figures.count("acquisitions", "acquisitions", Neutral, locks().map(|lock| lock.acquisitions).sum());
}
