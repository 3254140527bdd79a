//! hog and periodic.

use super::*;

#[test]
fn hogs_compute_without_a_pause() {
    let mut built = build("hog -n 2 --nice -5 -a 1-2 --working-set 64K", 4);
    let spec = &built.tasks[1].spec;
    assert_eq!(
        (spec.policy, spec.nice, spec.working_set_bytes),
        (Policy::Normal, Nice::new(-5).unwrap(), 65_536)
    );
    assert_eq!(spec.cpus.unwrap().to_string(), "1-2");
    assert_eq!(built.task(1).steps(3), ["Compute(10000000ns)", "Compute(10000000ns)", "Compute(10000000ns)"]);
    let LoadResult::Hog(result) = built.load.result("") else { panic!() };
    let cycles: Vec<_> = result.threads.iter().map(|t| t.cycles).collect();
    assert_eq!(cycles, [0, 2]);
    assert!(!built.load.is_finished());
}

#[test]
fn a_hog_with_a_priority_is_fifo_and_one_with_a_duration_ends() {
    let mut built = build("hog -p 50 -D 25ms", 4);
    assert_eq!(built.tasks[0].spec.policy, fifo(50));
    assert_eq!(built.task(0).until_exit().len(), 3);
    assert!(built.load.is_finished());
    assert_eq!((length("hog"), length("hog -D 1")), (Length::Endless, Length::Time(Nanos::from_secs(1))));
}

/// As chrt -d: every task has its own reservation.
#[test]
fn deadline_tasks_have_the_parameters_that_are_typed() {
    let policy = |load: &str| machine::policy_text(build(load, 2).tasks.pop().expect("a task").spec.policy);
    assert_eq!(policy("hog -n 2 --deadline 10ms/30ms/100ms"), "deadline:10000000:30000000:100000000");
    assert_eq!(
        policy("hog --deadline 10000/100ms --reclaim"),
        "deadline:10000000:100000000:100000000:reclaim"
    );
    assert_eq!(policy("periodic -p 50ms --deadline 5ms"), "deadline:5000000:50000000:50000000");
    assert_eq!(policy("periodic -p 50ms,20ms --deadline 5ms/9ms"), "deadline:5000000:9000000:20000000");
    for (load, expected) in [
        ("hog --deadline 10ms", "write RUNTIME/DEADLINE/PERIOD"),
        ("hog --deadline 200ms/100ms", "have to be in this order"),
        ("hog --deadline 10us/50us", "a period of 50000 ns is outside the kernel's limits"),
        ("hog --deadline 1ms/9ms -p 50", "--deadline"),
        ("hog --reclaim", "--deadline"),
        ("periodic -p 5ms --deadline 6ms", "have to be in this order"),
        ("periodic -p 5ms --deadline 1ms/6ms", "have to be in this order"),
    ] {
        let error = crate::load::registry::parse(load).expect_err(load).to_string();
        assert!(error.contains(expected), "{load}: {error}");
    }
}

/// A job that is done after its deadline has missed it, not one that is done after its period.
#[test]
fn a_missed_deadline_is_one_of_the_task() {
    for (load, missed) in
        [("periodic -p 50ms -r 3ms --deadline 1ms", 0), ("periodic -p 50ms -r 3ms --deadline 1ms/2ms", 1)]
    {
        let mut built = build(load, 1);
        let mut task = built.task(0);
        // The run takes 3 ms on a CPU of its own, which is behind the deadline.
        task.steps(2);
        let LoadResult::Periodic(result) = built.load.result("") else { panic!() };
        assert_eq!(result.threads[0].deadline_misses, Some(missed));
    }
}

/// sched_setattr comes first, with a slice that the kernel would keep as it is (eevdf-class 0.6).
#[test]
fn tasks_ask_for_the_slice_that_they_are_to_have() {
    assert_eq!(build("hog --slice 3ms", 1).task(0).steps(2), ["SetSlice(3000000ns)", "Compute(10000000ns)"]);
    let mut periodic = build("periodic -p 10ms -r 1ms --slice 500", 1);
    assert_eq!(periodic.task(0).steps(2), ["SetSlice(500000ns)", "Compute(1000000ns)"]);
    for outside in ["hog --slice 99us", "periodic --slice 101ms"] {
        let error =
            crate::load::registry::parse(outside).expect_err("the kernel would change it").to_string();
        assert!(error.contains("slices are 100 us to 100 ms"), "{error}");
    }
}

/// As uclampset does before it executes the program.
#[test]
fn tasks_ask_for_their_clamps_first() {
    let hog = build("hog --util-max 300 --util-min 20", 1).task(0).steps(1);
    assert_eq!(hog, ["SetClamps(ClampRequest { min: Some(20), max: Some(300) })"]);
    let periodic = build("periodic --util-min 512", 1).task(0).steps(1);
    assert_eq!(periodic, ["SetClamps(ClampRequest { min: Some(512), max: None })"]);
    for refused in ["hog --util-min 1025", "hog --util-min 3 --util-max 2", "periodic --util-max -1"] {
        let error = crate::load::registry::parse(refused).expect_err("refused").to_string();
        assert!(error.contains("util-m"), "{refused}: {error}");
    }
}

/// Period in nanoseconds and priority of each task of the benchmark load.
fn bench(cpus: usize) -> Vec<(u64, u8)> {
    let mut built = build("periodic --bench", cpus);
    (0..built.tasks.len())
        .map(|n| {
            let priority = built.tasks[n].spec.policy.rt_priority().unwrap().get();
            let mut task = built.task(n);
            let Step::Compute(run) = task.step() else { panic!() };
            let Step::SleepUntil(Nanos(period)) = task.step() else { panic!() };
            assert_eq!(run.0, period * 35 / 100);
            (period, priority)
        })
        .collect()
}

#[test]
fn the_benchmark_load_spreads_its_periods_geometrically() {
    assert_eq!(bench(1), [(100_000, 95), (10_000_000, 94)]);
    // 100 us times 100^(i/3), to the nanosecond.
    assert_eq!(bench(2), [(100_000, 95), (464_159, 94), (2_154_435, 93), (10_000_000, 92)]);
    let large = bench(512);
    assert_eq!((large.len(), large[0], large[1_023]), (1_024, (100_000, 95), (10_000_000, 1)));
    // Against the platform's floating point.
    for (i, (period, _)) in bench(40).into_iter().enumerate() {
        let exact = 1e5 * 100f64.powf(i as f64 / 79.0);
        assert!((period as f64 - exact).abs() < 0.51, "{i}: {period} {exact}");
    }
}

#[test]
fn releases_come_in_time_whatever_the_work_before_took() {
    let mut built = build("periodic -p 10ms -r 4ms", 1);
    let mut task = built.task(0);
    // First runs 3 ms after its release, then takes 8 ms longer than planned.
    task.now = ms(3);
    task.step();
    task.now += ms(8);
    assert_eq!(
        task.steps(4),
        ["SleepUntil(10000000ns)", "Compute(4000000ns)", "SleepUntil(20000000ns)", "Compute(4000000ns)"]
    );
    let LoadResult::Periodic(result) = built.load.result("") else { panic!() };
    let response = result.threads[0].response_ns.unwrap();
    assert_eq!((response.count, result.threads[0].deadline_misses), (2, Some(1)));
    assert_eq!((response.max, response.min), (ms(15).0, ms(9).0));
}

/// The first job is done 37 ms after its release: three periods are over. A program that catches up does the
/// jobs of 10, 20 and 30 ms next, cyclictest and mix_lab go on at 40 ms, a timer of rt-app starts anew.
#[test]
fn missed_periods_are_made_up_for_or_left_out() {
    let sleeps = |options: &str| {
        let mut built = build(&format!("periodic -p 10ms -r 4ms {options}"), 1);
        let mut task = built.task(0);
        task.step();
        task.now = ms(37);
        let first = task.step();
        task.now = task.now.max(ms(40));
        task.step();
        [first, task.step()].map(|step| format!("{step:?}"))
    };
    let until =
        |first: u64, second: u64| [first, second].map(|ms| format!("SleepUntil({}ns)", ms * 1_000_000));
    assert_eq!(sleeps(""), until(10, 20));
    assert_eq!(sleeps("--missed catch-up"), until(10, 20));
    assert_eq!(sleeps("--missed skip"), until(40, 50));
    assert_eq!(sleeps("--missed restart"), until(37, 47));
    let refused = refusal("periodic --sleep 1ms --missed skip");
    assert!(refused.contains("cannot be used with"), "{refused}");
}

#[test]
fn random_releases_are_a_poisson_process_of_the_same_rate() {
    let mut built = build("periodic --random -p 1ms -r 50us -P 50", 4);
    let mut task = built.task(0);
    let releases: Vec<u64> = (0..4_000)
        .map(|_| {
            let Step::SleepUntil(release) = task.step() else { panic!("waits for its release") };
            task.now = task.now.max(release);
            assert!(matches!(task.step(), Step::Compute(Nanos(50_000))));
            release.0
        })
        .collect();
    let gaps: Vec<u64> = releases.windows(2).map(|w| w[1] - w[0]).collect();
    let mean = gaps.iter().sum::<u64>() / gaps.len() as u64;
    assert!(mean.abs_diff(1_000_000) < 50_000, "mean gap {mean}");
    // 1 - 1/e of an exponential lie below its mean.
    let short = gaps.iter().filter(|gap| **gap < 1_000_000).count();
    assert!(short.abs_diff(2_528) < 130, "{short} short gaps");
    let LoadResult::Periodic(result) = built.load.result("") else { panic!() };
    assert_eq!(result.threads[0].deadline_misses, None);
}

#[test]
fn options_of_periodic() {
    let tasks = |command: &str| -> Vec<(Option<u8>, String)> {
        let mut built = build(command, 4);
        (0..built.tasks.len())
            .map(|n| {
                let priority = built.tasks[n].spec.policy.rt_priority().map(RtPriority::get);
                (priority, built.task(n).steps(2).join(" "))
            })
            .collect()
    };
    let steps = |run_us: u64, period_us: u64| {
        format!("Compute({}ns) SleepUntil({}ns)", run_us * 1_000, period_us * 1_000)
    };
    assert_eq!(tasks("periodic"), [(None, steps(3_500, 10_000))]);
    assert_eq!(
        tasks("periodic -n3 -p 2ms,1000 -u 50% -P 10 -R"),
        [(Some(9), steps(1_000, 2_000)), (Some(10), steps(500, 1_000)), (Some(8), steps(1_000, 2_000))]
    );
    assert_eq!(tasks("periodic -p 2ms -r 100us --prio 7"), [(Some(7), steps(100, 2_000))]);
}

#[test]
fn refusals() {
    let cases = [
        ("hog -y fifo", "hog: policies fifo and rr need a priority: add -p 1 to 99"),
        ("hog -y batch -p 5", "hog: a priority needs policy fifo or rr; fair tasks have --nice"),
        ("hog --nice 20", "hog: option '--nice <NICE>', value '20': nice values are -20 to 19"),
        ("hog -n0", "hog: option '--count <NUM>', value '0': it is a whole number from 1 to 100000"),
        (
            "periodic -p 1ms -r 2ms",
            "periodic: a run time of 0.002000000 s does not fit into a period of 0.001000000 s",
        ),
        (
            "periodic -u 1.5",
            "periodic: option '--utilisation <SHARE>', value '1.5': not a share of a CPU: write a number above 0 and up to \
             1, such as 0.35 or 35%",
        ),
        ("periodic --bench -n3", "periodic: the argument '--bench' cannot be used with '--count <NUM>'"),
    ];
    for (command, expected) in cases {
        assert_eq!(refusal(command), expected, "{command}");
    }
}

/// `--cpu-clock`: a job ends by the clock that it reads; `--sleep`: the next one follows after a sleep, from
/// the end of which its response is measured, and nothing is missed but the deadline of a deadline task.
#[test]
fn jobs_end_by_the_cpu_clock_and_follow_a_sleep() {
    let steps = |load: &str| build(load, 1).task(0).steps(4).join(" ");
    assert_eq!(
        steps("periodic -p 10ms -r 2ms --cpu-clock"),
        "ComputeByClock(2000000ns) SleepUntil(10000000ns) ComputeByClock(2000000ns) SleepUntil(20000000ns)"
    );
    assert_eq!(
        steps("periodic -r 2ms --sleep 3ms"),
        "Compute(2000000ns) SleepUntil(5000000ns) Compute(2000000ns) SleepUntil(10000000ns)"
    );
    for (load, missed) in [
        ("periodic -p 1ms -r 1ms --sleep 3ms", None),
        ("periodic -p 50ms -r 3ms --sleep 3ms --deadline 1ms/2ms", Some(3)),
    ] {
        let mut built = build(load, 1);
        built.task(0).steps(6);
        let LoadResult::Periodic(result) = built.load.result("") else { panic!() };
        assert_eq!((result.threads[0].cycles, result.threads[0].deadline_misses), (3, missed), "{load}");
    }
    for load in ["periodic --sleep 1ms --random", "periodic --sleep 0", "periodic --sleep 1ms --bench"] {
        assert!(crate::load::registry::parse(load).is_err(), "{load}");
    }
}
