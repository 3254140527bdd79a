//! Explanations with every cause.

use super::experiment;
use crate::why::*;
use crate::*;

/// Why a task was late that every kind of cause has kept.
pub fn why() -> WhyResult {
    let stretches = stretches(Nanos(1_000), causes());
    let (due_at, first) = (Nanos(1_000), stretches.last().map_or(Nanos(1_000), |last| last.to));
    let refill = Cause::CacheRefill { from: Some(CpuId(0)) };
    let explanation = |(due, origin): (Due, WhyOrigin)| Explanation {
        task: task(1_000, "cyclictest", 19),
        due,
        due_at,
        woken: Woken {
            at: Nanos(1_300),
            cpu: CpuId(1),
            by: Some(task(1_001, "hog", 120)),
            queued: Some(Nanos(1_500)),
            queue: Some(CpuId(1)),
        },
        first,
        cpu: CpuId(1),
        latency: Nanos(first.0 - due_at.0),
        stretches: stretches.clone(),
        afterwards: vec![stretch(first, refill.clone())],
        recorded: Some(Box::new(recorded(origin))),
        remedies: Some(remedies()),
    };
    let dues = [
        Due::Timer {},
        Due::Interrupt { irq: LogInterrupt::Device { channel: 3 } },
        Due::Task { by: task(1_001, "hog", 120) },
        Due::Mutex { mutex: "m".into() },
        Due::Handler { handler: Some(handler(HandlerContext::Hardirq, "local_timer")) },
        Due::Preempted { by: task(1_001, "hog", 120) },
        Due::Throttled { budget: Budget::RealTime {} },
        Due::Start { parent: task(1_001, "hog", 120) },
        Due::Unknown {},
    ];
    WhyResult {
        schema: WhySchema,
        command: Some("schedlab why 'cyclictest -p80'".to_owned()),
        version: "0.1.0".to_owned(),
        experiment: Some(experiment()),
        recording: Some("trace.dat".to_owned()),
        wakeups: 1_000,
        explanations: dues.into_iter().zip(origins().into_iter().cycle()).map(explanation).collect(),
        blame: vec![Blame {
            victim: "cyclictest".into(),
            tasks: 1,
            wakeups: 1_000,
            total: Nanos(2_900_000),
            p99: Nanos(17_000),
            max: Nanos(18_500),
            rows: causes().into_iter().map(row).collect(),
        }],
        notes: vec!["the trace has no wakeups of hog".to_owned()],
    }
}

fn task(pid: i32, comm: &str, prio: i16) -> WhyTask {
    WhyTask { pid: Pid(pid), comm: comm.into(), prio: Prio(prio) }
}

fn handler(context: HandlerContext, name: &str) -> Handler {
    Handler { context, name: name.into() }
}

fn origins() -> [WhyOrigin; 5] {
    [
        WhyOrigin::Handler { handler: Some(handler(HandlerContext::Softirq, "NET_RX")) },
        WhyOrigin::Cycle { task: task(1_001, "hog", 120) },
        WhyOrigin::Preempted {},
        WhyOrigin::Longer {},
        WhyOrigin::NotRecorded {},
    ]
}

fn recorded(origin: WhyOrigin) -> WhyRecorded {
    let left = || Some(WhyLeft { at: Nanos(200), state: "S" });
    WhyRecorded {
        left: left(),
        wait: Some(Nanos(17_000)),
        delay: Nanos(16_000),
        wakers: vec![WhyWaker {
            task: task(1_001, "hog", 120),
            woke: Nanos(1_300),
            woken: Some(Nanos(700)),
            waited: Nanos(100),
            left: left(),
        }],
        origin,
    }
}

fn causes() -> Vec<Cause> {
    let hog = || task(1_001, "hog", 120);
    let mutex = |mutex: &str, boosted| HeldMutex { mutex: mutex.into(), owner: Some(hog()), boosted };
    let running = |precedence| Cause::Running { task: hog(), since: Nanos(900), precedence };
    let off = |path| Cause::InterruptsOff { path, during: Some(hog()) };
    let throttled = |budget| Cause::Throttled { budget, until: Some(Nanos(9_000)) };
    vec![
        Cause::TimerLate {},
        off(IrqsOffPath::Noise),
        off(IrqsOffPath::Schedule),
        off(IrqsOffPath::Kernel),
        Cause::Interrupt { irq: Some(LogInterrupt::Tick {}) },
        Cause::Softirq {},
        Cause::WakePath {},
        Cause::WakerWaits { waker: hog() },
        Cause::LockWait {
            lock: LogLock::Rq { cpu: CpuId(1) },
            holder: CpuId(2),
            on_behalf_of: Some(hog()),
            waiters: 3,
        },
        Cause::InFlight { from: CpuId(0) },
        Cause::HandOver { from: CpuId(0), to: CpuId(1) },
        running(Precedence::Class),
        running(Precedence::EarlierDeadline),
        running(Precedence::HigherPriority),
        running(Precedence::SamePriority),
        running(Precedence::Fair),
        running(Precedence::AskedLazily),
        running(Precedence::NotPreempted),
        running(Precedence::NotRecorded),
        Cause::Mutex { chain: vec![mutex("m", false), mutex("n", true)], behind: Some(hog()) },
        throttled(Budget::RealTime {}),
        throttled(Budget::Deadline {}),
        throttled(Budget::RtGroup { group: "audio".into() }),
        throttled(Budget::Group { group: Some("web".into()) }),
        Cause::IdleExit { state: Some("C6".into()) },
        Cause::Idle {},
        Cause::Switch {},
        Cause::CacheRefill { from: Some(CpuId(0)) },
        Cause::Handler { handler: handler(HandlerContext::Hardirq, "virtio1-req.0, irq 24") },
        Cause::NotRecorded {},
        sibling(),
    ]
}

fn sibling() -> Cause {
    Cause::Sibling { cpu: CpuId(2), task: task(1_002, "hog", 120) }
}

fn alternatives() -> Vec<WhyAlternative> {
    let runs = Some(task(1_001, "hog", 120));
    vec![
        WhyAlternative::Cpu { cpu: CpuId(0), allowed: true, runs, precedence: Some(Precedence::Fair) },
        WhyAlternative::Task { task: task(1_002, "hog", 120), since: Nanos(800) },
    ]
}

/// One of a hundred nanoseconds.
fn stretch(from: Nanos, cause: Cause) -> WhyStretch {
    let (reason, meaning, alternatives) = ("wake_stay", "It stays.", alternatives());
    let decisions = vec![WhyDecision { at: from, reason, meaning, alternatives, more_alternatives: 3 }];
    let shares = vec![WhyShare { cause: sibling(), length: Nanos(38) }];
    WhyStretch { from, to: Nanos(from.0 + 100), cpu: Some(CpuId(1)), cause, shares, decisions }
}

/// Each behind the one before.
fn stretches(start: Nanos, causes: Vec<Cause>) -> Vec<WhyStretch> {
    let times = (0..).map(|n| Nanos(start.0 + 100 * n));
    times.zip(causes).map(|(from, cause)| stretch(from, cause)).collect()
}

fn row(cause: Cause) -> BlameRow {
    BlameRow {
        due_to: "hog runs".to_owned(),
        example: cause,
        times: 10,
        all: Nanos(1_000),
        p99: Nanos(100),
        tail: Nanos(300),
    }
}

fn remedies() -> Remedies {
    let remedy = Remedy {
        change: "NO_RT_PUSH_IPI".to_owned(),
        because: "A CPU spun for a run queue's lock.".to_owned(),
        latency: Nanos(1_200),
        worst_later: Nanos(1_300),
        helps: true,
        costs_others: false,
        elsewhere: vec![RemedyCost { what: "context_switches".to_owned(), before: 100, after: 120 }],
    };
    let replayed = Some(ReplayedWait { due_at: Nanos(950), latency: Nanos(3_100) });
    Remedies { from: Nanos(900), worst_later: Nanos(3_400), replayed, any_helps: true, tried: vec![remedy] }
}
