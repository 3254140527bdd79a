//! A log with a record of each kind.

use super::run;
use crate::*;

/// The log of a run that nobody made.
pub fn log() -> Log {
    let run = run();
    let task = LogTask {
        pid: Pid(1000),
        start: Some(Nanos(0)),
        cpu: Some(CpuId(1)),
        comm: "cyclictest".to_owned(),
        policy: Policy::Fifo,
        rt_priority: 80,
        nice: 0,
        cpus: Some("0-1".to_owned()),
        working_set_bytes: 65_536,
        reads_bytes_per_us: Some(25_000),
        timer_slack_ns: 50_000,
    };
    let head = LogHead {
        schema: LogSchema,
        version: run.engine.version,
        seed: run.engine.seed,
        simulated_ns: run.engine.simulated_ns,
        machine: run.machine,
        kernel: run.kernel,
        loads: vec!["cyclictest -t1 -p80".to_owned()],
        objects: vec!["barrier 0 parties=2".to_owned()],
        tasks: vec![task],
        idle_states: vec!["POLL".to_owned(), "C1".to_owned()],
        groups: vec![LogGroup { path: "web".to_owned(), tasks: vec![Pid(1000)] }],
    };
    let records = events().into_iter().zip(1..).map(|(event, n)| LogRecord {
        time: Nanos(1_000 * n),
        cpu: CpuId(0),
        pid: Pid(1000),
        in_interrupt: false,
        event,
    });
    Log { head, records: records.collect() }
}

fn events() -> Vec<LogEvent> {
    use LogEvent::*;
    let of = Pid(1000);
    let task = LogTaskRef { pid: of, prio: Prio(19) };
    let prev = LogTaskRef { pid: Pid::IDLE, prio: Prio::IDLE };
    let (cpu, since) = (CpuId(1), Nanos(500));
    let locks = [
        LogLock::Rq { cpu },
        LogLock::Pi { pid: of },
        LogLock::MutexWait { mutex: 0 },
        LogLock::Pipe { channel: 3 },
        LogLock::Rto {},
        LogLock::PushWalker { cpu },
    ];
    let push = LogIpi::Push { source: cpu };
    let (nohz, unthrottle) = (LogIpi::Nohz {}, LogIpi::Unthrottle {});
    let (tick, stop) = (LogIpi::Tick {}, LogIpi::Stop {});
    let ipis = [LogIpi::Reschedule {}, LogIpi::Wakeup {}, push, nohz, unthrottle, tick, stop];
    let held_off = [
        LogHeldOff::LockWait {},
        LogHeldOff::RqLock { cpu },
        LogHeldOff::Interrupt {},
        LogHeldOff::InterruptsOff {},
    ];
    let interrupts = [
        LogInterrupt::Timer { pid: of },
        LogInterrupt::Tick {},
        LogInterrupt::Hrtick {},
        LogInterrupt::Deadline {},
        LogInterrupt::RtPeriod {},
        LogInterrupt::Ipi { ipi: ipis[0] },
        LogInterrupt::Polled { ipi: ipis[1] },
        LogInterrupt::Start { pid: of },
        LogInterrupt::Message { channel: 0 },
        LogInterrupt::Device { channel: 0 },
        LogInterrupt::Settings {},
        LogInterrupt::SoftirqTimer { timer: 0 },
        LogInterrupt::IrqsOff { source: 0, length: Nanos(20_000) },
    ];
    let mut events = vec![
        Comm { of, comm: "cyclictest".into() },
        SchedSwitch { prev, prev_state: LogPrevState::Runnable, next: task },
        SchedWaking { task, target_cpu: cpu },
        SchedWakeup { task, target_cpu: cpu },
        SchedWakeupNew { task, target_cpu: cpu },
        SchedMigrateTask { task, orig_cpu: CpuId(0), dest_cpu: cpu },
        SchedPiSetprio { of, oldprio: Prio(120), newprio: Prio(19) },
        SchedStatRuntime { of, runtime: Nanos(3_000), vruntime_ns: 4_000 },
        SchedProcessFork { parent: of, child: Pid(1001) },
        SchedProcessExec { of },
        SchedProcessExit { task },
        Marker { text: "here".into() },
        Step { step: LogStep::of_number(&"compute", 4000) },
        Message { channel: 0, by: LogArrival::Tick, at: since },
        CpuFrequency { of_cpu: cpu, khz: 1_402_000 },
        CpuIdle { of_cpu: cpu, state: 2 },
        Decision { of, reason: "wake_stay" },
        IrqHandlerEntry { irq: interrupts[0] },
        IrqHandlerExit {},
        SoftirqEntry {},
        SoftirqExit {},
        SchedWakeIdleWithoutIpi { target_cpu: cpu, ipi: ipis[0], noticed: Nanos(9_000) },
        ThrottleBegins { of_cpu: cpu, budget: LogBudget::RealTime {} },
        ThrottleEnds { of_cpu: cpu, budget: LogBudget::Group { group: 0 } },
        ThrottleBegins { of_cpu: cpu, budget: LogBudget::RtGroup { group: 0 } },
        ThrottleBegins { of_cpu: cpu, budget: LogBudget::Deadline { pid: Pid(1_001) } },
        Schedule {},
        IrqEnter { idle_exit: Some(Nanos(900)) },
        Executes {},
        CacheRefill { from: Some(cpu), cost: Nanos(1_500) },
        CpusAllowed { of, cpus: [CpuId(0), cpu].into() },
        SlowedBySibling { since, lost: Nanos(380), sibling: cpu },
        Setting { setting: "NO_RT_PUSH_IPI".into() },
    ];
    events.extend(locks.map(|lock| LockWait { lock, since, holder: cpu, waiters: 1 }));
    events.extend(ipis.map(|ipi| IpiSend { target_cpu: cpu, ipi, arrives: Nanos(9_000) }));
    events.extend(interrupts.map(|irq| IrqRaise { irq, held_off: None }));
    events.extend(held_off.map(|why| IrqRaise { irq: interrupts[0], held_off: Some(why) }));
    events
}
