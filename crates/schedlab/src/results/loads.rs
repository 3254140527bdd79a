//! What the loads themselves say.

use super::tasks::pid;
use super::{fair_loads, latency};
use crate::loads::LoadSpec;
use machine::TaskOutcome;
use scheduler::Nanos;
use schema::{
    CyclictestResult, CyclictestThread, HackbenchMode, HackbenchResult, LoadResult, MakeResult, MaxOverTime,
    ReplayResult, RtMigrateResult, RtMigrateThread, RtappColumn, RtappResult, RtappThread, Seconds,
    ThreadResult, ThreadsResult, UsHistogram,
};
use workload::load;
use workload::load::BuiltLoad;
use workload::record::LatencyStats;
use workload::rtapp::{RtAppResult, RtAppThread, Summary};

/// In the order of the loads; `tasks` are those of the run.
pub fn results(specs: &[LoadSpec], built: &[BuiltLoad], tasks: &[TaskOutcome]) -> Vec<LoadResult> {
    let pairs = specs.iter().zip(built);
    pairs.map(|(spec, built)| result(spec.text().to_owned(), built.result(), tasks)).collect()
}

fn result(load: String, result: load::LoadResult, tasks: &[TaskOutcome]) -> LoadResult {
    use load::LoadResult as Of;
    match result {
        Of::Cyclictest(r) => LoadResult::Cyclictest(cyclictest(load, &r)),
        Of::RtMigrate(r) => LoadResult::RtMigrate(rt_migrate(load, &r)),
        Of::Hackbench(r) => LoadResult::Hackbench(hackbench(load, &r)),
        Of::Make(r) => LoadResult::Make(MakeResult {
            load,
            jobs: r.jobs,
            objects: r.objects,
            seconds: r.time.map(seconds),
        }),
        Of::Hog(r) => LoadResult::Hog(threads(load, &r)),
        Of::Periodic(r) => LoadResult::Periodic(threads(load, &r)),
        Of::WakeupLatency(r) => LoadResult::WakeupLatency(fair_loads::wakeup_latency(load, &r)),
        Of::ForkStorm(r) => LoadResult::ForkStorm(fair_loads::fork_storm(load, &r)),
        Of::Keyrepeat(r) => LoadResult::Keyrepeat(fair_loads::keyrepeat(load, &r)),
        Of::Vmark(r) => LoadResult::Vmark(fair_loads::vmark(load, &r)),
        Of::Oltp(r) => LoadResult::Oltp(fair_loads::oltp(load, &r)),
        Of::RtApp(r) => LoadResult::Rtapp(rt_app(load, &r)),
        Of::Replay(r) => LoadResult::Replay(replay(load, &r, tasks)),
    }
}

fn seconds(time: Nanos) -> Seconds {
    Seconds::from_ns(time.0)
}

fn us(time: Nanos) -> u64 {
    time.0 / 1_000
}

fn numbered<T, U>(items: &[T], of: impl Fn(u32, &T) -> U) -> Vec<U> {
    (0..).zip(items).map(|(number, item)| of(number, item)).collect()
}

fn cyclictest(load: String, result: &load::CyclictestResult) -> CyclictestResult {
    let histogram = result.threads.first().and_then(|t| t.latency.histogram());
    CyclictestResult {
        load,
        histogram_us: histogram.map(|h| h.counts.len() as u64),
        threads: numbered(&result.threads, cyclictest_thread),
        max_over_time: MaxOverTime {
            interval_ns: result.series.interval().0,
            max_ns: result.series.maxima().into_iter().map(|max| max.0).collect(),
        },
    }
}

fn cyclictest_thread(t: u32, thread: &load::CyclictestThread) -> CyclictestThread {
    let latency = &thread.latency;
    let histogram = latency.histogram();
    CyclictestThread {
        t,
        pid: pid(thread.pid),
        prio: u32::from(thread.prio),
        interval_us: us(thread.interval),
        cycles: latency.count(),
        min_us: us(latency.min()),
        act_us: us(latency.last()),
        avg_us: us(latency.mean()),
        max_us: us(latency.max()),
        latency_ns: Some(latency::of_load(latency)),
        histogram: us_histogram(latency),
        overflows: histogram.map_or(0, |h| h.overflows),
        overflow_cycles: histogram.map_or(Vec::new(), |h| h.overflow_cycles.clone()),
    }
}

fn us_histogram(latency: &LatencyStats) -> UsHistogram {
    let counts = latency.histogram().map_or(&[][..], |h| &h.counts);
    UsHistogram { counts: (0..).zip(counts.iter().copied()).filter(|(_, count)| *count > 0).collect() }
}

fn rt_migrate(load: String, result: &load::RtMigrateResult) -> RtMigrateResult {
    let threads = numbered(&result.threads, |id, thread| RtMigrateThread {
        id,
        vol: thread.voluntary_switches,
        nonvol: thread.involuntary_switches,
        migrated: thread.migrations,
        iterations: thread.iterations,
    });
    RtMigrateResult::new(load, threads)
}

fn hackbench(load: String, result: &load::HackbenchResult) -> HackbenchResult {
    HackbenchResult {
        load,
        mode: match result.mode {
            load::HackbenchMode::Process => HackbenchMode::Process,
            load::HackbenchMode::Thread => HackbenchMode::Thread,
        },
        groups: result.groups,
        fds_per_group: result.fds_per_group,
        tasks: result.tasks(),
        loops: result.loops,
        data_size_bytes: result.data_size_bytes,
        time_s: result.time.map(seconds),
    }
}

fn threads(load: String, result: &load::ThreadsResult) -> ThreadsResult {
    let thread = |t, thread: &load::ThreadResult| ThreadResult {
        t,
        pid: pid(thread.pid),
        name: thread.name.clone(),
        cycles: thread.cycles,
        deadline_misses: thread.response.as_ref().and_then(LatencyStats::over_limit),
        response_ns: thread.response.as_ref().map(latency::of_load),
    };
    ThreadsResult { load, threads: numbered(&result.threads, thread) }
}

fn rt_app(load: String, result: &RtAppResult) -> RtappResult {
    let thread = |t, thread: &RtAppThread| {
        let with_timer = |column: Summary| (column.count() > 0).then(|| rt_app_column(column));
        RtappThread {
            t,
            pid: thread.pid.map(pid),
            name: thread.name.clone(),
            loops: thread.loops,
            perf: thread.perf,
            c_duration_ns: thread.c_duration.0,
            c_period_ns: thread.c_period.0,
            run_ns: rt_app_column(thread.run),
            period_ns: rt_app_column(thread.period),
            late: (thread.slack.count() > 0).then_some(thread.late),
            slack_ns: with_timer(thread.slack),
            wu_lat_ns: with_timer(thread.wu_lat),
        }
    };
    RtappResult { load, threads: numbered(&result.threads, thread) }
}

fn rt_app_column(column: Summary) -> RtappColumn {
    RtappColumn { min: column.min_ns(), mean: column.mean_ns(), max: column.max_ns() }
}

fn replay(load: String, result: &workload::replay::ReplayResult, tasks: &[TaskOutcome]) -> ReplayResult {
    ReplayResult {
        load,
        tasks: u32::try_from(result.tasks.len()).unwrap_or(u32::MAX),
        bursts: result.bursts,
        bursts_completed: result.bursts_completed,
        recorded_s: seconds(result.recorded),
        seconds: result.time.map(seconds),
        finish: super::replay::finish(result, tasks),
    }
}
