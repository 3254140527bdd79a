//! The engine by situation: what tasks do to each other and to time, on machines whose costs are known.

use crate::script::{Clock, FREE_CHANNEL, fifo, ideal, ms, run, run_with, script, us};
use machine::{
    Arrival, Backoff, Behaviour, ChannelId, ChannelSpec, Env, FIRST_PID, ForkKind, MachineSpec, MutexKind,
    Outcome, Outside, OutsideChange, RunError, RunOptions, Setup, Step, TaskOutcome, TaskSpec, TimedChange,
    Tracing,
};
use scheduler::{CpuId, CpuMask, Nanos, Nice, Pid, Policy};
use schema::{LogEvent, LogInterrupt, LogPrevState};

/// Two tasks share CPU 0; somebody moves one of them after 10 ms, and back after 20.
#[test]
fn affinities_that_somebody_changes() {
    let mut setup = Setup::new(2);
    let cpus = |cpu| Some(CpuMask::single(CpuId(cpu)));
    let on_0 = |comm| {
        let (spec, clock) = script(comm, [Step::Compute(ms(15))]);
        (TaskSpec { cpus: cpus(0), policy: fifo(10), ..spec }, clock)
    };
    let ((first, first_clock), (second, second_clock)) = (on_0("first"), on_0("second"));
    setup.spawn(Nanos::ZERO, first);
    setup.spawn(Nanos::ZERO, second);
    let to = |at, cpu| TimedChange {
        at,
        change: OutsideChange::Cpus { pid: Pid(FIRST_PID + 1), cpus: CpuMask::single(CpuId(cpu)) },
    };
    let changes = vec![to(ms(10), 1), to(ms(20), 0)];
    let options = RunOptions { changes, check: true, ..RunOptions::default() };
    run_with(ideal(2), "6.1", setup, options).expect("it runs");
    // The second one has CPU 1 from 10 ms on, and goes on behind the first, which is through then.
    let end = |clock: &Clock| clock.borrow().last().copied();
    assert_eq!((end(&first_clock), end(&second_clock)), (Some(ms(15)), Some(ms(25))));
}

fn task<'a>(outcome: &'a Outcome, comm: &str) -> &'a TaskOutcome {
    outcome.tasks.iter().find(|t| &*t.comm == comm).expect("a task of this name")
}

#[test]
fn a_run_ends_when_the_last_task_exits() {
    let mut setup = Setup::new(1);
    let (spec, clock) = script("a", [Step::Compute(ms(3)), Step::SleepFor(ms(4)), Step::Compute(ms(1))]);
    setup.spawn(Nanos::ZERO, spec);
    let outcome = run(ideal(1), setup);
    assert_eq!(outcome.simulated, ms(8));
    assert_eq!(*clock.borrow(), [Nanos::ZERO, ms(3), ms(7), ms(8)]);
    assert_eq!(task(&outcome, "a").counters.sum_exec_runtime, ms(4));
    assert_eq!(outcome.cpus[0].idle_ns, ms(4).0);
}

#[test]
fn cpu_time_is_told_by_policy_and_the_time_of_exit() {
    let mut setup = Setup::new(1);
    let set = |policy| Step::SetPolicy { target: None, policy };
    let steps = [
        Step::Compute(ms(1)),
        set(fifo(80)),
        Step::Compute(ms(5)),
        Step::SleepFor(ms(3)),
        set(Policy::Normal),
        Step::SetNice { target: None, nice: Nice::new(5).expect("a nice value") },
        Step::Compute(ms(2)),
    ];
    setup.spawn(Nanos::ZERO, script("changes", steps).0);
    setup.spawn(Nanos::ZERO, script("stays", [Step::SleepFor(ms(20))]).0);
    let outcome = run(ideal(1), setup);
    let changes = task(&outcome, "changes");
    let found: Vec<_> = changes.time_under.iter().map(|t| (t.policy, t.nice.get(), t.cpu_time)).collect();
    let fair = Policy::Normal;
    assert_eq!(found, [(fair, 0, ms(1)), (fifo(80), 0, ms(5)), (fair, 5, ms(2))]);
    assert_eq!(changes.exited, Some(ms(11)));
    assert!(task(&outcome, "stays").time_under.is_empty());
}

#[test]
fn a_spin_until_a_time_counts_time_spent_preempted() {
    let mut setup = Setup::new(1);
    let (mut spinner, clock) = script("spinner", [Step::SpinUntil(ms(10))]);
    spinner.policy = fifo(10);
    let (mut urgent, _) = script("urgent", [Step::SleepFor(ms(2)), Step::Compute(ms(5))]);
    urgent.policy = fifo(20);
    setup.spawn(Nanos::ZERO, spinner);
    setup.spawn(Nanos::ZERO, urgent);
    let outcome = run(ideal(1), setup);
    assert_eq!(*clock.borrow(), [Nanos::ZERO, ms(10)]);
    assert_eq!(task(&outcome, "spinner").counters.sum_exec_runtime, ms(5));
}

/// What interrupts take counts for a task that works until its CPU clock says so, and not what others run.
#[test]
fn work_by_the_cpu_clock_ends_with_the_clock() {
    let ends = |profile: &str, step: Step| {
        let mut spec = ideal(1);
        spec.costs.tick = us(100);
        let mut setup = Setup::new(1);
        let (mut worker, clock) = script("worker", [step, Step::Marker("done".into())]);
        worker.policy = fifo(10);
        let (mut urgent, _) = script("urgent", [Step::SleepFor(us(2_400)), Step::Compute(ms(5))]);
        urgent.policy = fifo(20);
        setup.spawn(Nanos::ZERO, worker);
        setup.spawn(Nanos::ZERO, urgent);
        let outcome = run_with(spec, profile, setup, RunOptions::default()).expect("a run without error");
        (clock.borrow()[1], task(&outcome, "worker").counters.sum_exec_runtime)
    };
    // Ticks every millisecond: ten of them while it works, five of the other's 5 ms in between.
    // 3.3 charges at ticks alone, but its clock goes on in between.
    for profile in ["6.1", "3.3"] {
        assert_eq!(ends(profile, Step::Compute(ms(10))), (Nanos(16_600_000), Nanos(11_100_000)));
        assert_eq!(ends(profile, Step::ComputeByClock(ms(10))), (Nanos(15_500_000), ms(10)));
    }
}

#[test]
fn inside_the_kernel_a_task_is_preempted_only_if_the_kernel_is_preemptible() {
    let latency = |profile| {
        let mut setup = Setup::new(1);
        let (syscall, _) = script("syscall", [Step::KernelCompute(ms(5))]);
        let (mut urgent, clock) = script("urgent", [Step::SleepUntil(ms(2)), Step::Compute(us(1))]);
        urgent.policy = fifo(20);
        setup.spawn(Nanos::ZERO, syscall);
        setup.spawn(Nanos::ZERO, urgent);
        run_with(ideal(1), profile, setup, RunOptions::default()).expect("a run without error");
        clock.take()[1]
    };
    assert_eq!(latency("6.1"), ms(5));
    assert_eq!(latency("6.1-rt"), ms(2));
}

#[test]
fn an_interrupts_off_stretch_delays_a_timer_and_stops_the_task() {
    let mut spec = ideal(1);
    spec.noise.irq_off.push(machine::IrqOff {
        what: "driver".into(),
        per_minute_per_cpu: 60_000,
        length: machine::Spread::Constant(us(200)),
        device: false,
    });
    let mut setup = Setup::new(1);
    let (hog, _) = script("hog", [Step::Compute(ms(100))]);
    setup.spawn(Nanos::ZERO, hog);
    let outcome = run(spec, setup);
    assert!(outcome.simulated > ms(110) && outcome.simulated < ms(140), "{}", outcome.simulated);
}

#[test]
fn idle_cpus_take_no_ticks() {
    let mut setup = Setup::new(2);
    let (mut sleeper, _) = script("sleeper", [Step::SleepFor(ms(900))]);
    sleeper.policy = fifo(1);
    setup.spawn(Nanos::ZERO, sleeper);
    let outcome = run(ideal(2), setup);
    // One acquisition for spawning, the others for the task's own schedules and wakeup.
    let locked: u64 = outcome.cpus.iter().map(|c| c.rq_lock.acquisitions).sum();
    assert!(locked < 12, "{locked}");
}

/// fair-placement 5.2: without a governor an idle CPU keeps its tick for one period since 6.1.167.
#[test]
fn a_cpu_that_idles_has_one_more_tick_since_6_1_167() {
    let ticks = |rule: &str| {
        let mut setup = Setup::new(1);
        let (mut sleeper, _) = script("sleeper", [Step::Compute(ms(5)), Step::SleepFor(ms(900))]);
        sleeper.policy = fifo(1);
        setup.spawn(Nanos::ZERO, sleeper);
        let settings = vec![machine::TimedSetting { at: Nanos::ZERO, setting: rule.to_owned() }];
        let options = RunOptions { settings, trace: Tracing::Everything, ..RunOptions::default() };
        let log = run_with(ideal(1), "6.1.y", setup, options).expect("a run without error").log;
        let is_tick = |event| event == LogEvent::IrqHandlerEntry { irq: LogInterrupt::Tick {} };
        log.expect("asked for").iter().filter(|record| is_tick(record.event.clone())).count()
    };
    assert_eq!(ticks("idle_tick=keep"), ticks("idle_tick=drop") + 1, "one in 900 ms");
}

#[test]
fn a_message_wakes_its_reader_and_a_full_channel_blocks_its_writer() {
    let mut setup = Setup::new(2);
    let channel = setup.channel(ChannelSpec::new(2));
    let (writer, sent) = script("writer", (0..3).map(|_| Step::Send(channel)));
    let (reader, _) = script(
        "reader",
        [Step::Compute(ms(5)), Step::Receive(channel), Step::Receive(channel), Step::Receive(channel)],
    );
    setup.spawn(Nanos::ZERO, writer);
    setup.spawn(Nanos::ZERO, reader);
    let outcome = run(ideal(2), setup);
    assert_eq!(*sent.borrow(), [Nanos::ZERO, Nanos::ZERO, Nanos::ZERO, ms(5)]);
    assert_eq!(task(&outcome, "writer").counters.nr_voluntary_switches, 2, "blocked once, exited once");
}

/// To the CPU of its receiver, once, by an interrupt of its own.
fn outside(at: Nanos, channel: ChannelId) -> Outside {
    Outside { at, by: Arrival::Own, cpu: None, channel, every: None }
}

#[test]
fn a_message_from_outside_is_an_interrupt_and_a_full_channel_loses_it() {
    let mut setup = Setup::new(1);
    let channel = setup.channel(ChannelSpec::new(1));
    for at in [2, 3, 4] {
        setup.outside(outside(ms(at), channel));
    }
    let (reader, clock) =
        script("reader", [Step::Receive(channel), Step::Compute(ms(9)), Step::Receive(channel)]);
    setup.spawn(Nanos::ZERO, reader);
    let outcome = run(ideal(1), setup);
    assert_eq!(*clock.borrow(), [Nanos::ZERO, ms(2), ms(11), ms(11)]);
    assert_eq!(outcome.outside_lost, 1);
}

#[test]
fn a_message_from_outside_may_come_again_and_again() {
    let mut setup = Setup::new(1);
    let channel = setup.channel(FREE_CHANNEL);
    setup.outside(Outside { every: Some(ms(3)), ..outside(ms(2), channel) });
    let (reader, clock) = script("reader", (0..4).map(|_| Step::Receive(channel)));
    setup.spawn(Nanos::ZERO, reader);
    let outcome = run(ideal(1), setup);
    assert_eq!(*clock.borrow(), [Nanos::ZERO, ms(2), ms(5), ms(8), ms(11)]);
    assert!(outcome.stalled.is_empty());
}

#[test]
fn a_timer_of_the_wheel_expires_at_the_nearest_tick_of_its_cpu() {
    let mut setup = Setup::new(2);
    // CPU 1's own ticks would lie at 0.25 ms and so on.
    setup.tick_at(CpuId(1), us(7_900));
    let channel = setup.channel(FREE_CHANNEL);
    for at in [2_100, 3_300, 4_500] {
        setup.outside(Outside { by: Arrival::Tick, ..outside(us(at), channel) });
    }
    let (mut reader, clock) = script("reader", (0..3).map(|_| Step::Receive(channel)));
    reader.cpus = Some(CpuMask::single(CpuId(1)));
    setup.spawn_on(Nanos::ZERO, Some(CpuId(1)), reader);
    // Idle CPUs take no other ticks, but these; a busy one takes them at the same times.
    let outcome = run(ideal(2), setup);
    assert_eq!(*clock.borrow(), [Nanos::ZERO, us(1_900), us(2_900), us(4_900)]);
    assert!(outcome.stalled.is_empty());
}

#[test]
fn a_timer_of_the_wheel_costs_no_interrupt_beside_the_tick() {
    let finished = |by| {
        let mut setup = Setup::new(1);
        let channel = setup.channel(FREE_CHANNEL);
        setup.outside(Outside { by, ..outside(us(2_300), channel) });
        let (hog, clock) = script("hog", [Step::Compute(us(4_500))]);
        let (reader, _) = script("reader", [Step::Receive(channel)]);
        setup.spawn(Nanos::ZERO, reader);
        setup.spawn(us(100), hog);
        let mut spec = ideal(1);
        spec.costs.irq_entry = us(10);
        run(spec, setup);
        clock.borrow()[1]
    };
    // It appears by an interrupt, and four ticks follow.
    let without = us(100 + 10 + 4_500 + 4 * 10);
    assert_eq!((finished(Arrival::Tick), finished(Arrival::Own)), (without, without + us(10)));
}

#[test]
fn vfork_holds_the_parent_until_exec_and_wait_until_exit() {
    let mut setup = Setup::new(2);
    let (child, _) = script("child", [Step::Compute(ms(2)), Step::Exec("cc1".into()), Step::Compute(ms(3))]);
    let fork = Step::Fork { child: Box::new(child), kind: ForkKind::Vfork };
    let (parent, clock) = script("parent", [fork, Step::WaitChild, Step::WaitChild]);
    setup.spawn(Nanos::ZERO, parent);
    let outcome = run(ideal(2), setup);
    assert_eq!(*clock.borrow(), [Nanos::ZERO, ms(2), ms(5), ms(5)]);
    assert_eq!(task(&outcome, "cc1").counters.sum_exec_runtime, ms(5));
}

#[test]
fn a_barrier_opens_for_all_when_the_last_one_comes() {
    let mut setup = Setup::new(3);
    let barrier = setup.barrier(3);
    let clocks: Vec<Clock> = (1..=3)
        .map(|n| {
            let (spec, clock) = script(
                "party",
                [Step::Compute(ms(n)), Step::BarrierWait(barrier), Step::BarrierWait(barrier)],
            );
            setup.spawn(Nanos::ZERO, spec);
            clock
        })
        .collect();
    let outcome = run(ideal(3), setup);
    for clock in clocks {
        assert_eq!(clock.borrow()[2..], [ms(3), ms(3)]);
    }
    assert!(outcome.stalled.is_empty());
}

#[test]
fn a_spinlock_is_spun_for_and_slept_for() {
    let mut setup = Setup::new(2);
    let lock = setup.spinlock(Backoff::Sleep);
    let (owner, _) = script("owner", [Step::SpinLock(lock), Step::Compute(ms(5)), Step::SpinUnlock(lock)]);
    let (other, clock) =
        script("other", [Step::Compute(us(10)), Step::SpinLock(lock), Step::SpinUnlock(lock)]);
    setup.spawn(Nanos::ZERO, owner);
    setup.spawn(Nanos::ZERO, other);
    let outcome = run(ideal(2), setup);
    let got_it = clock.borrow()[2];
    assert!(
        got_it >= ms(5) && outcome.totals.spinlock_sleeps >= 2,
        "{got_it} {}",
        outcome.totals.spinlock_sleeps
    );
}

#[test]
fn tasks_that_wait_for_each_others_mutexes_are_named() {
    for kind in [MutexKind::Plain, MutexKind::Pi] {
        let mut setup = Setup::new(2);
        let (a, b) = (setup.mutex("A", kind), setup.mutex("B", kind));
        for (comm, first, second) in [("one", a, b), ("two", b, a)] {
            let (spec, _) = script(comm, [Step::Lock(first), Step::Compute(ms(1)), Step::Lock(second)]);
            setup.spawn(Nanos::ZERO, spec);
        }
        let error = run_with(ideal(2), "6.1", setup, RunOptions::default()).expect_err("a deadlock");
        let text = error.to_string();
        assert!(text.contains("one (1000) waits for mutex B"), "{text}");
        assert!(text.contains("two (1001) waits for mutex A"), "{text}");
    }
}

#[test]
fn misuse_of_a_mutex_names_the_task_and_the_mutex() {
    let error_of = |steps: fn(scheduler::MutexId) -> Vec<Step>| {
        let mut setup = Setup::new(1);
        let mutex = setup.mutex("queue", MutexKind::Plain);
        setup.spawn(Nanos::ZERO, script("careless", steps(mutex)).0);
        run_with(ideal(1), "6.1", setup, RunOptions::default()).expect_err("misuse").to_string()
    };
    let unlock = error_of(|m| vec![Step::Unlock(m)]);
    assert!(unlock.contains("careless (1000) unlocks queue, which it does not own"), "{unlock}");
    let twice = error_of(|m| vec![Step::Lock(m), Step::Lock(m)]);
    assert!(twice.contains("careless (1000) locks queue a second time"), "{twice}");
}

#[test]
fn those_who_sleep_for_good_are_listed_with_what_they_wait_for() {
    let mut setup = Setup::new(1);
    let futex = setup.futex();
    let (waiter, _) = script("waiter", [Step::FutexWait(futex)]);
    setup.spawn(Nanos::ZERO, waiter);
    let outcome = run(ideal(1), setup);
    assert_eq!(outcome.stalled.len(), 1);
    assert_eq!(&*outcome.stalled[0].comm, "waiter");
}

#[test]
fn a_program_without_time_is_stopped() {
    #[derive(Debug)]
    struct Endless;
    impl Behaviour for Endless {
        fn next(&mut self, _: &mut Env<'_>) -> Step {
            Step::Compute(Nanos::ZERO)
        }
    }
    let mut setup = Setup::new(1);
    setup.spawn(Nanos::ZERO, TaskSpec::new("endless", Endless));
    let error = run_with(ideal(1), "6.1", setup, RunOptions::default()).expect_err("an endless program");
    assert!(matches!(error, RunError::EndlessSteps { .. }), "{error}");
}

#[test]
fn an_affinity_without_a_cpu_is_an_error() {
    let mut setup = Setup::new(2);
    let (mut spec, _) = script("lost", []);
    spec.cpus = Some(CpuMask::single(CpuId(7)));
    setup.spawn(Nanos::ZERO, spec);
    let error = run_with(ideal(2), "6.1", setup, RunOptions::default()).expect_err("no CPU");
    assert_eq!(error.to_string(), "task lost (1000) may run on CPUs 7 only, but the machine has CPUs 0-1");
}

#[test]
fn a_run_of_no_duration_is_an_error() {
    let options = RunOptions { duration: Nanos::ZERO, ..RunOptions::default() };
    assert_eq!(run_with(ideal(1), "6.1", Setup::new(1), options).err(), Some(RunError::NoDuration));
}

#[test]
fn a_setting_changes_in_the_middle_of_a_run() {
    // With slices of half a second, the first task is done before the second one runs.
    let setting = |s: &str, at| machine::TimedSetting { at, setting: s.into() };
    let long = vec![setting("sched_latency_ns=1000000000", Nanos(1))];
    let switches = |settings| {
        let mut setup = Setup::new(1);
        for comm in ["a", "b"] {
            setup.spawn(Nanos::ZERO, script(comm, [Step::Compute(ms(400))]).0);
        }
        let outcome = run_with(ideal(1), "6.1", setup, RunOptions { settings, ..RunOptions::default() });
        outcome.expect("a run without error").totals.context_switches
    };
    assert!(switches(Vec::new()) > 100);
    assert!(switches(long) < 10);
}

#[test]
fn a_cold_cache_stretches_what_comes_next() {
    let elapsed = |working_set_bytes| {
        let mut spec = ideal(1);
        spec.cache.refill_ps_per_byte = 300;
        let mut setup = Setup::new(1);
        let (mut cold, clock) = script("cold", [Step::Compute(ms(1))]);
        cold.working_set_bytes = working_set_bytes;
        setup.spawn(Nanos::ZERO, cold);
        run(spec, setup);
        clock.take()[1]
    };
    assert_eq!(elapsed(0), ms(1));
    assert_eq!(elapsed(1_000_000), ms(1) + us(300), "1 MB at 0.3 ns a byte");
}

#[test]
fn the_trace_shows_a_preemption_in_the_order_of_rt_class_11_4() {
    let mut setup = Setup::new(1);
    let (mut low, _) = script("low", [Step::Compute(ms(5))]);
    low.policy = fifo(10);
    let (mut high, _) = script("high", [Step::SleepUntil(ms(2)), Step::Marker("here".into())]);
    high.policy = fifo(20);
    setup.spawn(Nanos::ZERO, low);
    setup.spawn(Nanos::ZERO, high);
    let options = RunOptions { trace: Tracing::Everything, ..RunOptions::default() };
    let outcome = run_with(ideal(1), "6.1", setup, options).expect("a run without error");
    let log = outcome.log.expect("asked for");
    let at_two: Vec<String> = log
        .iter()
        .filter(|r| r.time.0 == ms(2).0)
        .filter_map(|r| match &r.event {
            LogEvent::SchedWaking { task, .. } => Some(format!("waking {}", task.pid)),
            LogEvent::SchedWakeup { task, .. } => Some(format!("wakeup {}", task.pid)),
            LogEvent::SchedSwitch { prev, prev_state, next } => {
                let plus = if *prev_state == LogPrevState::Preempted { "R+" } else { "" };
                Some(format!("switch {} {plus} -> {}", prev.pid, next.pid))
            }
            LogEvent::Marker { text } => Some(text.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(
        at_two,
        ["waking 1001", "wakeup 1001", "switch 1000 R+ -> 1001", "here", "switch 1001  -> 1000"]
    );
}

/// Twelve tasks of different priority meet at four mutexes of both kinds, on a machine where all of it takes
/// time: an unlock on one CPU falls into every stage of a lock on another. A wakeup that is lost leaves tasks
/// asleep for good.
#[test]
fn no_wakeup_for_a_mutex_is_lost() {
    for profile in ["6.1", "4.0", "2.6.36"] {
        let mut setup = Setup::new(1);
        let kinds = [MutexKind::Pi, MutexKind::Pi, MutexKind::Plain, MutexKind::Pi];
        let mutexes = kinds.map(|kind| setup.mutex("m", kind));
        for n in 0..12u64 {
            // Two at a time, in one order, so that chains of waiting owners form but no cycle.
            let steps = (0..300u64).flat_map(|i| {
                let first = ((n + i * (1 + n % 3)) % 3) as usize;
                let second = first + 1 + (i % 2) as usize % (3 - first);
                let hold = |extra| Step::Compute(Nanos(300 + 37 * n + extra));
                let (a, b) = (mutexes[first], mutexes[second]);
                [
                    Step::Lock(a),
                    hold(0),
                    Step::Lock(b),
                    hold(200),
                    Step::Unlock(b),
                    Step::Unlock(a),
                    Step::Compute(Nanos(400 + 91 * (i % 11))),
                ]
            });
            let mut spec = script("party", steps).0;
            if n % 4 != 3 {
                spec.policy = fifo(10 + n as u8);
            }
            setup.spawn(Nanos::ZERO, spec);
        }
        let spec = MachineSpec::builtin("seed000").expect("a machine of the repository");
        let options = RunOptions { check: true, ..RunOptions::default() };
        let outcome = run_with(spec, profile, setup, options).expect("a run without error");
        let stalled: Vec<String> = outcome.stalled.iter().map(|s| format!("{s:?}")).collect();
        assert!(stalled.is_empty(), "{profile}: {stalled:#?}");
        assert!(outcome.tasks.iter().map(|t| t.counters.nr_voluntary_switches).sum::<u64>() > 500);
    }
}

#[test]
fn who_waits_for_the_release_of_a_spinlock_is_woken_by_it() {
    let mut setup = Setup::new(3);
    let lock = setup.spinlock(Backoff::Event);
    let hold = |comm, before| {
        let steps =
            [Step::Compute(before), Step::SpinLock(lock), Step::Compute(ms(2)), Step::SpinUnlock(lock)];
        script(comm, steps)
    };
    let (holder, _) = hold("holder", Nanos::ZERO);
    let (first, first_clock) = hold("first", Nanos::from_micros(100));
    let (second, second_clock) = hold("second", Nanos::from_micros(200));
    for task in [holder, first, second] {
        setup.spawn(Nanos::ZERO, task);
    }
    let outcome = run(ideal(3), setup);
    // Both are woken at 2 ms; the one that comes too late sleeps again until 4 ms.
    assert_eq!(outcome.totals.spinlock_sleeps, 3);
    let mut got_it = [first_clock.borrow()[2], second_clock.borrow()[2]];
    got_it.sort();
    for (got_it, released) in got_it.into_iter().zip([ms(2), ms(4)]) {
        assert!((released..released + Nanos::from_micros(10)).contains(&got_it), "{got_it}");
    }
}

#[test]
fn a_task_that_loses_its_cpu_with_a_lock_held_is_counted() {
    let preemptions = |lock: bool| {
        let mut setup = Setup::new(1);
        let spinlock = setup.spinlock(Backoff::Sleep);
        let mut steps = vec![Step::Compute(ms(30))];
        if lock {
            steps = vec![Step::SpinLock(spinlock), Step::Compute(ms(30)), Step::SpinUnlock(spinlock)];
        }
        setup.spawn(Nanos::ZERO, script("holder", steps).0);
        setup.spawn(Nanos::ZERO, script("other", [Step::Compute(ms(30))]).0);
        run(ideal(1), setup).totals.lock_holder_preemptions
    };
    assert_eq!(preemptions(false), 0);
    assert!(preemptions(true) > 0);
}
