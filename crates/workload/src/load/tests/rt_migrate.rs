use super::*;

#[test]
fn seed_000_on_four_cpus_has_eight_threads_at_2_to_9_and_main_at_10() {
    let built = build("rt-migrate", 4);
    let policies: Vec<_> = built.tasks.iter().map(|t| t.spec.policy).collect();
    let expected: Vec<_> = [10].into_iter().chain(2..=9).map(fifo).collect();
    assert_eq!(policies, expected);
    assert_eq!(built.tasks[1].spec.comm, "mig0");
    assert_eq!(length("rt-migrate"), Length::Time(Nanos::from_secs(5)));
}

#[test]
fn main_lets_all_start_sleeps_and_tells_them_to_stop() {
    let mut built = build("rt-migrate -s 2", 4);
    assert_eq!(built.task(0).until_exit(), ["BarrierWait(BarrierId(0))", "SleepFor(2000000000ns)"]);
}

#[test]
fn a_thread_takes_the_locks_in_order_with_seed_000s_words() {
    // Two CPUs: four threads, two locks; thread 1 spins (4 - 1 + 1) ms and sleeps 1 ms.
    let mut built = build("rt-migrate -i 1", 2);
    let steps = built.task(2).until_exit();
    let lock = |l: u64, from: u64| {
        vec![
            format!("Marker(\"thread 1 iter 0, taking lock {l}\")"),
            format!("Lock(MutexId({l}))"),
            format!("Marker(\"thread 1 iter 0, took lock {l}\")"),
            format!("SpinUntil({from}000000ns)"),
            format!("Marker(\"thread 1 iter 0, unlock lock {l}\")"),
            format!("Unlock(MutexId({l}))"),
            "Marker(\"thread 1 iter 0 sleeping\")".to_string(),
            "SleepFor(1000000ns)".to_string(),
        ]
    };
    let mut expected = vec!["BarrierWait(BarrierId(0))".to_string()];
    expected.extend(lock(0, 4));
    expected.extend(lock(1, 9));
    assert_eq!(steps, expected);
}

#[test]
fn thread_0_does_not_sleep() {
    let mut built = build("rt-migrate -i 1 --no-markers", 1);
    assert_eq!(
        built.task(1).until_exit(),
        ["BarrierWait(BarrierId(0))", "Lock(MutexId(0))", "SpinUntil(3000000ns)", "Unlock(MutexId(0))"]
    );
}

#[test]
fn the_stop_flag_is_looked_at_between_passes_only() {
    let mut built = build("rt-migrate --no-markers -l 2 -n 1", 4);
    let mut thread = built.task(1);
    thread.steps(3);
    built.task(0).until_exit();
    // The rest of the pass: unlock, then all of lock 1.
    assert_eq!(thread.until_exit().len(), 1 + 3);
    assert!(built.load.is_finished());
}

#[test]
fn rows_are_the_threads_own_counters_after_the_latest_pass() {
    let mut built = build("rt-migrate -n 1 -l 1 -i 2 --no-markers", 4);
    let mut thread = built.task(1);
    thread.steps(4);
    thread.counters.nr_voluntary_switches = 5;
    thread.counters.nr_involuntary_switches = 6;
    thread.counters.nr_migrations = 7;
    thread.step();
    thread.counters.nr_migrations = 8;
    let LoadResult::RtMigrate(result) = built.load.result("") else { panic!() };
    let row = result.threads[0];
    assert_eq!((row.vol, row.nonvol, row.migrated), (5, 6, 7));
    assert_eq!(row.iterations, 1);
}

#[test]
fn the_lab_program_has_defaults_of_its_own() {
    let mut built = build("rt_migrate_lab -c 1 -n 2 -i 1", 2);
    let policies: Vec<_> = built.tasks.iter().map(|t| t.spec.policy).collect();
    assert_eq!(policies, [fifo(98), fifo(2), fifo(3)]);
    assert!(built.tasks.iter().all(|t| t.spec.cpus == Some(CpuMask::first_n(1))));
    // One lock, no markers, spins (2 - 1) ms.
    assert_eq!(
        built.task(2).until_exit()[1..],
        ["Lock(MutexId(0))", "SpinUntil(1000000ns)", "Unlock(MutexId(0))", "SleepFor(1000000ns)"]
    );
    assert_eq!(length("rt_migrate_lab"), Length::Time(Nanos::from_secs(10)));
}

#[test]
fn spinning_can_count_cpu_time_and_take_longer() {
    let mut built = build("rt_migrate_lab -n 1 -l 1 -i 1 -u", 2);
    assert_eq!(built.task(1).until_exit()[2], "Compute(1000000ns)");
    let mut built = build("rt_migrate_lab -n 1 -l 1 -i 100 --jitter 1400 -u", 2);
    let mut thread = built.task(1);
    let mut spins = Vec::new();
    loop {
        match thread.step() {
            Step::Compute(spin) => spins.push(spin),
            Step::Exit => break,
            _ => {}
        }
    }
    assert!(spins.iter().all(|s| (us(1_000)..=us(2_400)).contains(s)));
    assert!(
        spins.iter().max().unwrap().0 - spins.iter().min().unwrap().0 > 1_000_000,
        "spread over the range"
    );
}

#[test]
fn refusals() {
    let cases = [
        (
            "rt-migrate -n 98",
            "rt-migrate: 98 threads from priority 2 and main at 100 do not fit priorities 1 to 99: choose \
             fewer with -n",
        ),
        ("rt-migrate -c 5", "rt-migrate: option '-c 5': the machine has 4 CPUs"),
        ("rt-migrate -b 0", "rt-migrate: thread 0 would have real-time priority 0: priorities are 1 to 99"),
        ("rt_migrate_lab -s 0", "rt_migrate_lab: option '--seconds <TIME>', value '0': must be above 0"),
    ];
    for (command, expected) in cases {
        assert_eq!(refusal(command), expected, "{command}");
    }
}
