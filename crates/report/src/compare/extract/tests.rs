use super::*;
use schema::{ClassLatency, LatencyByClass, LoadResult, Policy, RtMigrateResult, RtMigrateThread, example};

fn value(run: &RunResult, key: &str) -> Option<u64> {
    measure(run).into_iter().find(|figure| figure.metric.key == key).map(|figure| figure.value)
}

#[test]
fn keys_are_unique_and_in_a_fixed_order() {
    let run = example::run();
    let keys: Vec<String> = measure(&run).into_iter().map(|figure| figure.metric.key).collect();
    let mut unique = keys.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), keys.len());
    assert!(keys[0].starts_with("cyclictest."), "what the loads report comes first");
    assert_eq!(keys, measure(&run).into_iter().map(|figure| figure.metric.key).collect::<Vec<_>>());
}

#[test]
fn the_figures_of_cyclictest() {
    let mut run = example::run();
    run.loads.truncate(1);
    let LoadResult::Cyclictest(result) = &mut run.loads[0] else { panic!("cyclictest is the first load") };
    result.threads[0].cycles = 3;
    result.threads[1].cycles = 1;
    for (thread, mean) in result.threads.iter_mut().zip([10_000, 50_000]) {
        thread.latency_ns = Some(example::latency(thread.cycles, mean));
    }
    assert_eq!(value(&run, "cyclictest.worst_latency"), Some(600_000));
    assert_eq!(value(&run, "cyclictest.p99_latency"), Some(200_000));
    assert_eq!(value(&run, "cyclictest.mean_latency"), Some(20_000), "weighted by cycles");
    assert_eq!(value(&run, "cyclictest.cycles"), Some(4));
    assert_eq!(value(&run, "cyclictest.t1.avg"), Some(50_000));
}

#[test]
fn without_nanoseconds_cyclictest_is_compared_in_steps_of_a_microsecond() {
    let mut run = example::run();
    let LoadResult::Cyclictest(result) = &mut run.loads[0] else { panic!("cyclictest is the first load") };
    for thread in &mut result.threads {
        thread.latency_ns = None;
        thread.overflows = 0;
    }
    let worst = measure(&run).remove(0);
    assert_eq!((worst.value, worst.metric.resolution), (117_000, 1_000));
    // Five samples of the histogram: the 99th percentile is the largest.
    assert_eq!(value(&run, "cyclictest.p99_latency"), Some(7_000));
}

#[test]
fn a_percentile_may_be_off_by_a_bucket() {
    let run = example::run();
    let p99 = measure(&run).into_iter().find(|figure| figure.metric.key == "tasks.cyclictest.p99_latency");
    let p99 = p99.expect("a figure of every task");
    assert_eq!((p99.value, p99.metric.resolution), (10_400, 650));
}

#[test]
fn a_percentile_beyond_the_histogram_is_not_made_up() {
    let mut run = example::run();
    let LoadResult::Cyclictest(result) = &mut run.loads[0] else { panic!("cyclictest is the first load") };
    result.threads[1].latency_ns = None;
    result.threads[1].overflows = 5;
    assert_eq!(value(&run, "cyclictest.p99_latency"), None);
    assert_eq!(value(&run, "cyclictest.t0.p99"), Some(16_840));
    assert_eq!(value(&run, "cyclictest.t1.p99"), None);
}

/// Two threads of 1000 cycles each; the two longest of all 2000 are the 0.1 % beyond.
#[test]
fn with_histograms_cyclictest_has_a_percentile_of_all_threads() {
    let mut run = example::run();
    let LoadResult::Cyclictest(result) = &mut run.loads[0] else { panic!("cyclictest is the first load") };
    let of = |counts: &[(u64, u64)]| schema::UsHistogram { counts: counts.iter().copied().collect() };
    let histograms = [of(&[(3, 997), (8, 1), (9, 2)]), of(&[(4, 1000)])];
    for (thread, histogram) in result.threads.iter_mut().zip(histograms) {
        (thread.cycles, thread.histogram, thread.overflows) = (1_000, histogram, 0);
    }
    assert_eq!(value(&run, "cyclictest.p999_of_all"), Some(8_000));
    let LoadResult::Cyclictest(result) = &mut run.loads[0] else { panic!("cyclictest is the first load") };
    result.threads[1].histogram.counts.clear();
    assert_eq!(value(&run, "cyclictest.p999_of_all"), None, "one has no histogram");
}

#[test]
fn a_second_load_of_a_kind_has_a_number() {
    let mut run = example::run();
    let row = RtMigrateThread { id: 0, vol: 1, nonvol: 2, migrated: 77, iterations: 4 };
    run.loads.push(LoadResult::RtMigrate(RtMigrateResult::new("rt-migrate".to_owned(), vec![row])));
    assert_eq!(value(&run, "rt_migrate.migrated"), Some(2_194));
    assert_eq!(value(&run, "rt_migrate#2.migrated"), Some(77));
}

#[test]
fn a_load_that_did_not_finish_has_no_time() {
    let mut run = example::run();
    assert_eq!(value(&run, "make.time"), Some(8_036_175_000));
    let LoadResult::Make(result) = &mut run.loads[3] else { panic!("make is the fourth load") };
    result.seconds = None;
    assert_eq!(value(&run, "make.time"), None);
    assert_eq!(value(&run, "make.objects"), Some(343));
}

#[test]
fn tasks_of_one_name_are_taken_together() {
    let run = example::run();
    assert_eq!(value(&run, "tasks.cyclictest.vol"), Some(10_001 + 10_002));
    assert_eq!(value(&run, "tasks.cyclictest.worst_latency"), Some(31_200));
    assert_eq!(value(&run, "tasks.periodic.mean_latency"), Some(2_600));
}

/// A thread waited 9 ms before it was real-time, and 40 us at most since.
#[test]
fn waits_from_before_a_task_was_real_time_are_no_real_time_latencies() {
    let mut run = example::run();
    run.tasks = vec![example::task(1, "t", Policy::Fifo, 80), example::task(2, "f", Policy::Other, 0)];
    for task in &mut run.tasks {
        task.wakeup_latency_ns = example::latency(10, 1_000);
        task.wakeup_latency_ns.max = 50_000;
    }
    let worst =
        |run: &RunResult| ["rt_tasks", "fair_tasks"].map(|c| value(run, &format!("{c}.worst_latency")));
    run.tasks[0].wakeup_latency_ns.max = 9_000_000;
    assert_eq!(worst(&run), [Some(9_000_000), Some(50_000)]);
    let of = |count, sum_ns, max_ns| ClassLatency { count, sum_ns, max_ns };
    run.tasks[0].latency_by_class =
        Some(LatencyByClass { realtime: of(4, 100_000, 40_000), fair: of(1, 9_000_000, 9_000_000) });
    assert_eq!(worst(&run), [Some(40_000), Some(9_000_000)]);
    assert_eq!(value(&run, "rt_tasks.mean_latency"), Some(25_000));
    assert_eq!(value(&run, "fair_tasks.mean_latency"), Some((10 * 1_000 + 9_000_000) / 11));
}

#[test]
fn classes_without_tasks_have_no_figures() {
    let mut run = example::run();
    assert!(value(&run, "fair_tasks.worst_latency").is_some());
    run.tasks.retain(|task| task.policy == Policy::Fifo);
    assert_eq!(value(&run, "fair_tasks.worst_latency"), None);
    assert_eq!(value(&run, "rt_tasks.wait"), Some(24_000_000 + 1_001 + 1_002));
}

#[test]
fn the_machine_is_the_sum_or_the_worst_of_its_cpus() {
    let mut run = example::run();
    run.cpus[1].rq_lock.wait_max_ns = 9_999;
    assert_eq!(value(&run, "rq_lock.wait_max"), Some(9_999));
    assert_eq!(value(&run, "rq_lock.contended"), Some(24));
    run.cpus[0].rq_lock.waiters_holding_own_max = 3;
    assert_eq!(value(&run, "rq_lock.waiters_holding_own_max"), Some(3));
    assert_eq!(value(&run, "cpus.idle"), Some(2 * 899_120_000 + 1));
}

#[test]
fn the_figures_of_the_fork_documents_loads() {
    let mut run = example::run();
    assert_eq!(value(&run, "wakeup_latency.avg"), Some(1_600_000));
    assert_eq!(value(&run, "wakeup_latency.max"), Some(19_200_000));
    assert_eq!(value(&run, "wakeup_latency.missed"), Some(2));
    assert_eq!(value(&run, "fork_storm.hog_share_permille"), Some(215));
    for load in &mut run.loads {
        match load {
            LoadResult::WakeupLatency(r) => r.latency_ns = schema::LatencySummary::default(),
            LoadResult::ForkStorm(r) => r.hogs = 0,
            _ => (),
        }
    }
    assert_eq!(value(&run, "wakeup_latency.max"), None, "no expiry was served");
    assert_eq!(value(&run, "fork_storm.hog_share_permille"), None, "nobody to have a share");
}

#[test]
fn the_figures_of_the_buddy_documents_loads() {
    let run = example::run();
    assert_eq!(value(&run, "keyrepeat.spread"), Some(4_100_000));
    assert_eq!(value(&run, "keyrepeat.longest"), Some(396_000_000));
    assert_eq!(value(&run, "vmark.messages_per_second"), Some(100_000));
    assert_eq!(value(&run, "oltp.requests_per_second"), Some(51_934));
    assert_eq!(value(&run, "oltp.buddy_picks_per_1000"), Some(1_000));
    assert_eq!(value(&run, "oltp.lock_holder_preemptions"), Some(45));
    assert_eq!(value(&run, "oltp.refill"), Some(100), "67 ms for 670 000 requests");
}

#[test]
fn of_a_stretch_of_a_run_what_the_loads_report_is_left_out() {
    let mut run = example::run();
    run.window = Some(schema::Window { from_ns: 0, to_ns: 1_000 });
    assert_eq!(value(&run, "cyclictest.worst_latency"), None);
    assert!(value(&run, "tasks.cyclictest.worst_latency").is_some());
}

#[test]
fn a_change_of_settings_divides_the_worst_latency() {
    let mut run = example::run();
    // Changes at 2 s; intervals of a second.
    assert_eq!(value(&run, "cyclictest.phase1.worst_latency"), Some(117_000));
    assert_eq!(value(&run, "cyclictest.phase2.worst_latency"), Some(12_000));
    // An interval that both have is nobody's.
    run.kernel.changes[1].at_ns = 1_500_000_000;
    assert_eq!(value(&run, "cyclictest.phase1.worst_latency"), Some(31_000));
    assert_eq!(value(&run, "cyclictest.phase2.worst_latency"), Some(12_000));
    run.kernel.changes.truncate(1);
    assert_eq!(value(&run, "cyclictest.phase1.worst_latency"), None);
}

#[test]
fn a_group_is_compared_by_its_name_in_a_whole_run_only() {
    let mut run = example::run();
    assert_eq!(value(&run, "groups.web.usage"), Some(1_234_567_000));
    assert_eq!(value(&run, "groups.web.share_permille"), Some(750));
    assert_eq!(value(&run, "groups.web.nr_throttled"), Some(31));
    let throttled = measure(&run).into_iter().find(|one| one.metric.key == "groups.web.throttled");
    let throttled = throttled.expect("a figure of every group").metric;
    assert_eq!(
        (throttled.label.as_str(), throttled.better),
        ("group web: throttled time", schema::Better::Lower)
    );
    run.window = Some(schema::Window { from_ns: 0, to_ns: 1_000 });
    assert_eq!(value(&run, "groups.web.usage"), None);
}

#[test]
fn times_in_idle_states_are_compared_where_the_machine_has_several() {
    let mut run = example::run();
    let time = |run: &RunResult| value(run, "idle.C6.time");
    assert_eq!(time(&run), Some(2 * 702_000_000), "of both CPUs");
    run.window = Some(schema::Window { from_ns: 0, to_ns: 1_000 });
    assert_eq!(time(&run), Some(2 * 702_000_000), "the result has what belongs to the stretch");
    run.idle = None;
    assert_eq!(time(&run), None);
}

#[test]
fn energy_is_compared_where_the_machine_says_it_and_in_a_whole_run_only() {
    let mut run = example::run();
    let energy = run.frequency.as_ref().and_then(|frequency| frequency.energy_uj);
    assert!(energy.is_some());
    assert_eq!(value(&run, "totals.energy"), energy);
    run.window = Some(schema::Window { from_ns: 0, to_ns: 1_000 });
    assert_eq!(value(&run, "totals.energy"), None);
    (run.window, run.frequency) = (None, None);
    assert_eq!(value(&run, "totals.energy"), None);
}
