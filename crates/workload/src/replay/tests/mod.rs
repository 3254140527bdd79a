//! Traces in a few lines, and the programs that come out of them.

mod affinities;
mod causes;
mod devices;
mod extraction;
mod least_events;
mod mutexes;
mod paths;
mod plain_mutexes;
mod play;
mod policies;
mod stuck;
mod timers;
mod until_end;
mod work;

use super::{Begin, Brought, RecordedTask, Recording, ReplayStep, Waking};
use std::fmt::Write;
use trace::Trace;

/// The trace of a script in ftrace's text. A line is a time in µs, a CPU, and what happens there:
///
/// ```text
/// 100 0 a S b        a goes to sleep (in state S), b comes; the idle task is called idle
/// 100 0 a wakes b    sched_waking and sched_wakeup by a; also `irq@a wakes b`, `softirq@a wakes b`, and
///                    `?@a wakes b` for text without flags; `wakes b on 1` says the target CPU
/// 100 0 a forks b    sched_process_fork and sched_wakeup_new
/// 100 0 a exits, a execs /bin/x, a marks TEXT, a inherits 10
/// 100 0 resched@a wakes b   a is to be preempted, and goes on; `lazy@a`: when it leaves the kernel
/// 100 0 a lends b/97 95   sched_pi_setprio of b, in the context of a
/// 100 0 a issues WS:64          block_rq_issue of a write of a page at sector 64; `completes WS:64`
/// 100 0 irq@a handles, handled  irq_handler_entry and _exit
/// 100 0 irq@a enters BLOCK, leaves BLOCK    softirq_entry and _exit
/// 100 0 irq@a expires FUNCTION, expired     hrtimer_expire_entry and _exit
/// 100 0 irq@a wheel FUNCTION, turned        timer_expire_entry and _exit
/// 100 0 a starts                workqueue_execute_start
/// 100 0 a sends lo, receives lo             net_dev_xmit, netif_receive_skb
/// 100 0 a calls sendto, returns sendto      sys_enter and _exit
/// ```
///
/// `a/89` is task a with kernel priority 89; without it 120. `a'` is another task of the name a.
pub(super) fn trace(script: &str) -> Trace {
    let mut text = String::from("# tracer: nop\n# entries-in-buffer/entries-written: 9/9   #P:2\n");
    if !script.contains("wak") {
        // Without any wakeup, tasks that nobody woke need not have been there from the start.
        text += "  <idle>-0 [000] d.h2. 0.000000: sched_wakeup: comm=w pid=9999 prio=120 target_cpu=000\n";
    }
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let us: u64 = words[0].parse().expect("a time");
        let cpu = words[1];
        let (flags, who) = match words[2].split_once('@') {
            Some(("irq", who)) => ("d.h2.", who),
            Some(("softirq", who)) => ("..s2.", who),
            Some(("resched", who)) => ("dN.2.", who),
            Some(("lazy", who)) => ("dL.2.", who),
            Some(_) => ("", words[2].split_once('@').expect("an @").1),
            None => ("d..2.", words[2]),
        };
        let who = Task::parse(who);
        let head = format!(
            "{:>16}-{} [{cpu:0>3}] {flags} {}.{:06}: ",
            who.comm,
            who.pid,
            us / 1_000_000,
            us % 1_000_000
        );
        let other = words.get(4).copied().unwrap_or("idle");
        let target = words.get(6).copied().unwrap_or(cpu);
        for body in events(&who, words[3], other, target, words[words.len() - 1]) {
            writeln!(text, "{head}{body}").expect("a string takes everything");
        }
    }
    trace::read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

struct Task<'a> {
    comm: &'a str,
    pid: u32,
    prio: i32,
}

impl<'a> Task<'a> {
    fn parse(text: &'a str) -> Task<'a> {
        // A slash in a name (ksoftirqd/0) is no priority.
        let (comm, prio) = match text.rsplit_once('/') {
            Some((name, prio)) if name.trim_end_matches('\'').len() == 1 => {
                (name, prio.parse().expect("a priority"))
            }
            _ => (text, 120),
        };
        let pid = if comm == "idle" { 0 } else { comm.bytes().map(u32::from).sum() };
        Task { comm: comm.trim_end_matches('\''), pid, prio }
    }
}

fn events(who: &Task<'_>, verb: &str, other: &str, target: &str, last: &str) -> Vec<String> {
    let Task { comm, pid, prio } = who;
    let named = || {
        let task = Task::parse(other);
        format!("comm={} pid={} prio={} target_cpu={target:0>3}", task.comm, task.pid, task.prio)
    };
    let child = Task::parse(other);
    match verb {
        "wakes" => vec![format!("sched_waking: {}", named()), format!("sched_wakeup: {}", named())],
        "waking" => vec![format!("sched_waking: {}", named())],
        "wakeup" => vec![format!("sched_wakeup: {}", named())],
        "forks" => vec![
            format!("sched_process_fork: comm={comm} pid={pid} child_comm={comm} child_pid={}", child.pid),
            format!("sched_wakeup_new: {}", named()),
        ],
        "exits" => vec![format!("sched_process_exit: comm={comm} pid={pid} prio={prio}")],
        "execs" => vec![format!("sched_process_exec: filename={other} pid={pid} old_pid={pid}")],
        "issues" | "completes" => {
            let (letters, sector) = other.split_once(':').expect("letters and a sector");
            let bytes = if verb == "issues" { " 4096" } else { "" };
            vec![format!(
                "block_rq_{}: 254,0 {letters}{bytes} () {sector} + 8 [x]",
                verb.trim_end_matches('s')
            )]
        }
        "handles" => vec!["irq_handler_entry: irq=36 name=disk".to_owned()],
        "handled" => vec!["irq_handler_exit: irq=36 ret=handled".to_owned()],
        "enters" => vec![format!("softirq_entry: vec={} [action={other}]", vector(other))],
        "leaves" => vec![format!("softirq_exit: vec={} [action={other}]", vector(other))],
        "expires" => vec![format!("hrtimer_expire_entry: hrtimer=00000000000000ff function={other} now=5")],
        "expired" => vec!["hrtimer_expire_exit: hrtimer=00000000000000ff".to_owned()],
        "wheel" => {
            vec![format!("timer_expire_entry: timer=00000000000000ff function={other} now=5 baseclk=5")]
        }
        "turned" => vec!["timer_expire_exit: timer=00000000000000ff".to_owned()],
        "starts" => vec!["workqueue_execute_start: work struct 00000000000000ff: function f".to_owned()],
        "sends" => vec![format!("net_dev_xmit: dev={other} skbaddr=00000000000000ff len=66 rc=0")],
        "receives" => vec![format!("netif_receive_skb: dev={other} skbaddr=00000000000000ff len=52")],
        "calls" => vec![format!("sys_{other}(fd: 3)")],
        "returns" => vec![format!("sys_{other} -> 0x1")],
        "marks" => vec![format!("tracing_mark_write: {other}")],
        "inherits" => {
            vec![format!("sched_pi_setprio: comm={comm} pid={pid} oldprio={prio} newprio={other}")]
        }
        "lends" => vec![format!(
            "sched_pi_setprio: comm={} pid={} oldprio={} newprio={last}",
            child.comm, child.pid, child.prio
        )],
        state => {
            let next = Task::parse(other);
            vec![format!(
                "sched_switch: prev_comm={comm} prev_pid={pid} prev_prio={prio} prev_state={state} ==> next_comm={} \
                 next_pid={} next_prio={}",
                next.comm, next.pid, next.prio
            )]
        }
    }
}

fn vector(action: &str) -> u8 {
    (0..10).find(|n| trace::SoftirqVec(*n).action() == action).expect("a soft interrupt's name")
}

/// The programs, a line for each task, in the order of their first appearance; times in µs.
pub(super) fn programs(recording: &Recording) -> Vec<String> {
    let tasks = recording.tasks.iter().filter(|task| task.pid.0 != 9999);
    tasks.map(|task| program(recording, task)).collect()
}

fn program(recording: &Recording, task: &RecordedTask) -> String {
    let us = |time: scheduler::Nanos| format!("{}", time.0 / 1000);
    let name = |index: super::TaskIndex| recording.tasks[index.index()].comm.to_string();
    let begin = match task.begin {
        Begin::Never => "never".into(),
        Begin::Asleep => "asleep".into(),
        Begin::Runnable { cpu } => format!("runnable on {cpu}"),
        Begin::Forked => "forked".into(),
        Begin::Appears { at, cpu } => {
            format!("appears at {} on {}", us(at), cpu.map_or("any".into(), |cpu| cpu.to_string()))
        }
    };
    let brought = |by: Brought| match by {
        Brought::Task => String::new(),
        Brought::Outside(irq) => format!(" at {}", us(irq.at)),
        Brought::Tick(irq) => format!(" in the tick at {}", us(irq.at)),
        Brought::Served(_) => " when served".into(),
    };
    let step = |step: &ReplayStep| match step {
        ReplayStep::Run(length) => us(*length),
        ReplayStep::RunUntil(at) => format!("until {}", us(*at)),
        ReplayStep::Wake { task, interrupts, work, same_call } => {
            let work = work.map(|n| format!(" for {n}")).unwrap_or_default();
            let elsewhere = if *interrupts { " elsewhere" } else { "" };
            format!("wake {}{work}{elsewhere}{}", name(*task), if *same_call { " too" } else { "" })
        }
        ReplayStep::Fork { child, .. } => format!("fork {}", name(*child)),
        ReplayStep::Told(step) => format!("{step:?}"),
        ReplayStep::Sleep(Waking::Task) => "sleep".into(),
        ReplayStep::Sleep(Waking::Tick { at, cpu }) => {
            format!(
                "sleep till tick at {}{}",
                us(*at),
                cpu.map(|cpu| format!(" on {cpu}")).unwrap_or_default()
            )
        }
        ReplayStep::Submit { task, device, service, work } => {
            let work = work.map(|n| format!(" for {n}")).unwrap_or_default();
            let device = match recording.objects.devices[device.0 as usize].name.as_str() {
                "devices" => String::new(),
                device => format!(" {device}"),
            };
            format!("ask{device} for {} for {}{work}", us(*service), name(*task))
        }
        ReplayStep::Sleep(Waking::Work { number, by }) => format!("work {number}{}", brought(*by)),
        ReplayStep::Sleep(Waking::Rest { number, by }) => format!("rest {number}{}", brought(*by)),
        ReplayStep::Sleep(Waking::Outside { at, cpu: None, .. }) => format!("sleep till irq at {}", us(*at)),
        ReplayStep::Sleep(Waking::Outside { at, cpu: Some(cpu), .. }) => {
            format!("sleep till irq at {} on {cpu}", us(*at))
        }
        ReplayStep::Sleep(Waking::Served { .. }) => "sleep till served".into(),
        ReplayStep::Sleep(Waking::At(at)) => format!("sleep till {}", us(*at)),
        ReplayStep::Sleep(Waking::After(span)) => format!("sleep for {}", us(*span)),
        ReplayStep::Sleep(Waking::Never) => "sleep on".into(),
        ReplayStep::Yield => "yield".into(),
        ReplayStep::Pin => "pin".into(),
        ReplayStep::Lock { mutex, .. } => format!("lock {}", mutex.0),
        ReplayStep::Unlock { mutex, .. } => format!("unlock {}", mutex.0),
        ReplayStep::Bind(cpu) => format!("bind to {cpu}"),
        ReplayStep::Unbind => "unbind".into(),
        ReplayStep::Lend { to, prio, .. } => format!("lend {} {prio}", name(*to)),
        ReplayStep::GiveBack(prio) => format!("give back {prio}"),
        ReplayStep::SetPrio(prio) => format!("prio {prio}"),
        ReplayStep::Exec(comm) => format!("exec {comm}"),
        ReplayStep::Marker(text) => format!("mark {text}"),
        ReplayStep::Interrupted { by_timer: false } => "irq".into(),
        ReplayStep::Interrupted { by_timer: true } => "timer".into(),
        ReplayStep::Exit => "exit".into(),
    };
    let steps: Vec<String> = task.steps.iter().map(step).collect();
    format!("{} {begin}: {}", task.comm, steps.join(", "))
}

/// Extracts the programs of a script and compares them.
fn check(script: &str, expected: &[&str]) -> Recording {
    let recording = Recording::extract(&trace(script));
    assert_eq!(programs(&recording), expected);
    recording
}
