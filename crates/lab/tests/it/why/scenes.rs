//! One scene for each kind of cause: who is to blame, and for how long, is known beforehand.

use super::scene::{BEGIN, Scene, fifo, ms, us};
use lab::machine::{
    ChannelSpec, GroupSpec, IrqOff, MachineSpec, MutexKind, Outside, QuotaSpec, RtLimitSpec, SoftirqGap,
    SoftirqSpec, SoftirqTally, Spread, Step,
};
use report::why::Waits;
use scheduler::{CpuId, CpuMask, DlParams, LevelKind, MutexId, Nanos, Policy, Topology, TopologyLevel};
use schema::why::{
    Budget, Cause, Due, Explanation, HeldMutex, IrqsOffPath, Precedence, WhyAlternative, WhyTask,
};
use schema::{LogBudget, LogEvent, LogInterrupt, LogLock, LogRecord, Pid, Prio};

fn who(number: i32, comm: &str, prio: i16) -> WhyTask {
    WhyTask { pid: Pid(lab::machine::FIRST_PID + number), comm: comm.into(), prio: Prio(prio) }
}

/// Sleeps until then.
fn sleeper(at: Nanos) -> [Step; 1] {
    [Step::SleepUntil(at)]
}

#[test]
fn the_timers_slack() {
    let mut scene = Scene::new(1);
    scene.task("late", Policy::Normal, sleeper(BEGIN), |task| task.timer_slack = us(50));
    assert_eq!(scene.causes("late"), [(Cause::TimerLate {}, 50_000)]);
}

#[test]
fn nothing_at_all() {
    let mut scene = Scene::new(1);
    scene.on(0, "punctual", fifo(50), sleeper(BEGIN));
    let explained = scene.explain("punctual");
    assert_eq!((explained.len(), explained[0].latency.0, explained[0].stretches.len()), (1, 0, 0));
    assert_eq!(explained[0].due, Due::Timer {});
}

/// A task whose timer expires while the CPU, for 50 us more, does what costs 100 us from `BEGIN` on.
fn held_off(price: impl FnOnce(&mut MachineSpec), first: [Step; 2]) -> Vec<(Cause, u64)> {
    let mut scene = Scene::new(1);
    price(&mut scene.spec);
    scene.on(0, "first", fifo(50), first);
    scene.on(0, "second", fifo(60), sleeper(BEGIN + us(50)));
    scene.causes("second")
}

#[test]
fn interrupts_off_in_a_system_call() {
    let sleeps = [Step::SpinUntil(BEGIN), Step::SleepFor(ms(5))];
    let causes = held_off(|spec| spec.costs.syscall = us(100), sleeps);
    let off = Cause::InterruptsOff { path: IrqsOffPath::Kernel, during: Some(who(0, "first", 49)) };
    assert_eq!(causes[0], (off, 50_000), "{causes:#?}");
}

#[test]
fn interrupts_off_while_the_cpu_switches() {
    let sleeps = [Step::SpinUntil(BEGIN), Step::SleepFor(ms(5))];
    let causes = held_off(|spec| spec.costs.context_switch = us(100), sleeps);
    let off = Cause::InterruptsOff { path: IrqsOffPath::Schedule, during: None };
    assert_eq!(causes, [(off, 50_000), (Cause::Switch {}, 100_000)]);
}

#[test]
fn another_interrupt() {
    let causes = held_off(|spec| spec.costs.timer_expiry = us(100), [Step::SleepUntil(BEGIN), Step::Exit]);
    let other = Cause::Interrupt { irq: Some(LogInterrupt::Timer { pid: Pid(lab::machine::FIRST_PID) }) };
    assert_eq!(causes, [(other, 50_000), (Cause::WakePath {}, 100_000)]);
}

#[test]
fn the_machines_noise() {
    let mut scene = Scene::new(1);
    let length = Spread::Constant(us(200));
    scene.spec.noise.irq_off.push(IrqOff {
        what: "driver".into(),
        per_minute_per_cpu: 60_000,
        length,
        device: false,
    });
    scene.on(0, "victim", fifo(50), (1..90).map(|n| Step::SleepUntil(ms(n))));
    let off = Cause::InterruptsOff { path: IrqsOffPath::Noise, during: None };
    let explained = scene.explain("victim");
    let met: Vec<u64> = explained
        .iter()
        .flat_map(|one| &one.stretches)
        .map(|one| {
            assert_eq!(one.cause, off);
            one.length().0
        })
        .collect();
    assert!(met.len() > 5 && met.iter().all(|length| *length <= 400_000), "{met:?}");
    assert!(explained.iter().any(|one| one.stretches.is_empty()), "and some are not met");
}

#[test]
fn a_soft_interrupt() {
    let mut scene = Scene::new(1);
    let (at, every, work) = (ms(1), ms(50), us(500));
    scene.setup.softirq(SoftirqSpec {
        cpu: CpuId(0),
        at,
        gap: SoftirqGap::Every(every),
        work,
        tally: SoftirqTally::default(),
    });
    scene.on(0, "victim", fifo(50), sleeper(BEGIN));
    assert_eq!(scene.causes("victim"), [(Cause::Softirq {}, 200_000)]);
}

/// PREEMPT_RT: a thread serves the timer of a fair task. It has to wait for FIFO 10 first, 2 ms, then for the
/// switch to it, and its own switch to the task comes behind.
#[test]
fn the_thread_of_a_soft_timer() {
    let mut scene = Scene::new(1);
    scene.kernel = "6.1-rt";
    scene.spec.costs.context_switch = us(10);
    scene.spec.costs.timer_expiry = us(3);
    scene.on(0, "victim", Policy::Normal, sleeper(BEGIN));
    scene.on(0, "runs", fifo(10), [Step::SleepUntil(ms(1)), Step::SpinUntil(us(3_300))]);
    let causes = scene.causes("victim");
    let waits = Cause::WakerWaits { waker: who(3, "ktimers/0", 98) };
    let path = Cause::WakePath {};
    assert_eq!(causes[0], (path.clone(), 3_000), "the interrupt: {causes:#?}");
    assert_eq!(causes[1].0, waits, "{causes:#?}");
    assert!((2_000_000..2_030_000).contains(&causes[1].1), "{causes:#?}");
    assert_eq!(causes[2..], [(path, 3_000), (Cause::Switch {}, 10_000)], "{causes:#?}");
}

/// The thread of a device's interrupt, FIFO 50, waits for FIFO 60.
#[test]
fn the_thread_of_an_interrupt() {
    let mut scene = Scene::new(1);
    scene.kernel = "6.1-rt";
    let channel = scene.setup.channel(ChannelSpec::new(1));
    let (at, by) = (BEGIN, lab::machine::Arrival::Own);
    scene.setup.outside(Outside { at, by, cpu: Some(CpuId(0)), channel, every: None });
    scene.on(0, "victim", fifo(90), [Step::Receive(channel)]);
    scene.on(0, "runs", fifo(60), [Step::SleepUntil(ms(1)), Step::SpinUntil(us(2_300))]);
    let thread = who(4, "irq/24-dev", 49);
    assert_eq!(scene.causes("victim"), [(Cause::WakerWaits { waker: thread }, 1_000_000)]);
}

#[test]
fn locks_of_run_queues() {
    let channel_of = |scene: &mut Scene, waker: u16, at: Nanos| {
        let room = ChannelSpec::new(1);
        let channel = scene.setup.channel(room);
        scene.on(0, &format!("reader{waker}"), fifo(50), [Step::Receive(channel)]);
        scene.on(waker, "waker", fifo(50), [Step::SpinUntil(at), Step::Send(channel)]);
    };
    let make = || {
        let mut scene = Scene::new(4);
        scene.spec.costs.enqueue = us(50);
        scene.on(0, "busy", Policy::Normal, [Step::SpinUntil(ms(3))]);
        for (waker, at) in [(1, BEGIN), (2, BEGIN + us(10)), (3, BEGIN + us(20))] {
            channel_of(&mut scene, waker, at);
        }
        scene
    };
    let wait = |waiters, of| Cause::LockWait {
        lock: LogLock::Rq { cpu: schema::CpuId(0) },
        holder: schema::CpuId(1),
        on_behalf_of: Some(who(of, "waker", 49)),
        waiters,
    };
    assert_eq!(make().causes("reader2")[0], (wait(0, 2), 40_000));
    assert_eq!(make().causes("reader3")[0], (wait(1, 2), 80_000));
}

/// A victim that should run after a millisecond of one that runs for two.
fn behind(policy: Policy, victim: Policy) -> Vec<(Cause, u64)> {
    let mut scene = Scene::new(1);
    scene.on(0, "victim", victim, sleeper(us(2_300)));
    scene.on(0, "runs", policy, [Step::SleepUntil(BEGIN), Step::SpinUntil(us(3_300))]);
    scene.causes("victim")
}

fn deadline(runtime: Nanos, deadline: Nanos) -> Policy {
    Policy::Deadline(DlParams::new(runtime, deadline, ms(50)).expect("legal"))
}

#[test]
fn a_running_task_goes_before() {
    let running = |prio, precedence| Cause::Running {
        task: who(1, "runs", prio),
        since: schema::Nanos(1_300_000),
        precedence,
    };
    let cases = [
        (fifo(60), fifo(50), 39, Precedence::HigherPriority),
        (fifo(50), fifo(50), 49, Precedence::SamePriority),
        (fifo(50), Policy::Normal, 49, Precedence::Class),
        (deadline(ms(10), ms(20)), fifo(99), -1, Precedence::Class),
        (deadline(ms(10), ms(20)), deadline(ms(10), ms(40)), -1, Precedence::EarlierDeadline),
    ];
    for (runs, victim, prio, precedence) in cases {
        assert_eq!(behind(runs, victim), [(running(prio, precedence), 1_000_000)], "{precedence:?}");
    }
    assert_eq!(behind(fifo(50), fifo(60)), [], "it is preempted");
}

#[test]
fn a_fair_task_that_is_not_to_be_preempted() {
    let mut scene = Scene::new(1);
    scene.settings.push("NO_WAKEUP_PREEMPTION");
    scene.on(0, "victim", Policy::Normal, sleeper(us(2_200)));
    scene.on(0, "hog", Policy::Normal, [Step::SpinUntil(us(2_500)), Step::Exit]);
    let causes = scene.causes("victim");
    let Cause::Running { task, precedence: Precedence::Fair, .. } = &causes[0].0 else {
        panic!("{causes:?}")
    };
    assert_eq!((&*task.comm, causes.len(), causes[0].1), ("hog", 1, 300_000));
}

#[test]
fn a_task_in_the_kernel_that_does_not_make_room() {
    let mut scene = Scene::new(1);
    scene.on(0, "victim", fifo(50), sleeper(ms(2)));
    scene.on(0, "syscall", Policy::Normal, [Step::KernelCompute(ms(5))]);
    let causes = scene.causes("victim");
    let Cause::Running { task, precedence: Precedence::NotPreempted, .. } = &causes[0].0 else {
        panic!("{causes:?}")
    };
    assert_eq!((&*task.comm, causes.len(), causes[0].1), ("syscall", 1, 3_000_000));
}

#[test]
fn the_switch_and_what_leads_to_it() {
    let mut scene = Scene::new(1);
    scene.spec.costs.context_switch = us(10);
    scene.spec.costs.idle_exit = us(20);
    scene.spec.costs.irq_entry = us(3);
    scene.on(0, "victim", fifo(50), sleeper(BEGIN));
    let expected = [(Cause::IdleExit {}, 20_000), (Cause::WakePath {}, 3_000), (Cause::Switch {}, 10_000)];
    assert_eq!(scene.causes("victim"), expected);
}

#[test]
fn an_interrupt_on_its_way_to_an_idle_cpu() {
    let mut scene = Scene::new(2);
    scene.spec.costs.ipi.shared_cache = us(3);
    let channel = scene.setup.channel(ChannelSpec::new(1));
    scene.on(0, "reader", fifo(50), [Step::Receive(channel)]);
    scene.on(1, "waker", fifo(50), [Step::SpinUntil(BEGIN), Step::Send(channel)]);
    let explained = scene.explain("reader");
    assert_eq!(explained[0].due, Due::Task { by: who(1, "waker", 49) });
    let causes: Vec<_> =
        explained[0].stretches.iter().map(|one| (one.cause.clone(), one.length().0)).collect();
    assert_eq!(causes, [(Cause::InFlight { from: schema::CpuId(1) }, 3_000)]);
}

#[test]
fn what_the_caches_have_lost_comes_behind_the_latency() {
    let mut scene = Scene::new(2);
    scene.spec.cache.refill_ps_per_byte = 1_000;
    scene.task("victim", fifo(50), [Step::SleepUntil(BEGIN), Step::Compute(us(1))], |task| {
        task.working_set_bytes = 2_000;
        task.cpus = Some(CpuMask::single(CpuId(0)));
    });
    let explained = scene.explain("victim");
    assert_eq!(explained[0].latency.0, 0);
    // All of it was fetched before the sleep, by a task that did not compute: 2000 bytes, a nanosecond each.
    let afterwards = &explained[0].afterwards;
    let refill = Cause::CacheRefill { from: Some(schema::CpuId(0)) };
    assert_eq!(
        afterwards.iter().map(|one| (one.cause.clone(), one.length().0)).collect::<Vec<_>>(),
        [(refill, 2_000)]
    );
}

/// machine.md M33: 10 ms of work, beside a sibling that is busy for 6 of them, take 2.28 ms more.
fn beside_a_sibling(runs: Step, percent: u32) -> Vec<(u64, Vec<(Cause, u64)>)> {
    let mut scene = Scene::new(2);
    let core = TopologyLevel { kind: LevelKind::Smt, spans: [CpuMask::first_n(2)].into() };
    scene.spec = MachineSpec::ideal(Topology::of(2, [core].into()));
    scene.spec.speeds.smt_busy_percent = percent;
    scene.on(0, "victim", fifo(50), sleeper(us(2_300)));
    scene.on(0, "runs", fifo(60), [Step::SleepUntil(BEGIN), runs]);
    scene.on(1, "beside", fifo(40), [Step::SleepUntil(us(3_300)), Step::Compute(us(3_720))]);
    let explained = scene.explain("victim");
    let [one] = &explained[..] else { panic!("{explained:#?}") };
    let told = one.stretches.iter().map(|stretch| {
        let shares = stretch.shares.iter().map(|share| (share.cause.clone(), share.length.0));
        (stretch.length().0, shares.collect())
    });
    told.collect()
}

#[test]
fn a_busy_hardware_thread_beside_whoever_runs() {
    let beside = Cause::Sibling { cpu: schema::CpuId(1), task: who(2, "beside", 59) };
    let slowed = beside_a_sibling(Step::Compute(ms(10)), 62);
    assert_eq!(slowed, [(11_280_000, vec![(beside, 2_280_000)])]);
    assert_eq!(
        beside_a_sibling(Step::Compute(ms(10)), 100),
        [(9_000_000, vec![])],
        "a core that is no worse"
    );
    // Who only looks at the clock does so until then.
    assert_eq!(beside_a_sibling(Step::SpinUntil(ms(10)), 62), [(7_700_000, vec![])]);
}

/// A victim that is woken while others run on all CPUs that it may use.
#[test]
fn what_else_the_scheduler_could_have_decided_for() {
    let mut scene = Scene::new(4);
    scene.settings.push("search=cpupri");
    let to = |cpus: &[u16]| {
        let mut mask = CpuMask::default();
        cpus.iter().for_each(|cpu| mask.insert(CpuId(*cpu)));
        Some(mask)
    };
    scene.task("victim", fifo(50), sleeper(ms(2)), |task| task.cpus = to(&[0, 1]));
    let until_3 = || [Step::SleepUntil(BEGIN), Step::SpinUntil(ms(3))];
    scene.on(0, "high0", fifo(80), until_3());
    scene.on(1, "high1", fifo(70), until_3());
    scene.on(2, "low2", fifo(10), until_3());
    // It comes behind the victim into its queue.
    scene.task("other", fifo(40), sleeper(us(2_100)), |task| task.cpus = to(&[0]));
    let explained = scene.explain("victim");
    let decisions = explained[0].stretches.iter().flat_map(|stretch| &stretch.decisions);
    let no_lower = decisions.clone().find(|decision| decision.reason == "wake_no_lower");
    let no_lower = no_lower.unwrap_or_else(|| panic!("{:#?}", explained[0]));
    let at = explained[0].woken.queue.expect("in a queue").0;
    let (other, high, prio) =
        if at == 0 { (1, who(2, "high1", 29), 29) } else { (0, who(1, "high0", 19), 19) };
    let cpu = |cpu, allowed, runs: Option<WhyTask>, precedence| WhyAlternative::Cpu {
        cpu: schema::CpuId(cpu),
        allowed,
        runs,
        precedence,
    };
    assert_eq!(high.prio.0, prio);
    let expected = [
        cpu(other, true, Some(high), Some(Precedence::HigherPriority)),
        cpu(3, false, None, None),
        cpu(2, false, Some(who(3, "low2", 89)), None),
    ];
    assert_eq!(no_lower.alternatives, expected, "first those that it may use");
}

/// Two wait in the queue of the victim while it is decided that it does not preempt.
#[test]
fn who_else_waited_while_it_was_decided_who_runs() {
    let mut scene = Scene::new(1);
    scene.settings.push("NO_WAKEUP_PREEMPTION");
    scene.on(0, "victim", Policy::Normal, sleeper(us(2_200)));
    scene.on(0, "first", Policy::Normal, sleeper(us(2_100)));
    scene.on(0, "runs", Policy::Normal, [Step::SpinUntil(us(2_500)), Step::Exit]);
    let explained = scene.explain("victim");
    let mut decisions = explained[0].stretches.iter().flat_map(|stretch| &stretch.decisions);
    let stays = decisions.find(|decision| decision.reason == "no_preempt_off").expect("it does not preempt");
    let first = WhyAlternative::Task { task: who(1, "first", 120), since: schema::Nanos(2_100_000) };
    assert_eq!(stays.alternatives, [first]);
}

/// A low task has a mutex, a middle one runs, a high one wants the mutex.
fn inversion(kind: MutexKind) -> Vec<(Cause, u64)> {
    let mut scene = Scene::new(1);
    let m: MutexId = scene.setup.mutex("m", kind);
    let low = [Step::SleepUntil(us(1_100)), Step::Lock(m), Step::Compute(us(1_000)), Step::Unlock(m)];
    scene.on(0, "low", fifo(10), low);
    scene.on(0, "middle", fifo(20), [Step::SleepUntil(us(1_500)), Step::Compute(ms(2))]);
    scene.on(0, "high", fifo(30), [Step::SleepUntil(us(1_300)), Step::Lock(m), Step::Unlock(m)]);
    let explained = scene.explain("high");
    let waited = explained.iter().find(|one| one.due == Due::Mutex { mutex: "m".into() });
    let waited = waited.expect("it waited for m");
    waited.stretches.iter().map(|one| (one.cause.clone(), one.length().0)).collect()
}

#[test]
fn a_mutex_whose_owner_is_kept_from_running() {
    let held = |prio, boosted, behind| Cause::Mutex {
        chain: vec![HeldMutex { mutex: "m".into(), owner: Some(who(0, "low", prio)), boosted }],
        behind,
    };
    // Low has had the mutex for 200 us when high comes, and goes on with it for 800 us.
    let plain = inversion(MutexKind::Plain);
    let expected = [
        (held(89, false, None), 200_000),
        (held(89, false, Some(who(1, "middle", 79))), 2_000_000),
        (held(89, false, None), 600_000),
    ];
    assert_eq!(plain, expected);
    let pi = inversion(MutexKind::Pi);
    assert_eq!(pi, [(held(69, true, None), 800_000)]);
}

#[test]
fn real_time_tasks_that_have_used_up_their_time() {
    let mut scene = Scene::new(1);
    scene.settings = vec!["sched_rt_period_us=10000", "sched_rt_runtime_us=5000"];
    scene.on(0, "hog", fifo(50), [Step::Compute(ms(8))]);
    scene.on(0, "fair", Policy::Normal, [Step::Compute(ms(50))]);
    scene.on(0, "victim", fifo(60), sleeper(us(7_300)));
    let causes = scene.causes("victim");
    let Cause::Throttled { budget: Budget::RealTime {}, until: Some(until) } = causes[0].0 else {
        panic!("{causes:?}")
    };
    assert_eq!((until.0, causes.len(), causes[0].1), (10_000_000, 1, 2_700_000));
}

/// deadline-groups B9: those of its group have, and not the others of the CPU.
#[test]
fn real_time_tasks_of_a_group_that_have_used_up_their_time() {
    let mut scene = Scene::new(1);
    scene.settings = vec!["rt_throttle=groups"];
    let rt = Some(RtLimitSpec { runtime: Some(ms(5)), period: Some(ms(10)) });
    let audio = scene.setup.group(GroupSpec { rt, ..GroupSpec::new("audio") });
    scene.task("hog", fifo(50), [Step::Compute(ms(8))], |task| task.group = Some(audio));
    scene.on(0, "fair", Policy::Normal, [Step::Compute(ms(50))]);
    scene.task("victim", fifo(60), sleeper(us(7_300)), |task| task.group = Some(audio));
    let causes = scene.causes("victim");
    let Cause::Throttled { budget: Budget::RtGroup { group }, until: Some(until) } = &causes[0].0 else {
        panic!("{causes:?}")
    };
    assert_eq!((&**group, until.0, causes.len(), causes[0].1), ("audio", 10_000_000, 1, 2_700_000));
}

#[test]
fn a_deadline_task_that_comes_behind_its_deadline() {
    let scene = || {
        let mut scene = Scene::new(1);
        let policy = Policy::Deadline(DlParams::new(ms(5), ms(20), ms(50)).expect("legal"));
        let steps = [Step::Compute(ms(3)), Step::SleepUntil(us(30_300)), Step::Compute(ms(1))];
        scene.on(0, "victim", policy, steps);
        scene
    };
    let causes = scene().causes("victim");
    let Cause::Throttled { budget: Budget::Deadline {}, until: Some(until) } = causes[0].0 else {
        panic!("{causes:?}")
    };
    assert_eq!((until.0, causes.len(), causes[0].1), (50_000_000, 1, 19_700_000));
    // From its wakeup to its next period, of which no decision tells the beginning.
    let told: Vec<(u64, bool)> = scene().log().records.iter().filter_map(budget_of_deadline).collect();
    assert_eq!(told, [(30_300_000, true), (50_000_000, false)]);
}

/// It works for 3 of 5 ms, sleeps, and has 2 ms left of a period that ends at 50 ms.
#[test]
fn a_deadline_task_that_uses_its_budget_up() {
    let mut scene = Scene::new(1);
    let policy = Policy::Deadline(DlParams::new(ms(5), ms(50), ms(50)).expect("legal"));
    scene.settings = vec!["HRTICK"];
    let steps = [Step::Compute(ms(3)), Step::SleepUntil(us(4_000)), Step::Compute(ms(3))];
    scene.on(0, "victim", policy, steps);
    let told: Vec<(u64, bool)> = scene.log().records.iter().filter_map(budget_of_deadline).collect();
    assert_eq!(told, [(6_000_000, true), (50_000_000, false)]);
}

/// When a deadline task has to wait for its next period, and when no longer.
fn budget_of_deadline(record: &LogRecord) -> Option<(u64, bool)> {
    let is_own = |budget: &LogBudget| matches!(budget, LogBudget::Deadline { .. });
    match &record.event {
        LogEvent::ThrottleBegins { budget, .. } if is_own(budget) => Some((record.time.0, true)),
        LogEvent::ThrottleEnds { budget, .. } if is_own(budget) => Some((record.time.0, false)),
        _ => None,
    }
}

#[test]
fn a_group_that_has_used_up_its_limit() {
    for kernel in ["6.1", "7.1"] {
        let mut scene = Scene::new(1);
        scene.kernel = kernel;
        let quota = Some(QuotaSpec { quota: ms(5), period: ms(20), burst: Nanos::ZERO });
        let web = scene.setup.group(GroupSpec { quota, ..GroupSpec::new("web") });
        scene.task("hog", Policy::Normal, [Step::Compute(ms(50))], |task| task.group = Some(web));
        scene.task("victim", Policy::Normal, sleeper(us(10_300)), |task| task.group = Some(web));
        let causes = scene.causes("victim");
        let Cause::Throttled { budget: Budget::Group { group: Some(group) }, until: Some(until) } =
            &causes[0].0
        else {
            panic!("{kernel}: {causes:#?}")
        };
        // The period begins at some time; the victim wakes 10.3 ms after the start, and waits for the next.
        assert_eq!((&**group, causes[0].1), ("web", until.0 - 10_300_000), "{kernel}");
        assert!(until.0 < 30_300_000, "{kernel}: {until}");
    }
}

#[test]
fn a_chain_of_mutexes() {
    let mut scene = Scene::new(2);
    let [m, n] = ["m", "n"].map(|name| scene.setup.mutex(name, MutexKind::Pi));
    let (lock, unlock) = (Step::Lock, Step::Unlock);
    scene.on(1, "last", fifo(10), [Step::SleepUntil(BEGIN), lock(n), Step::Compute(us(500)), unlock(n)]);
    let wakes = Step::SleepUntil(us(1_400));
    let first = [wakes, lock(m), lock(n), Step::Compute(us(100)), unlock(n), unlock(m)];
    scene.on(0, "first", fifo(20), first);
    scene.on(0, "victim", fifo(30), [Step::SleepUntil(us(1_500)), lock(m), unlock(m)]);
    let explained = scene.explain("victim");
    let waited = explained.iter().find(|one| one.due == Due::Mutex { mutex: "m".into() });
    let waited = waited.expect("it waited for m");
    let held = |mutex: &str, owner, comm| HeldMutex {
        mutex: mutex.into(),
        owner: Some(who(owner, comm, 69)),
        boosted: true,
    };
    let chain = Cause::Mutex { chain: vec![held("m", 1, "first"), held("n", 0, "last")], behind: None };
    // Last has n until 1.8 ms, then first works for 100 us.
    let causes: Vec<_> = waited.stretches.iter().map(|one| (one.cause.clone(), one.length().0)).collect();
    let alone = Cause::Mutex { chain: vec![held("m", 1, "first")], behind: None };
    assert_eq!(causes, [(chain, 300_000), (alone, 100_000)]);
}

#[test]
fn a_task_that_is_pulled_away_from_a_higher_one() {
    let mut scene = Scene::new(2);
    scene.spec.costs.enqueue = us(10);
    // Both CPUs are taken by higher ones when it wakes; that of CPU 0 sleeps first, and CPU 0 pulls.
    let everywhere = |task: &mut lab::machine::TaskSpec| task.cpus = Some(CpuMask::first_n(2));
    scene.task("victim", fifo(50), sleeper(ms(3)), everywhere);
    let sleeps_first = [Step::SleepUntil(ms(2)), Step::SpinUntil(ms(5)), Step::SleepUntil(ms(20))];
    scene.on(0, "high0", fifo(80), sleeps_first);
    scene.on(1, "high1", fifo(80), [Step::SleepUntil(ms(2)), Step::SpinUntil(ms(9))]);
    let explained = scene.explain("victim");
    let [one] = &explained[..] else { panic!("{explained:#?}") };
    let causes: Vec<_> = one.stretches.iter().map(|one| (one.cause.clone(), one.length().0)).collect();
    let high1 = Cause::Running {
        task: who(2, "high1", 19),
        since: schema::Nanos(2_010_000),
        precedence: Precedence::HigherPriority,
    };
    let moved = Cause::HandOver { from: schema::CpuId(1), to: schema::CpuId(0) };
    // It takes 10 us to queue it, here and there.
    let expected = [(Cause::WakePath {}, 10_000), (high1, 1_990_000), (moved, 10_000)];
    assert_eq!((&causes[..], one.cpu), (&expected[..], schema::CpuId(0)));
    let mut decisions = one.stretches.iter().flat_map(|stretch| &stretch.decisions);
    // CPU 0 has asked CPU 1 for it.
    let pushed = decisions.find(|decision| decision.reason == "pushed").unwrap_or_else(|| panic!("{one:#?}"));
    let stays = WhyAlternative::Cpu {
        cpu: schema::CpuId(1),
        allowed: true,
        runs: Some(who(2, "high1", 19)),
        precedence: Some(Precedence::HigherPriority),
    };
    assert_eq!(pushed.alternatives, [stays], "where it was");
}

#[test]
fn a_waker_that_waits_for_a_cpu() {
    let mut scene = Scene::new(2);
    let channel = scene.setup.channel(ChannelSpec { send_cost: us(200), ..ChannelSpec::new(1) });
    scene.on(0, "reader", fifo(50), [Step::Receive(channel)]);
    scene.on(1, "waker", fifo(10), [Step::SpinUntil(BEGIN), Step::Send(channel)]);
    scene.on(1, "high", fifo(80), [Step::SleepUntil(BEGIN + us(50)), Step::SpinUntil(ms(2))]);
    scene.settings.push("preempt_model=full");
    let causes = scene.causes("reader");
    let waits = Cause::WakerWaits { waker: who(1, "waker", 89) };
    // 50 us of the call, then the high one until 2 ms, then the rest of the call.
    assert_eq!(causes, [(Cause::WakePath {}, 50_000), (waits, 650_000), (Cause::WakePath {}, 150_000)]);
}

/// Each wait of a task that wanted to go on: what began it, each cause with its length.
fn preempted(scene: Scene, comm: &str) -> Vec<(Due, Vec<(Cause, u64)>)> {
    let explained = scene.explain_waits(comm, Waits::Runnable);
    let causes =
        |one: &Explanation| one.stretches.iter().map(|one| (one.cause.clone(), one.length().0)).collect();
    // At the start tasks come and go within no time.
    let long = explained.iter().filter(|one| one.latency.0 > 0);
    long.map(|one| (one.due.clone(), causes(one))).collect()
}

/// A FIFO task is preempted for a millisecond, twice; without the question it has no wait at all.
#[test]
fn a_task_that_is_preempted() {
    let scene = || {
        let mut scene = Scene::new(1);
        scene.on(0, "victim", fifo(50), [Step::Compute(ms(5))]);
        let again =
            [Step::SleepUntil(BEGIN), Step::Compute(ms(1)), Step::SleepFor(ms(1)), Step::Compute(ms(1))];
        scene.on(0, "higher", fifo(60), again);
        scene
    };
    let higher = who(1, "higher", 39);
    let runs = |since| Cause::Running { task: higher.clone(), since, precedence: Precedence::HigherPriority };
    let due = Due::Preempted { by: higher.clone() };
    let waits = preempted(scene(), "victim");
    let [first, second] = &waits[..] else { panic!("{waits:#?}") };
    assert_eq!(*first, (due.clone(), vec![(runs(schema::Nanos(1_300_000)), 1_000_000)]));
    assert_eq!(*second, (due, vec![(runs(schema::Nanos(3_300_000)), 1_000_000)]));
    assert!(scene().explain("victim").is_empty());
}

/// One that uses the real-time tasks' time up: nobody preempts it, and it waits until they have time again.
#[test]
fn a_task_that_is_throttled_while_it_runs() {
    let mut scene = Scene::new(1);
    scene.settings = vec!["sched_rt_period_us=10000", "sched_rt_runtime_us=5000"];
    scene.on(0, "hog", fifo(50), [Step::Compute(ms(8))]);
    scene.on(0, "fair", Policy::Normal, [Step::Compute(ms(50))]);
    let waits = preempted(scene, "hog");
    let [(due, causes)] = &waits[..] else { panic!("{waits:#?}") };
    assert_eq!(*due, Due::Throttled { budget: Budget::RealTime {} });
    let [(Cause::Throttled { budget: Budget::RealTime {}, until: Some(until) }, length)] = causes[..] else {
        panic!("{causes:#?}")
    };
    // At the first tick after 5 ms, which is the one behind that of 5 ms itself.
    assert_eq!((until.0, until.0 - length), (10_000_000, 6_000_000));
}
