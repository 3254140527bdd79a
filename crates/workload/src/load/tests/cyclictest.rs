use super::*;
use machine::TaskSpec;
use schema::CyclictestThread;

/// Policy, CPUs and interval of each thread.
fn threads(command: &str, cpus: usize) -> Vec<(Policy, String, Nanos)> {
    let built = build(command, cpus);
    let LoadResult::Cyclictest(result) = built.load.result("") else { panic!("{command}") };
    // Nobody has a cpuset: all CPUs of the machine are there to choose from.
    let cpu_of = |spec: &TaskSpec| {
        let asked = spec.cpus.unwrap_or(CpuMask::first_n(cpus));
        let nth = |number: u32| asked.iter().nth((number % asked.weight()) as usize).expect("one of them");
        spec.nth_cpu.map_or("any".into(), |number| nth(number).0.to_string())
    };
    let row = |(task, thread): (&Spawn, &CyclictestThread)| {
        (task.spec.policy, cpu_of(&task.spec), us(thread.interval_us))
    };
    built.tasks.iter().zip(&result.threads).map(row).collect()
}

fn any(policy: Policy, interval: Nanos) -> (Policy, String, Nanos) {
    (policy, "any".to_string(), interval)
}

fn on(cpu: u16, policy: Policy, interval: Nanos) -> (Policy, String, Nanos) {
    (policy, cpu.to_string(), interval)
}

#[test]
fn seed_002_runs_priorities_90_to_83_at_100_to_800_us() {
    let expected: Vec<_> = (0..8).map(|k| any(fifo(90 - k), us(100 * (u64::from(k) + 1)))).collect();
    assert_eq!(threads("cyclictest --unbound --priospread -n -p 90 -t 8 -d 100 -i 100", 8), expected);
}

#[test]
fn without_priospread_all_threads_have_one_priority() {
    assert_eq!(
        threads("cyclictest --unbound -p90 -t2 -d100 -i100", 8),
        [any(fifo(90), us(100)), any(fifo(90), us(200))]
    );
}

/// machine.md 5.7: of eight threads that nobody pinned, the first, third, fifth and seventh stayed on one of
/// two CPUs; on four CPUs it was every fourth.
#[test]
fn threads_that_nobody_pins_take_turns_at_the_cpus() {
    let cpus =
        |of| threads("cyclictest -t 8 -p 90", of).into_iter().map(|(_, cpu, _)| cpu).collect::<Vec<_>>();
    assert_eq!(cpus(2), ["0", "1", "0", "1", "0", "1", "0", "1"]);
    assert_eq!(cpus(4), ["0", "1", "2", "3", "0", "1", "2", "3"]);
}

#[test]
fn seed_001_runs_one_pinned_thread_on_each_cpu() {
    let expected: Vec<_> = (0..3).map(|cpu| on(cpu, fifo(95), us(100))).collect();
    for command in ["cyclictest --numa -p95 -m -d0 -i100", "cyclictest -q -m -S -p 95 -d 0 -i 100"] {
        assert_eq!(threads(command, 3), expected, "{command}");
    }
}

#[test]
fn threads_start_together_or_one_after_the_other() {
    let starts = |command| build(command, 3).tasks.iter().map(|task| task.at).collect::<Vec<_>>();
    assert_eq!(starts("cyclictest -S"), [Nanos::ZERO; 3]);
    assert_eq!(starts("cyclictest -S --stagger 700"), [us(0), us(700), us(1_400)]);
}

#[test]
fn options_of_the_real_command_line() {
    let normal = Policy::Normal;
    let each = |policy: Policy| (0..4).map(|cpu| on(cpu, policy, us(1_000))).collect();
    let rr = Policy::Rr(RtPriority::new(7).unwrap());
    let cases = [
        ("cyclictest", vec![on(0, normal, us(1_000))]),
        ("cyclictest -t2", vec![on(0, normal, us(1_000)), on(1, normal, us(1_500))]),
        ("cyclictest --unbound -t2 -d 0", vec![any(normal, us(1_000)), any(normal, us(1_000))]),
        ("cyclictest -t -d0", each(normal)),
        ("cyclictest -t -p 7 -d0", each(fifo(7))),
        ("cyclictest -i 5ms", vec![on(0, normal, ms(5))]),
        ("cyclictest -y rr -p7", vec![on(0, rr, us(1_000))]),
        ("cyclictest --policy=batch", vec![on(0, Policy::Batch, us(1_000))]),
        ("cyclictest --policy other -p 5", vec![on(0, fifo(5), us(1_000))]),
        ("cyclictest -i100 -i200", vec![on(0, normal, us(200))]),
        ("cyclictest --interv 300", vec![on(0, normal, us(300))]),
        ("cyclictest -a -t2 -d0", vec![on(0, normal, us(1_000)), on(1, normal, us(1_000))]),
        ("cyclictest -a 2 -t1", vec![on(2, normal, us(1_000))]),
        (
            "cyclictest -a1,3 -t3 -d0",
            vec![on(1, normal, us(1_000)), on(3, normal, us(1_000)), on(1, normal, us(1_000))],
        ),
        ("/usr/bin/cyclictest '-i' \"100\"", vec![on(0, normal, us(100))]),
    ];
    for (command, expected) in cases {
        assert_eq!(threads(command, 4), expected, "{command}");
    }
}

#[test]
fn lengths() {
    let cases = [
        ("cyclictest", Length::Endless),
        ("cyclictest -l 0", Length::Endless),
        ("cyclictest -l1000 -i100", Length::Time(ms(100))),
        ("cyclictest -D 10", Length::Time(Nanos::from_secs(10))),
        ("cyclictest -D60s", Length::Time(Nanos::from_secs(60))),
        ("cyclictest --duration=1m", Length::Time(Nanos::from_secs(60))),
        ("cyclictest -D 1h", Length::Time(Nanos::from_secs(3_600))),
    ];
    for (command, expected) in cases {
        assert_eq!(length(command), expected, "{command}");
    }
}

#[test]
fn a_cycle_sleeps_measures_and_works() {
    let mut built = build("cyclictest -i 100 -l 3", 1);
    let mut thread = built.task(0);
    thread.now = us(7);
    assert!(!built.load.is_finished());
    assert_eq!(
        thread.until_exit(),
        [
            "SleepUntil(107000ns)",
            "Compute(1500ns)",
            "SleepUntil(207000ns)",
            "Compute(1500ns)",
            "SleepUntil(307000ns)",
            "Compute(1500ns)"
        ]
    );
    assert!(built.load.is_finished());
    assert_eq!(thread.iterations, 3);
}

#[test]
fn latency_is_the_wakeup_less_the_programmed_time_and_late_cycles_are_skipped() {
    let mut built = build("cyclictest -i 100 -h 50", 1);
    let mut thread = built.task(0);
    let late = |thread: &mut Script, by: Nanos| {
        let Step::SleepUntil(time) = thread.step() else { panic!("no sleep") };
        thread.now += by;
        thread.step();
        time
    };
    let sleeps = [us(4), us(9), us(230), us(0), us(5)].map(|by| late(&mut thread, by));
    // The third sleep, until 300, ended at 530: the timer goes on at 600.
    assert_eq!(sleeps, [us(100), us(200), us(300), us(600), us(700)]);
    let LoadResult::Cyclictest(result) = built.load.result("") else { panic!() };
    let thread = &result.threads[0];
    assert_eq!((thread.cycles, thread.min_us, thread.max_us), (5, 0, 230));
    assert_eq!((thread.histogram.count_at(4), thread.histogram.count_at(9)), (1, 1));
    assert_eq!((thread.overflows, thread.overflow_cycles.as_slice()), (1, [2].as_slice()));
}

#[test]
fn relative_mode_sleeps_for_the_interval_and_measures_what_it_took_longer() {
    let mut built = build("cyclictest -r -i 100 -l 2 --cycle-cost 2us", 1);
    let mut thread = built.task(0);
    assert_eq!(
        thread.until_exit(),
        ["SleepFor(100000ns)", "Compute(2000ns)", "SleepFor(100000ns)", "Compute(2000ns)"]
    );
    let LoadResult::Cyclictest(result) = built.load.result("") else { panic!() };
    assert_eq!((result.threads[0].cycles, result.threads[0].max_us), (2, 0));
}

#[test]
fn a_duration_ends_the_threads() {
    let mut built = build("cyclictest -i 1000 -D 10ms", 1);
    assert_eq!(built.task(0).until_exit().len(), 2 * 10);
}

#[test]
fn a_histogram_sets_the_distance_to_zero_and_says_so_if_one_was_given() {
    assert_eq!(
        threads("cyclictest -h 100 -t2 -d100", 4),
        [on(0, Policy::Normal, us(1_000)), on(1, Policy::Normal, us(1_000))]
    );
    assert!(parse("cyclictest -h 100 -t2 -d100").unwrap().notes()[0].contains("distance is ignored"));
    for quiet in ["cyclictest -h 100", "cyclictest -h 100 -d0", "cyclictest -h 100 -D 5", "cyclictest -d100"]
    {
        assert_eq!(parse(quiet).unwrap().notes(), Vec::<String>::new(), "{quiet}");
    }
}

#[test]
fn fair_threads_have_timer_slack_and_real_time_threads_have_none() {
    assert_eq!(build("cyclictest", 1).tasks[0].spec.timer_slack, us(50));
    assert_eq!(build("cyclictest -p1", 1).tasks[0].spec.timer_slack, Nanos::ZERO);
}

#[test]
fn refusals() {
    let cases = [
        (
            "cyclictest -p 100",
            "cyclictest: option '--priority <PRIO>', value '100': it is a whole number from 0 to 99",
        ),
        (
            "cyclictest -p 2 -t 3 -Q",
            "cyclictest: thread 2 would have real-time priority 0: priorities are 1 to 99",
        ),
        ("cyclictest -Q", "cyclictest: --priospread needs a priority to start from: add -p PRIO"),
        ("cyclictest -y fifo", "cyclictest: policies fifo and rr need a priority: add -p 1 to 99"),
        ("cyclictest -i 0", "cyclictest: option '--interval <INTV>', value '0': must be above 0"),
        ("cyclictest -D 0", "cyclictest: option '--duration <TIME>', value '0': must be above 0"),
        ("cyclictest -a 7", "cyclictest: no CPU of 7 exists: the machine has CPUs 0 to 3"),
        ("cyclictest -i", "cyclictest: option '--interval <INTV>': a value is missing"),
        (
            "cyclictest -t 9999",
            "cyclictest: option '--threads [<NUM>]', value '9999': not a number from 1 to 4096; leave the number out for \
             one thread on each CPU",
        ),
        (
            "cyclictest -t0",
            "cyclictest: option '--threads [<NUM>]', value '0': not a number from 1 to 4096; leave the number out for one \
             thread on each CPU",
        ),
        ("cyclictest foo", "cyclictest: 'foo' is not an option"),
        (
            "cyclictest -y deadline",
            "cyclictest: option '--policy <NAME>', value 'deadline': choose one of other, batch, idle, fifo, \
             rr",
        ),
        (
            "cyclictest -D 5 -l 5",
            "cyclictest: the argument '--duration <TIME>' cannot be used with '--loops <LOOPS>'",
        ),
    ];
    for (command, expected) in cases {
        assert_eq!(refusal(command), expected, "{command}");
    }
}
