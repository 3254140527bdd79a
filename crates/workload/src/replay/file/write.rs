//! From a recording to its text.

use super::paths;
use super::words::{difference, one_line, policy, time};
use super::{MAGIC, VERSION};
use crate::deadlines;
use crate::replay::Caveats;
use crate::replay::recording::{
    Begin, Brought, Evidence, FairPolicy, Message, Pinned, RecordedTask, Recording, ReplayStep, TaskIndex,
    ToldTask, Waking,
};
use crate::told::Object;
use machine::{Arrival, ForkKind};
use scheduler::{CpuMask, Nanos};
use std::fmt::Write;
use trace::Pid;

const HEAD: &str = "\
# Written by schedlab. Change what you like, and `schedlab run` this file.
# Each task: its facts, then what it does, a step a line. Facts worth changing:
#   policy   fifo 1 to 99, rr 1 to 99; nice, batch or idle -20 to 19
#   cpus     the CPUs that it may use, such as 0-3,8; without it, all
#   group    its task group, without it that of its parent; a line `group PATH cpu.weight:300
#            cpu.max:20000/100000` above the first task says what a group gets
#   work     a factor for all its CPU time, such as 150%
#   period   of its timer: `next` waits for the next expiry, `next x3` for the third
#   pause    a sleep of a certain length: `sleep` takes it
# `exited` is when it ended. `next` and `sleep` may add a difference: `next +3us`. Other steps: run TIME; run
# until TIME (computes until then, however much CPU time that gives); wake TASK (`too`: in the
# same system call as the wake before it); receive
# (sleep until woken by a task); outside TIME (sleep until an interrupt at that time);
# tick TIME (until a soft timer in the tick at that time); submit TIME to
# DEVICE wakes TASK (ask a device, which takes so long); served TIME (sleep until a device has
# answered, then recorded at that time); work N (take the piece of work that comes first; N begins
# here); rest N (the same, but the steps above are a piece of which N is the rest); until TIME;
# fork TASK; set POLICY; yield; bind CPU (to this
# CPU alone); unbind; lend TASK POLICY round N (inheritance; not
# once TASK has given back more than N times); give-back POLICY; lock N (an inferred mutex); unlock N; marker TEXT; exec NAME; stop (sleep to the end); exit. In a run's own
# trace also: do send 3, do receive 3, do lock 0 and the like, of the objects with these numbers that
# stand above the first task. Lines `path` there: how long it took from wakeups of this kind to the
# woken tasks, in equal shares; a run on the machine of the recording takes as long. Lines `machine`: the
# file of that machine, on which it runs unless --machine says otherwise. Lines `warning` and `note`: what is to
# be known of the recording; a run repeats them.
";

/// Where a recording was made, as far as that is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin<'a> {
    /// The kernel's `uname`.
    pub kernel: Option<&'a str>,
    /// The file that describes the machine.
    pub machine: Option<&'a str>,
    /// What must be known of the recording.
    pub caveats: Option<&'a Caveats>,
}

impl Recording {
    /// The recording as a workload file; [`Recording::from_text`] reads it.
    #[must_use]
    pub fn to_text(&self, origin: Origin<'_>) -> String {
        let Origin { kernel, machine, caveats } = origin;
        let mut text = format!("{MAGIC} {VERSION}\n{HEAD}\ncpus {}\nspan {}\n", self.cpus, time(self.span));
        // Writing into a text cannot fail.
        if let Some(hz) = self.hz {
            let _ = writeln!(text, "hz {hz}");
        }
        if !self.ticks_at.is_empty() {
            let times: Vec<String> = self.ticks_at.iter().map(|at| time(*at)).collect();
            let _ = writeln!(text, "ticks {}", times.join(" "));
        }
        if let Some(Pid(command)) = self.command {
            let _ = writeln!(text, "command {command}");
        }
        if self.idle_polls {
            text.push_str("idle polls\n");
        }
        if let Some(spins) = self.rtmutex_spins {
            let _ = writeln!(text, "waiters {}", if spins { "spin" } else { "sleep" });
        }
        if let Some(word) = self.throttling.word() {
            let _ = writeln!(text, "throttles {word}");
        }
        for (word, cpus) in [("isolcpus", self.groups.isolcpus), ("nohz_full", self.groups.nohz_full)] {
            if !cpus.is_empty() {
                let _ = writeln!(text, "{word} {cpus}");
            }
        }
        for group in &self.groups.described {
            let words = group.words().iter().map(|word| format!(" {word}")).collect::<String>();
            let _ = writeln!(text, "group {}{words}", one_line(group.path()));
        }
        for path in self.groups.undescribed() {
            let _ = writeln!(text, "group {}", one_line(path));
        }
        for line in paths::lines(&self.paths) {
            let _ = writeln!(text, "{line}");
        }
        if let Some(kernel) = kernel {
            let _ = writeln!(text, "kernel {}", one_line(kernel));
        }
        if let Some(Caveats { warnings, notes }) = caveats {
            for (word, sentences) in [("warning", warnings), ("note", notes)] {
                for sentence in sentences {
                    let _ = writeln!(text, "{word} {}", one_line(sentence));
                }
            }
        }
        for line in machine.iter().flat_map(|machine| machine.lines()) {
            let _ = writeln!(text, "{}", format!("machine {line}").trim_end());
        }
        for object in Object::all(&self.objects) {
            let _ = writeln!(text, "{object}");
        }
        for Message { at, by, cpu, channel } in &self.messages {
            let by = if *by == Arrival::Tick { " tick" } else { "" };
            let _ = writeln!(text, "message at {} cpu {cpu} channel {}{by}", time(*at), channel.0);
        }
        for (task, index) in self.tasks.iter().zip((0..).map(TaskIndex)) {
            self.task(&mut text, task, self.groups.of.get(&index).map(|path| &**path));
        }
        text
    }

    fn task(&self, text: &mut String, task: &RecordedTask, group: Option<&str>) {
        let _ = write!(text, "\ntask {} {}\n", key(task), one_line(&task.comm));
        let mut fact = |name: &str, value: String| {
            let _ = writeln!(text, "  {name} {value}");
        };
        let params =
            task.deadline.filter(|_| task.prio < 0).map(|params| format!(" {}", deadlines::text(params)));
        let own = policy(task.prio, task.round_robin, task.fair);
        fact("policy", own + &params.unwrap_or_default());
        if let Some(group) = group {
            fact("group", one_line(group));
        }
        if task.round_robin && !(0..=98).contains(&task.prio) {
            fact("round-robin", "yes".to_owned());
        }
        if let Some(cpus) = task.placement.allowed.filter(|cpus| *cpus != CpuMask::ALL) {
            fact("cpus", cpus.to_string());
        }
        if let Some(Pinned { cpu, evidence }) = task.placement.pinned {
            fact("pinned-to", cpu.to_string());
            if evidence != Evidence::File {
                fact("#", format!("taken to be pinned: {evidence}"));
            }
        }
        if !task.placement.ran_on.is_empty() {
            fact("ran-on", task.placement.ran_on.to_string());
        }
        let begin = match task.begin {
            Begin::Asleep => "asleep".to_owned(),
            Begin::Runnable { cpu } => format!("runnable cpu {cpu}"),
            Begin::Never => "never".to_owned(),
            Begin::Forked => "forked".to_owned(),
            Begin::Appears { at, cpu: None } => format!("at {}", time(at)),
            Begin::Appears { at, cpu: Some(cpu) } => format!("at {} cpu {cpu}", time(at)),
        };
        fact("begin", begin);
        if let Some(at) = task.exited {
            fact("exited", time(at));
        }
        fact("arrivals", task.arrivals.to_string());
        if let Some(told) = task.told {
            let ToldTask { nice, working_set_bytes, timer_slack, .. } = told;
            let ToldTask { reads_bytes_per_us, recorded_work, kernel_thread, .. } = told;
            let reads =
                if reads_bytes_per_us > 0 { format!(" reads={reads_bytes_per_us}") } else { String::new() };
            let (nice, slack) = (nice.get(), time(timer_slack));
            let work = if recorded_work { " work=recorded" } else { "" };
            let thread = if kernel_thread { " thread=kernel" } else { "" };
            fact(
                "told",
                format!(
                    "nice={nice} working-set={working_set_bytes} timer-slack={slack}{reads}{work}{thread}"
                ),
            );
        }
        let timer = Timer::of(task);
        if let Some(timer) = timer {
            fact("period", time(timer.period));
            fact("first", time(timer.first));
        }
        let pause = usual_pause(task);
        if let Some(pause) = pause {
            fact("pause", time(pause));
        }
        let mut steps = Steps { recording: self, timer, last: None, pause };
        for step in &task.steps {
            let line = steps.step(step);
            let _ = writeln!(text, "    {line}");
        }
    }
}

fn on_cpu(cpu: Option<u32>) -> String {
    cpu.map(|cpu| format!(" cpu {cpu}")).unwrap_or_default()
}

/// What brings a piece of work.
fn brought(by: Brought) -> String {
    match by {
        Brought::Task => String::new(),
        Brought::Outside(irq) => format!(" outside {}{}", time(irq.at), on_cpu(irq.cpu)),
        Brought::Tick(irq) => format!(" tick {}{}", time(irq.at), on_cpu(irq.cpu)),
        Brought::Served(irq) => format!(" served {}{}", time(irq.at), on_cpu(irq.cpu)),
    }
}

fn piece(work: Option<u32>) -> String {
    work.map(|number| format!(" work {number}")).unwrap_or_default()
}

/// How other tasks call a task: its id, and which of those that had the id, if it is not the first.
pub(super) fn key(task: &RecordedTask) -> String {
    match task.incarnation {
        0 => task.pid.to_string(),
        n => format!("{}.{n}", task.pid),
    }
}

/// The task's timer with absolute times.
#[derive(Clone, Copy, Debug)]
struct Timer {
    period: Nanos,
    /// Its first expiry.
    first: Nanos,
}

impl Timer {
    /// The commonest distance of its expiries; the shortest of several.
    fn of(task: &RecordedTask) -> Option<Timer> {
        let expiry =
            |step: &ReplayStep| if let ReplayStep::Sleep(Waking::At(at)) = step { Some(*at) } else { None };
        let times: Vec<Nanos> = task.steps.iter().filter_map(expiry).collect();
        let mut gaps: Vec<Nanos> =
            times.windows(2).map(|w| w[1].saturating_sub(w[0])).filter(|gap| *gap > Nanos::ZERO).collect();
        gaps.sort_unstable();
        let period = commonest(&gaps)?;
        Some(Timer { period, first: *times.first()? })
    }
}

/// The commonest length of the task's relative sleeps.
fn usual_pause(task: &RecordedTask) -> Option<Nanos> {
    let length = |step: &ReplayStep| {
        if let ReplayStep::Sleep(Waking::After(span)) = step { Some(*span) } else { None }
    };
    let mut lengths: Vec<Nanos> = task.steps.iter().filter_map(length).collect();
    lengths.sort_unstable();
    // In recorded sleeps no two are alike; the one in the middle stands for all.
    lengths.get(lengths.len() / 2).copied()
}

/// The value that occurs most often in a sorted list, the smallest of several.
fn commonest(sorted: &[Nanos]) -> Option<Nanos> {
    let runs = sorted.chunk_by(|a, b| a == b);
    runs.max_by_key(|run| (run.len(), std::cmp::Reverse(run[0]))).map(|run| run[0])
}

/// Writes the steps of a task.
struct Steps<'a> {
    recording: &'a Recording,
    timer: Option<Timer>,
    /// The last expiry that was waited for.
    last: Option<Nanos>,
    pause: Option<Nanos>,
}

impl Steps<'_> {
    fn step(&mut self, step: &ReplayStep) -> String {
        match step {
            ReplayStep::Run(length) => format!("run {}", time(*length)),
            ReplayStep::RunUntil(at) => format!("run until {}", time(*at)),
            ReplayStep::Wake { task, interrupts, work, same_call } => {
                let interrupts = if *interrupts { " interrupts" } else { "" };
                let same_call = if *same_call { " too" } else { "" };
                format!("wake {}{}{interrupts}{same_call}", self.key(*task), piece(*work))
            }
            ReplayStep::Fork { child, kind: ForkKind::Thread } => format!("fork {}", self.key(*child)),
            ReplayStep::Fork { child, kind } => format!("fork {} {}", self.key(*child), kind.word()),
            ReplayStep::Told(step) => format!("do {}", step.clone().text()),
            ReplayStep::Sleep(Waking::Task) => "receive".to_owned(),
            ReplayStep::Submit { task, device, service, work } => {
                let (key, work) = (self.key(*task), piece(*work));
                format!("submit {} to {} wakes {key}{work}", time(*service), device.0)
            }
            ReplayStep::Sleep(Waking::Outside { at, cpu, slept }) => {
                let slept = slept.map(|slept| format!(" slept {}", time(slept))).unwrap_or_default();
                format!("outside {}{}{slept}", time(*at), on_cpu(*cpu))
            }
            ReplayStep::Sleep(Waking::Tick { at, cpu }) => format!("tick {}{}", time(*at), on_cpu(*cpu)),
            ReplayStep::Sleep(Waking::Work { number, by }) => format!("work {number}{}", brought(*by)),
            ReplayStep::Sleep(Waking::Rest { number, by }) => format!("rest {number}{}", brought(*by)),
            ReplayStep::Sleep(Waking::Served { at, cpu }) => format!("served {}{}", time(*at), on_cpu(*cpu)),
            ReplayStep::Sleep(Waking::At(at)) => self.next(*at),
            ReplayStep::Sleep(Waking::After(span)) => {
                let pause = self.pause.map_or(0, |pause| pause.0);
                format!("sleep{}", difference((span.0 as i64).wrapping_sub(pause as i64)))
            }
            ReplayStep::Sleep(Waking::Never) => "stop".to_owned(),
            ReplayStep::Yield => "yield".to_owned(),
            ReplayStep::Lend { to, prio, round } => {
                format!("lend {} {} round {round}", self.key(*to), policy(*prio, false, FairPolicy::Normal))
            }
            ReplayStep::GiveBack(prio) => format!("give-back {}", policy(*prio, false, FairPolicy::Normal)),
            ReplayStep::SetPrio(prio) => format!("set {}", policy(*prio, false, FairPolicy::Normal)),
            ReplayStep::Pin => "pin".to_owned(),
            ReplayStep::Lock { mutex, waited } => {
                format!("lock {}{}", mutex.0, if *waited { " waited" } else { "" })
            }
            ReplayStep::Unlock { mutex, wakes } => {
                format!("unlock {}{}", mutex.0, if *wakes { " wakes" } else { "" })
            }
            ReplayStep::Bind(cpu) => format!("bind {cpu}"),
            ReplayStep::Unbind => "unbind".to_owned(),
            ReplayStep::Exec(name) => format!("exec {}", one_line(name)),
            ReplayStep::Marker(text) => format!("marker {}", one_line(text)),
            ReplayStep::Interrupted { by_timer: true } => "interrupted by timer".to_owned(),
            ReplayStep::Interrupted { by_timer: false } => "interrupted".to_owned(),
            ReplayStep::Exit => "exit".to_owned(),
        }
    }

    /// A wait for an expiry, counted from the last one.
    fn next(&mut self, at: Nanos) -> String {
        let last = self.last.replace(at);
        let Some(timer) = self.timer else { return format!("until {}", time(at)) };
        let (count, expected) = match last {
            None => (1, timer.first),
            Some(last) => {
                let past = at.saturating_sub(last).0;
                let count = ((past + timer.period.0 / 2) / timer.period.0).max(1);
                (count, last.saturating_add(Nanos(timer.period.0.saturating_mul(count))))
            }
        };
        let times = if count == 1 { String::new() } else { format!(" x{count}") };
        format!("next{times}{}", difference((at.0 as i64).wrapping_sub(expected.0 as i64)))
    }

    fn key(&self, task: TaskIndex) -> String {
        self.recording.tasks.get(task.index()).map_or_else(|| "?".to_owned(), key)
    }
}
