//! What the loads report about themselves.

use schema::Better;
use std::collections::BTreeMap;

use super::{Figures, fair_loads, percentile_step};
use schema::{
    CyclictestResult, CyclictestThread, HackbenchResult, LoadResult, MakeResult, Phase, ReplayResult,
    RtMigrateResult, RtappColumn, RtappResult, RunResult, ThreadsResult,
};

/// Nanoseconds of cyclictest's own resolution, a microsecond.
const US: u64 = 1_000;

/// Figures of every load, in the order of the loads. A second load of a kind is called `cyclictest#2`.
pub fn measure(run: &RunResult, figures: &mut Figures) {
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for load in &run.loads {
        let number = seen.entry(load.kind()).or_insert(0);
        *number += 1;
        let suffix = if *number == 1 { String::new() } else { format!("#{number}") };
        let label = match load {
            LoadResult::RtMigrate(_) => "rt-migrate",
            LoadResult::WakeupLatency(_) => "wakeup-latency",
            LoadResult::Rtapp(_) => "rt-app",
            _ => load.kind(),
        };
        figures.group(&format!("{}{suffix}", load.kind()), &format!("{label}{suffix}"));
        match load {
            LoadResult::Cyclictest(r) => {
                cyclictest(r, figures);
                cyclictest_phases(r, &run.phases(), figures);
            }
            LoadResult::RtMigrate(r) => rt_migrate(r, figures),
            LoadResult::Hackbench(r) => hackbench(r, figures),
            LoadResult::Make(r) => make(r, figures),
            LoadResult::Hog(r) | LoadResult::Periodic(r) => threads(r, figures),
            LoadResult::WakeupLatency(r) => fair_loads::wakeup_latency(r, figures),
            LoadResult::ForkStorm(r) => fair_loads::fork_storm(r, figures),
            LoadResult::Keyrepeat(r) => fair_loads::keyrepeat(r, figures),
            LoadResult::Vmark(r) => fair_loads::vmark(r, run, figures),
            LoadResult::Oltp(r) => fair_loads::oltp(r, run, figures),
            LoadResult::Rtapp(r) => rtapp(r, figures),
            LoadResult::Replay(r) => replay(r, figures),
        }
    }
}

/// The latencies of one cyclictest thread in nanoseconds, from the finest source it has.
struct ThreadLatency {
    min: u64,
    mean: u64,
    /// Absent when a histogram with a limit cannot tell.
    p99: Option<u64>,
    max: u64,
    /// Step of mean and maximum.
    resolution: u64,
    /// Step of the percentile.
    p99_resolution: u64,
}

impl ThreadLatency {
    fn of(thread: &CyclictestThread) -> Option<Self> {
        if thread.cycles == 0 {
            return None;
        }
        if let Some(ns) = &thread.latency_ns {
            let p99_resolution = percentile_step(ns.p99);
            return Some(Self {
                min: ns.min,
                mean: ns.mean,
                p99: Some(ns.p99),
                max: ns.max,
                resolution: 1,
                p99_resolution,
            });
        }
        Some(Self {
            min: thread.min_us * US,
            mean: thread.avg_us * US,
            p99: p99_us(thread).map(|us| us * US),
            max: thread.max_us * US,
            resolution: US,
            p99_resolution: US,
        })
    }
}

/// The 99th percentile in a histogram; `None` when it lies beyond the last bucket.
fn p99_us(thread: &CyclictestThread) -> Option<u64> {
    let samples = thread.histogram.total() + thread.overflows;
    let rank = samples - samples / 100;
    let mut counted = 0;
    thread.histogram.counts.iter().find_map(|(&us, &count)| {
        counted += count;
        (counted >= rank).then_some(us)
    })
}

fn cyclictest(result: &CyclictestResult, figures: &mut Figures) {
    let latencies: Vec<(&CyclictestThread, ThreadLatency)> =
        result.threads.iter().filter_map(|t| Some((t, ThreadLatency::of(t)?))).collect();
    let resolution = latencies.iter().map(|(_, latency)| latency.resolution).max().unwrap_or(1);
    let p99_resolution = latencies.iter().map(|(_, latency)| latency.p99_resolution).max().unwrap_or(1);
    if let Some(worst) = latencies.iter().map(|(_, latency)| latency.max).max() {
        figures
            .nanos("worst_latency", "worst latency", Better::Lower, worst)
            .in_steps_of(resolution)
            .headline();
    }
    let p99: Option<Vec<u64>> = latencies.iter().map(|(_, latency)| latency.p99).collect();
    if let Some(worst) = p99.and_then(|all| all.into_iter().max()) {
        figures
            .nanos("p99_latency", "p99 of worst thread", Better::Lower, worst)
            .in_steps_of(p99_resolution)
            .headline();
    }
    let cycles: u128 = latencies.iter().map(|(thread, _)| u128::from(thread.cycles)).sum();
    let sum: u128 =
        latencies.iter().map(|(thread, latency)| u128::from(thread.cycles) * u128::from(latency.mean)).sum();
    if let Some(mean) = sum.checked_div(cycles) {
        figures.nanos("mean_latency", "mean latency", Better::Lower, mean as u64).in_steps_of(resolution);
    }
    figures.count("cycles", "cycles", Better::Higher, result.threads.iter().map(|t| t.cycles).sum());
    if latencies.len() < 2 {
        return;
    }
    for (thread, latency) in &latencies {
        let (key, label) = (format!("t{}", thread.t), format!("T{}", thread.t));
        let mut one = |figure: &str, value: u64| {
            let (key, label) = (format!("{key}.{figure}"), format!("{label} {figure}"));
            figures.nanos(&key, &label, Better::Lower, value).in_steps_of(latency.resolution);
        };
        one("min", latency.min);
        one("max", latency.max);
        one("avg", latency.mean);
        if let Some(p99) = latency.p99 {
            let (key, label) = (format!("{key}.p99"), format!("{label} p99"));
            figures.nanos(&key, &label, Better::Lower, p99).in_steps_of(latency.p99_resolution);
        }
    }
}

/// Where settings changed in the middle of the run: the worst latency before and after.
fn cyclictest_phases(result: &CyclictestResult, phases: &[Phase], figures: &mut Figures) {
    if phases.len() < 2 {
        return;
    }
    for (number, phase) in (1..).zip(phases) {
        if let Some(max) = result.max_over_time.between_ns(phase.from_ns, phase.to_ns) {
            let (key, label) =
                (format!("phase{number}.worst_latency"), format!("phase {number} worst latency"));
            figures.nanos(&key, &label, Better::Lower, max);
        }
    }
}

fn rt_migrate(result: &RtMigrateResult, figures: &mut Figures) {
    let total = &result.total;
    figures.count("migrated", "migrated", Better::Lower, total.migrated).headline();
    figures.count("nonvol", "nonvol", Better::Lower, total.nonvol);
    figures.count("vol", "vol", Better::Neutral, total.vol);
    figures.count("iterations", "iterations", Better::Higher, total.iterations).headline();
    for (index, t) in result.threads.iter().enumerate() {
        let highest_priority = index + 1 == result.threads.len();
        let mut one = |figure: &str, better: Better, value: u64| {
            let label = format!("T{} {figure}", t.id);
            figures.count(&format!("t{}.{figure}", t.id), &label, better, value).headline =
                highest_priority && figure == "migrated";
        };
        one("migrated", Better::Lower, t.migrated);
        one("nonvol", Better::Lower, t.nonvol);
        one("vol", Better::Neutral, t.vol);
        one("iterations", Better::Higher, t.iterations);
    }
}

fn hackbench(result: &HackbenchResult, figures: &mut Figures) {
    if let Some(time) = result.time_s {
        figures.nanos("time", "time", Better::Lower, time.as_ns()).headline();
    }
}

fn make(result: &MakeResult, figures: &mut Figures) {
    if let Some(time) = result.seconds {
        figures.nanos("time", "time", Better::Lower, time.as_ns()).headline();
    }
    figures.count("objects", "objects", Better::Higher, result.objects).headline();
}

fn threads(result: &ThreadsResult, figures: &mut Figures) {
    let cycles = result.threads.iter().map(|t| t.cycles).sum();
    figures.count("cycles", "cycles", Better::Higher, cycles).headline();
    let misses: Vec<u64> = result.threads.iter().filter_map(|t| t.deadline_misses).collect();
    if !misses.is_empty() {
        figures.count("deadline_misses", "missed deadlines", Better::Lower, misses.iter().sum()).headline();
    }
    let response_max = result.threads.iter().filter_map(|t| Some(t.response_ns.as_ref()?.max)).max();
    if let Some(worst) = response_max {
        figures.nanos("worst_response", "worst response", Better::Lower, worst).headline();
    }
    if result.threads.len() < 2 {
        return;
    }
    for t in &result.threads {
        let (key, label) = (format!("t{}", t.t), format!("T{}", t.t));
        figures.count(&format!("{key}.cycles"), &format!("{label} cycles"), Better::Higher, t.cycles);
        if let Some(misses) = t.deadline_misses {
            figures.count(
                &format!("{key}.deadline_misses"),
                &format!("{label} missed"),
                Better::Lower,
                misses,
            );
        }
        if let Some(response) = &t.response_ns {
            let (p99_key, p99_label) = (format!("{key}.p99"), format!("{label} response p99"));
            figures
                .nanos(&p99_key, &p99_label, Better::Lower, response.p99)
                .in_steps_of(percentile_step(response.p99));
            let (max_key, max_label) = (format!("{key}.max"), format!("{label} response max"));
            figures.nanos(&max_key, &max_label, Better::Lower, response.max);
        }
    }
}

/// Slack may be negative, which no figure can be; late loops tell of it.
fn rtapp(result: &RtappResult, figures: &mut Figures) {
    let threads = &result.threads;
    figures.count("loops", "loops", Better::Higher, threads.iter().map(|t| t.loops).sum()).headline();
    let late: Vec<u64> = threads.iter().filter_map(|t| t.late).collect();
    if !late.is_empty() {
        figures.count("late", "late loops", Better::Lower, late.iter().sum()).headline();
    }
    let most = |column: Option<RtappColumn>| column.map_or(0, |c| c.max.unsigned_abs());
    if let Some(worst) = threads.iter().filter(|t| t.wu_lat_ns.is_some()).map(|t| most(t.wu_lat_ns)).max() {
        figures.nanos("worst_wu_lat", "worst wu_lat", Better::Lower, worst).headline();
    }
    if threads.len() < 2 {
        return;
    }
    for t in threads {
        let (key, name) = (format!("t{}", t.t), &t.name);
        figures.count(&format!("{key}.loops"), &format!("{name} loops"), Better::Higher, t.loops);
        if let Some(late) = t.late {
            figures.count(&format!("{key}.late"), &format!("{name} late"), Better::Lower, late);
        }
        let longest = most(Some(t.run_ns));
        figures.nanos(&format!("{key}.run"), &format!("{name} longest run"), Better::Lower, longest);
        if t.wu_lat_ns.is_some() {
            let worst = most(t.wu_lat_ns);
            figures.nanos(&format!("{key}.wu_lat"), &format!("{name} worst wu_lat"), Better::Lower, worst);
        }
    }
}

fn replay(result: &ReplayResult, figures: &mut Figures) {
    if let Some(finish) = &result.finish
        && let Some(time) = finish.seconds
    {
        let label = finish.comm.as_ref().map_or("last exit".to_owned(), |name| format!("of {name} finished"));
        figures.nanos("finish", &label, Better::Lower, time.as_ns()).headline();
    }
    if let Some(time) = result.seconds {
        // Often that of a thread of the kernel, which nobody waits for.
        figures.nanos("time", "last burst", Better::Lower, time.as_ns());
    }
    figures.count("bursts_completed", "bursts completed", Better::Higher, result.bursts_completed).headline();
}
