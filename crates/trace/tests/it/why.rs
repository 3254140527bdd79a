//! Waits of recordings explained: by hand-made traces with known culprits, and over all recordings.

use schema::why::{Budget, Cause, Due, Explanation, Handler, HandlerContext, Precedence, WhyOrigin, WhyTask};
use schema::{CpuId, Nanos, Pid, Prio};
use trace::{CgroupCpu, CpuRtRuntime, RecordedWaits, TaskGroup, Trace, WaitsMeant, read};

use crate::common::fixture;

/// A task of a hand-made trace.
#[derive(Clone, Copy)]
struct Who {
    comm: &'static str,
    pid: i32,
    prio: i32,
}

const IDLE: Who = Who { comm: "swapper", pid: 0, prio: 120 };
/// Whose waits are explained.
const X: Who = Who { comm: "x", pid: 10, prio: 50 };
const HIGH: Who = Who { comm: "high", pid: 11, prio: 40 };
const EQUAL: Who = Who { comm: "equal", pid: 12, prio: 50 };
const FAIR: Who = Who { comm: "fair", pid: 13, prio: 120 };
const DEADLINE: Who = Who { comm: "dl", pid: 14, prio: -1 };

/// A hand-made trace: ftrace text, an event a line.
#[derive(Default)]
struct Text(String);

impl Text {
    /// At `us` on `cpu`, in the context of a task; `flags` as ftrace writes them.
    fn event(mut self, us: u64, cpu: u32, on: Who, flags: &str, event: &str) -> Text {
        let Who { comm, pid, .. } = on;
        self.0 += &format!(" {comm}-{pid} [{cpu:03}] {flags} 1.{us:06}: {event}\n");
        self
    }

    fn switch(self, us: u64, cpu: u32, prev: Who, state: &str, next: Who) -> Text {
        let event = format!(
            "sched_switch: prev_comm={} prev_pid={} prev_prio={} prev_state={state} ==> next_comm={} \
             next_pid={} next_prio={}",
            prev.comm, prev.pid, prev.prio, next.comm, next.pid, next.prio
        );
        self.event(us, cpu, prev, "d...", &event)
    }

    /// `sched_waking` and `sched_wakeup` a microsecond later, on the same CPU.
    fn wakes(self, us: u64, cpu: u32, on: Who, flags: &str, whom: Who, target: u32) -> Text {
        let fields = format!("comm={} pid={} prio={} target_cpu={target:03}", whom.comm, whom.pid, whom.prio);
        let text = self.event(us, cpu, on, flags, &format!("sched_waking: {fields}"));
        text.event(us + 1, cpu, on, flags, &format!("sched_wakeup: {fields}"))
    }

    fn read(&self) -> Trace {
        read(self.0.as_bytes()).unwrap_or_else(|error| panic!("{error}:\n{}", self.0))
    }

    /// The only wait of `x` that begins with a wakeup.
    fn explain(&self) -> Explanation {
        self.explain_of(WaitsMeant::Wakeups)
    }

    fn explain_of(&self, meant: WaitsMeant) -> Explanation {
        let trace = self.read();
        let waits = RecordedWaits::of(&trace);
        let numbers = waits.numbers(meant, |pid, _| pid == Pid(X.pid));
        let [number] = numbers[..] else { panic!("one wait, not {numbers:?}:\n{}", self.0) };
        let one = waits.explain(number);
        assert_adds_up(&one);
        one
    }
}

/// Its stretches follow each other, and come to its latency.
fn assert_adds_up(one: &Explanation) {
    let mut at = one.due_at;
    for stretch in &one.stretches {
        assert_eq!(stretch.from, at, "{one:?}");
        assert!(stretch.to > at, "{one:?}");
        at = stretch.to;
    }
    assert_eq!(at, one.first, "{one:?}");
    assert_eq!(one.latency.0, one.first.0 - one.due_at.0, "{one:?}");
}

fn task(who: Who) -> WhyTask {
    WhyTask { pid: Pid(who.pid), comm: who.comm.into(), prio: Prio(who.prio as i16) }
}

fn running(who: Who, since_us: u64, precedence: Precedence) -> Cause {
    Cause::Running { task: task(who), since: at(since_us), precedence }
}

fn handler(context: HandlerContext, name: &str) -> Handler {
    Handler { context, name: name.into() }
}

fn at(us: u64) -> Nanos {
    Nanos(1_000_000_000 + us * 1_000)
}

/// The stretches: length in microseconds, CPU, cause.
fn told(one: &Explanation) -> Vec<(u64, Option<CpuId>, Cause)> {
    one.stretches.iter().map(|s| (s.length().0 / 1_000, s.cpu, s.cause.clone())).collect()
}

const CPU0: Option<CpuId> = Some(CpuId(0));
const CPU1: Option<CpuId> = Some(CpuId(1));

/// `runs` is on the CPU from 100 on, an interrupt wakes `x` at 200, which comes at 500.
fn behind(runs: Who) -> Text {
    Text::default()
        .switch(100, 0, IDLE, "R", runs)
        .wakes(200, 0, runs, "d.h.", X, 0)
        .switch(500, 0, runs, "R+", X)
}

#[test]
fn who_runs_in_its_place_and_why() {
    for (runs, why) in [
        (HIGH, Precedence::HigherPriority),
        (EQUAL, Precedence::SamePriority),
        (DEADLINE, Precedence::Class),
        (FAIR, Precedence::NotPreempted),
    ] {
        let one = behind(runs).explain();
        let path = (1, CPU0, Cause::WakePath {});
        assert_eq!(told(&one), [path, (299, CPU0, running(runs, 100, why))]);
        assert_eq!((one.due.clone(), one.latency), (Due::Handler { handler: None }, Nanos(300_000)));
        assert_eq!(one.recorded.map(|told| told.origin), Some(WhyOrigin::Handler { handler: None }));
    }
}

#[test]
fn interrupts_on_top_of_who_runs() {
    let text = Text::default()
        .switch(100, 0, IDLE, "R", HIGH)
        .wakes(200, 0, HIGH, "d.h.", X, 0)
        .event(250, 0, HIGH, "d.h.", "irq_handler_entry: irq=24 name=disk")
        .event(260, 0, HIGH, "d.h.", "irq_handler_exit: irq=24 ret=handled")
        .event(260, 0, HIGH, "..s.", "softirq_entry: vec=4 [action=BLOCK]")
        .event(290, 0, HIGH, "..s.", "softirq_exit: vec=4 [action=BLOCK]")
        .switch(500, 0, HIGH, "S", X);
    let high = || running(HIGH, 100, Precedence::HigherPriority);
    let served = |context, name| Cause::Handler { handler: handler(context, name) };
    let expected = [
        (1, CPU0, Cause::WakePath {}),
        (49, CPU0, high()),
        (10, CPU0, served(HandlerContext::Hardirq, "disk, irq 24")),
        (30, CPU0, served(HandlerContext::Softirq, "BLOCK")),
        (210, CPU0, high()),
    ];
    assert_eq!(told(&text.explain()), expected);
}

#[test]
fn an_idle_cpu_that_wakes_up() {
    let text = Text::default()
        .switch(100, 1, HIGH, "S", IDLE)
        .switch(100, 0, IDLE, "R", FAIR)
        .wakes(200, 0, FAIR, "d...", X, 1)
        .switch(230, 1, IDLE, "R", X);
    let one = text.explain();
    assert_eq!(told(&one), [(1, CPU0, Cause::WakePath {}), (29, CPU1, Cause::IdleExit { state: None })]);
    assert_eq!(one.due, Due::Task { by: task(FAIR) });
}

/// It has no state that takes a millisecond to leave: a budget, or its host, keeps it from the task.
#[test]
fn an_idle_cpu_that_does_not_wake_up_for_long() {
    let text = Text::default()
        .switch(100, 1, HIGH, "S", IDLE)
        .switch(100, 0, IDLE, "R", FAIR)
        .wakes(200, 0, FAIR, "d...", X, 1)
        .switch(1_300, 1, IDLE, "R", X);
    let expected = [(1, CPU0, Cause::WakePath {}), (1_099, CPU1, Cause::NotRecorded {})];
    assert_eq!(told(&text.explain()), expected);
}

/// The CPU that is asked puts the task into its queue itself.
#[test]
fn a_wakeup_that_another_cpu_completes() {
    let text = Text::default()
        .switch(100, 1, IDLE, "R", HIGH)
        .switch(100, 0, IDLE, "R", FAIR)
        .event(200, 0, FAIR, "d...", "sched_waking: comm=x pid=10 prio=50 target_cpu=001")
        .event(207, 1, HIGH, "d.h.", "sched_wakeup: comm=x pid=10 prio=50 target_cpu=001")
        .switch(300, 1, HIGH, "S", X);
    let high = running(HIGH, 100, Precedence::HigherPriority);
    let in_flight = Cause::InFlight { from: CpuId(0) };
    assert_eq!(told(&text.explain()), [(7, CPU1, in_flight), (93, CPU1, high)]);
}

fn moved(event: &str) -> Text {
    Text::default()
        .switch(100, 0, IDLE, "R", HIGH)
        .switch(120, 1, IDLE, "R", EQUAL)
        .wakes(200, 0, HIGH, "d.h.", X, 0)
        .event(300, 1, EQUAL, "d...", event)
        .switch(400, 1, EQUAL, "S", X)
}

#[test]
fn from_queue_to_queue() {
    let one = moved("sched_migrate_task: comm=x pid=10 prio=50 orig_cpu=0 dest_cpu=1").explain();
    let expected = [
        (1, CPU0, Cause::WakePath {}),
        (99, CPU0, running(HIGH, 100, Precedence::HigherPriority)),
        (100, CPU1, running(EQUAL, 120, Precedence::SamePriority)),
    ];
    assert_eq!(told(&one), expected);
}

/// Without the event of the move nobody knows when it was.
#[test]
fn a_move_that_was_not_recorded() {
    let text = moved("sched_process_exec: filename=/bin/true pid=12 old_pid=12");
    let expected = [(1, CPU0, Cause::WakePath {}), (199, None, Cause::NotRecorded {})];
    assert_eq!(told(&text.explain()), expected);
    assert!(RecordedWaits::of(&text.read()).lacks().moves);
}

#[test]
fn a_timer_that_expires_late() {
    let timer = "hrtimer=00000000edf487d1";
    let text = Text::default()
        .switch(100, 0, IDLE, "R", X)
        .event(
            110,
            0,
            X,
            "d...",
            &format!(
                "hrtimer_start: {timer} function=wake expires=1000250000 softexpires=1000200000 mode=ABS"
            ),
        )
        .switch(120, 0, X, "S", IDLE)
        .event(260, 0, IDLE, "d.h.", "local_timer_entry: vector=236")
        .event(261, 0, IDLE, "d.h.", &format!("hrtimer_expire_entry: {timer} function=wake now=1000260500"))
        .wakes(263, 0, IDLE, "d.h.", X, 0)
        .event(265, 0, IDLE, "d.h.", "local_timer_exit: vector=236")
        .switch(270, 0, IDLE, "R", X);
    let one = text.explain();
    let timer = || Cause::Handler { handler: handler(HandlerContext::Hardirq, "local_timer") };
    let expected = [
        (60, CPU0, Cause::TimerLate {}),
        (3, CPU0, timer()),
        (1, CPU0, Cause::WakePath {}),
        (1, CPU0, timer()),
        (5, CPU0, Cause::IdleExit { state: None }),
    ];
    assert_eq!((told(&one), one.due), (expected.to_vec(), Due::Timer {}));
    let recorded = one.recorded.expect("of a recording");
    assert_eq!((recorded.delay, recorded.wait), (Nanos(7_000), Some(Nanos(150_000))));
    assert_eq!(recorded.left.map(|left| left.state), Some("S"));
}

/// A CPU that chooses a lower class may not choose the task in its queue.
#[test]
fn budgets_that_are_used_up() {
    let of = |who: Who, chosen: Who| {
        let who = Who { pid: X.pid, ..who };
        let text = Text::default()
            .switch(100, 0, IDLE, "R", who)
            .switch(200, 0, who, "R", chosen)
            .switch(250, 0, chosen, "R", who);
        let one = text.explain_of(WaitsMeant::Runnable);
        assert!(matches!(one.due, Due::Preempted { .. }), "{one:?}");
        let [(50, CPU0, cause)] = &told(&one)[..] else { panic!("{one:?}") };
        cause.clone()
    };
    let used_up = |budget| Cause::Throttled { budget, until: None };
    assert_eq!(of(X, FAIR), used_up(Budget::RealTime {}));
    assert_eq!(of(DEADLINE, HIGH), used_up(Budget::Deadline {}));
    assert_eq!(of(FAIR, IDLE), used_up(Budget::Group { group: None }));
    assert_eq!(of(X, HIGH), running(HIGH, 200, Precedence::HigherPriority));
}

/// deadline-groups B9: a group's limit lets real-time tasks of lower priority go on, that of the CPU none.
#[test]
fn the_budget_of_a_group_of_real_time_tasks() {
    let low = Who { comm: "low", pid: 15, prio: 60 };
    let of = |chosen: Who, limited: &[&str]| {
        let mut trace = Text::default()
            .switch(100, 0, IDLE, "R", X)
            .switch(200, 0, X, "R", chosen)
            .switch(250, 0, chosen, "R", X)
            .read();
        let group = TaskGroup { autogroup: None, cgroup: "/audio/jack".to_owned() };
        trace.host.groups.insert(trace::Pid(X.pid), group);
        let rt = Some(CpuRtRuntime { runtime_us: 100_000, period_us: 1_000_000 });
        let limits =
            limited.iter().map(|path| ((*path).to_owned(), CgroupCpu { rt, ..CgroupCpu::default() }));
        trace.host.cgroups.extend(limits);
        let waits = RecordedWaits::of(&trace);
        let [number] = waits.numbers(WaitsMeant::Runnable, |pid, _| pid == Pid(X.pid))[..] else { panic!() };
        let [(50, CPU0, cause)] = &told(&waits.explain(number))[..] else { panic!("{}", chosen.comm) };
        cause.clone()
    };
    let throttled = |budget| Cause::Throttled { budget, until: None };
    let group = |path: &str| throttled(Budget::RtGroup { group: path.into() });
    assert_eq!(of(FAIR, &["/audio"]), group("/audio"));
    assert_eq!(of(low, &["/audio", "/audio/jack", "/other"]), group("/audio/jack"), "the nearest");
    assert_eq!(of(IDLE, &["/audio"]), group("/audio"));
    assert_eq!(of(FAIR, &["/other", "/aud"]), throttled(Budget::RealTime {}));
    assert_eq!(of(low, &["/other"]), running(low, 200, Precedence::NotPreempted));
    assert_eq!(of(HIGH, &["/audio"]), running(HIGH, 200, Precedence::HigherPriority));
    assert_eq!(of(EQUAL, &["/audio"]), running(EQUAL, 200, Precedence::SamePriority));
}

/// An interrupt wakes `high`, which waits 30 us for a CPU before it wakes `x`.
#[test]
fn the_wakers_own_delay() {
    let text = Text::default()
        .switch(100, 0, IDLE, "R", FAIR)
        .switch(100, 1, HIGH, "D", IDLE)
        .wakes(200, 0, FAIR, "d.h.", HIGH, 0)
        .switch(230, 0, FAIR, "R+", HIGH)
        .wakes(300, 0, HIGH, "d...", X, 1)
        .switch(310, 1, IDLE, "R", X);
    let recorded = text.explain().recorded.expect("of a recording");
    let [waker] = &recorded.wakers[..] else { panic!("{recorded:?}") };
    assert_eq!((&waker.task, waker.woke, waker.woken), (&task(HIGH), at(300), Some(at(200))));
    assert_eq!((waker.waited, waker.left.as_ref().map(|left| left.state)), (Nanos(30_000), Some("D")));
    assert_eq!(recorded.origin, WhyOrigin::Handler { handler: None });
}

/// `x` wakes `high`, that wakes `x`, for ever.
#[test]
fn tasks_that_wake_each_other() {
    let mut text = Text::default().switch(100, 0, IDLE, "R", X).switch(100, 1, HIGH, "S", IDLE);
    for round in 1..3 {
        let us = 100 + 1_000 * round;
        text = text
            .wakes(us, 0, X, "d...", HIGH, 1)
            .switch(us + 10, 0, X, "S", IDLE)
            .switch(us + 20, 1, IDLE, "R", HIGH)
            .wakes(us + 30, 1, HIGH, "d...", X, 0)
            .switch(us + 40, 1, HIGH, "S", IDLE)
            .switch(us + 50, 0, IDLE, "R", X);
    }
    let trace = text.read();
    let waits = RecordedWaits::of(&trace);
    let last = waits.numbers(WaitsMeant::Wakeups, |pid, _| pid == Pid(X.pid)).pop().expect("two waits");
    let recorded = waits.explain(last).recorded.expect("of a recording");
    let pids: Vec<i32> = recorded.wakers.iter().map(|waker| waker.task.pid.0).collect();
    assert_eq!((pids, recorded.origin), (vec![HIGH.pid, X.pid], WhyOrigin::Cycle { task: task(X) }));
}

#[test]
fn lost_events_are_not_recorded_time() {
    let mut text = Text::default().switch(100, 0, IDLE, "R", HIGH).wakes(200, 0, HIGH, "d.h.", X, 0);
    text.0 += "CPU:0 [LOST 5 EVENTS]\n";
    let text = text.switch(400, 0, FAIR, "R", X);
    let one = text.explain();
    let [_, lost] = &told(&one)[..] else { panic!("{one:?}") };
    assert_eq!(*lost, (199, CPU0, Cause::NotRecorded {}));
}

/// Over all waits of recordings, and some of each are of interest.
#[test]
fn all_waits_of_recordings_add_up() {
    for name in [
        "mix-rtover.dat",
        "mix-rr.dat",
        "mix-rr.report.txt.gz",
        "mix-nice.dat",
        "guest-6.1-mix-rr-smp2.dat",
        "guest-6.1-make-smp1.trace.txt.gz",
        "activity.dat.gz",
        "pistress.report-R.txt.gz",
        "rtlab-plain.trace.txt.gz",
        "hackbench-pipe.perf.data.gz",
        "rtmigrate.perf-script.txt.gz",
        "mix-rtover.dat.pftrace",
    ] {
        let trace = read(&fixture(name)).expect("a trace");
        let waits = RecordedWaits::of(&trace);
        let numbers = waits.numbers(WaitsMeant::Away, |_, _| true);
        assert!(numbers.len() > 50, "{name}: {}", numbers.len());
        let mut known = 0;
        for number in numbers {
            let one = waits.explain(number);
            assert_adds_up(&one);
            known += usize::from(one.stretches.iter().all(|s| s.cause != Cause::NotRecorded {}));
        }
        assert!(known > 20, "{name}: {known}");
    }
}

/// What `cpu.max` the set-up had; and that nobody else seems to have one, however tasks share a CPU.
#[test]
fn limits_that_the_gaps_tell() {
    let ms = 1_000_000;
    let trace = read(&fixture("bw-1hog.perf-script.txt.gz")).expect("a trace");
    let limits = RecordedWaits::of(&trace).suspected_limits();
    let [limit] = &limits[..] else { panic!("one task has one: {limits:?}") };
    // 20 of 100 ms, by a tick of 4 ms.
    assert_eq!(limit.pid, Pid(16_113));
    assert!(limit.quota_ns.abs_diff(20 * ms) < 4 * ms, "{limit:?}");
    assert!(limit.period_ns.abs_diff(100 * ms) < 4 * ms, "{limit:?}");
    for name in [
        "shares-3.perf-script.txt.gz",
        "fair-server.perf-script.txt.gz",
        "mix-nice.dat",
        "mix-rr.dat",
        "mix-rtover.dat",
        "make4.perf.data.gz",
        "wl-2cpu-make10.perf.data.gz",
        "pgsql-16.perf.data.gz",
        "hackbench-pipe.perf.data.gz",
    ] {
        let trace = read(&fixture(name)).expect("a trace");
        assert_eq!(RecordedWaits::of(&trace).suspected_limits(), [], "{name}");
    }
}

/// Whoever has used up a budget, by the set-up, waits for the next period, and that is what is named.
#[test]
fn budgets_of_recordings() {
    for (name, pid, budget) in [
        ("rt-group.perf-script.txt.gz", 17_450, Budget::RealTime {}),
        ("dl-hog.perf-script.txt.gz", 16_634, Budget::Deadline {}),
    ] {
        let trace = read(&fixture(name)).expect("a trace");
        let waits = RecordedWaits::of(&trace);
        let mut numbers = waits.numbers(WaitsMeant::Runnable, |one, _| one == Pid(pid));
        numbers.sort_by_key(|number| std::cmp::Reverse(waits.latency_ns(*number)));
        for number in &numbers[..3] {
            let one = waits.explain(*number);
            let sum = |counts: &dyn Fn(&Cause) -> bool| -> u64 {
                let those = one.stretches.iter().filter(|stretch| counts(&stretch.cause));
                those.map(|stretch| stretch.length().0).sum()
            };
            let stopped =
                sum(&|cause| matches!(cause, Cause::Throttled { budget: used, .. } if *used == budget));
            // Not all switches were recorded.
            let told = sum(&|cause| *cause != Cause::NotRecorded {});
            assert!(stopped * 20 > told * 19 && told * 2 > one.latency.0, "{name}: {one:#?}");
        }
    }
}

/// By its set-up nothing but processes of fork_storm keeps cyclictest, of priority 95, from its CPUs, for as
/// long as they are in the kernel.
#[test]
fn the_culprit_of_a_recording_of_cyclictest() {
    let trace = read(&fixture("cyc-smp-storm.perf.data.gz")).expect("a trace");
    let waits = RecordedWaits::of(&trace);
    let (mut by_storm, mut all) = (0, 0);
    for number in waits.numbers(WaitsMeant::Wakeups, |_, comm| comm == "cyclictest") {
        let one = waits.explain(number);
        for stretch in one.stretches.iter().filter(|_| one.task.prio == Prio(4)) {
            let length = stretch.length().0;
            all += length;
            if let Cause::Running { task, precedence: Precedence::NotPreempted, .. } = &stretch.cause {
                by_storm += if &*task.comm == "fork_storm" { length } else { 0 };
            }
        }
    }
    assert!(all > 30_000_000 && by_storm * 100 > all * 99, "{by_storm} of {all} ns");
}

/// By its set-up f1 goes before f2 and f2 before f3: whoever lets f3 wait longest is one of the two.
#[test]
fn the_culprits_of_a_recording_of_known_priorities() {
    let trace = read(&fixture("mix-rtover.dat")).expect("a trace");
    let waits = RecordedWaits::of(&trace);
    let mut numbers = waits.numbers(WaitsMeant::Wakeups, |_, comm| comm == "f3");
    numbers.sort_by_key(|number| std::cmp::Reverse(waits.latency_ns(*number)));
    for number in &numbers[..5] {
        let one = waits.explain(*number);
        let longest = one.stretches.iter().max_by_key(|stretch| stretch.length()).expect("stretches");
        let Cause::Running { task, precedence, .. } = &longest.cause else { panic!("{one:?}") };
        assert!(["f1", "f2"].contains(&&*task.comm), "behind {}", task.comm);
        assert_eq!(*precedence, Precedence::HigherPriority);
    }
}
