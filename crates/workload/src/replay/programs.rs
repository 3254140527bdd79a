//! From a trace that tells its programs ([`crate::told`]) to these: nothing is inferred, and a replay on the
//! same machine under the same kernel is the run itself.

use super::affinity::per_cpu_thread;
use super::counts::Counts;
use super::file::read_path_line;
use super::groups::ReplayGroups;
use super::recording::{
    Begin, FairPolicy, Message, Placement, RecordedTask, Recording, ReplayStep, TaskIndex, ToldTask, Waking,
    is_stopper,
};
use super::throttling::Throttling;
use crate::told::{self, can_be_taken};
use machine::{Arrival, Objects, TaskStart, ToldMessage, ToldStep, WakePaths};
use scheduler::{CpuMask, Nanos, Nice, Policy};
use std::collections::BTreeMap;
use trace::{Activity, Event, EventKind, IdleKind, Pid, SchedProcessFork, SchedSwitch, StrId, Trace};

/// The programs that a trace tells. `None` if it does not tell all that happened: it is a recording of
/// something else, or a part of a trace.
pub(super) fn told(trace: &Trace) -> Option<Recording> {
    if !trace.meta.gaps.is_empty() {
        return None;
    }
    let mut reader = Reader::new(trace);
    for event in &trace.events {
        reader.event(event)?;
    }
    reader.finish()
}

struct Reader<'a> {
    trace: &'a Trace,
    until: Option<Nanos>,
    hz: Option<u32>,
    rtmutex_spins: Option<bool>,
    throttling: Throttling,
    ticks_at: Vec<Nanos>,
    paths: WakePaths,
    objects: Objects,
    messages: Vec<Message>,
    programs: BTreeMap<Pid, Program>,
    /// Some step was told.
    tells_steps: bool,
}

struct Program {
    start: TaskStart,
    steps: Vec<Step>,
    exited: Option<Nanos>,
}

/// A step, before all tasks are known by number.
enum Step {
    Fork(Option<Pid>, machine::ForkKind),
    SetPolicyOf(Pid, Policy),
    Other(ReplayStep),
}

impl<'a> Reader<'a> {
    fn new(trace: &'a Trace) -> Reader<'a> {
        Reader {
            trace,
            until: None,
            hz: None,
            rtmutex_spins: None,
            throttling: Throttling::noted(trace),
            ticks_at: Vec::new(),
            paths: WakePaths::default(),
            objects: Objects::default(),
            messages: Vec::new(),
            programs: BTreeMap::new(),
            tells_steps: false,
        }
    }

    /// `None` if something is not told.
    fn event(&mut self, event: &Event) -> Option<()> {
        match &event.kind {
            EventKind::Marker(text) => self.marker(event, *text),
            EventKind::Activity(Activity::SchedlabProgram(text)) => {
                // What cannot be understood is told by a newer version: nothing to build on.
                self.told(event, told::Told::parse(&self.trace.strings[*text])?)
            }
            EventKind::SchedProcessFork(fork) => self.fork(fork),
            EventKind::SchedSwitch(switch) => self.switch(event, switch),
            _ => Some(()),
        }
    }

    fn switch(&mut self, event: &Event, switch: &SchedSwitch) -> Option<()> {
        if switch.prev_state.is_dead()
            && let Some(program) = self.programs.get_mut(&switch.prev.pid)
        {
            program.exited = Some(Nanos(event.time_ns));
        }
        // A stopper has no program: the simulated scheduler has its own.
        let has_none = switch.next.pid == Pid::IDLE || is_stopper(&self.trace.strings[switch.next.comm]);
        (has_none || self.programs.contains_key(&switch.next.pid)).then_some(())
    }

    fn marker(&mut self, event: &Event, text: StrId) -> Option<()> {
        let text = &self.trace.strings[text];
        if let Some(told) = told::Told::parse_marker(text) {
            return self.told(event, told);
        }
        if event.pid != Pid::IDLE {
            let marker = ReplayStep::Marker(text.into());
            self.programs.get_mut(&event.pid)?.steps.push(Step::Other(marker));
        }
        Some(())
    }

    fn told(&mut self, event: &Event, told: told::Told) -> Option<()> {
        match told {
            told::Told::Run { until } => {
                self.until = Some(until);
                Some(())
            }
            told::Told::Object(object) => object.add_to(&mut self.objects).then_some(()),
            told::Told::Start(mut start) => {
                // A kernel thread of the only CPU is bound to it on every machine.
                if per_cpu_thread(&start.comm).is_none() {
                    start.cpus = start.cpus.map(|cpus| self.affinity(cpus));
                }
                self.programs.insert(Pid(start.pid.0), Program { start, steps: Vec::new(), exited: None });
                Some(())
            }
            told::Told::Message(message) => self.message(event, message),
            told::Told::Brought(channel) => {
                self.message(event, ToldMessage { channel, by: Arrival::Own, at: Nanos(event.time_ns) })
            }
            told::Told::Hz(hz) => {
                self.hz = Some(hz);
                Some(())
            }
            told::Told::Waiters { spin } => {
                self.rtmutex_spins = Some(spin);
                Some(())
            }
            told::Told::Throttles(throttling) => {
                self.throttling = throttling;
                Some(())
            }
            told::Told::Tick { cpu, at } => {
                self.ticks_at.push(at);
                (cpu as usize == self.ticks_at.len() - 1).then_some(())
            }
            told::Told::Path(line) => read_path_line(&line, &mut self.paths).ok(),
            told::Told::Untold => None,
            told::Told::Step(step) => {
                self.tells_steps = true;
                let can_be = can_be_taken(&step, &self.objects);
                let step = match step {
                    ToldStep::SetAffinity { target, cpus } => {
                        ToldStep::SetAffinity { target, cpus: Box::new(self.affinity(*cpus)) }
                    }
                    step => step,
                };
                self.programs.get_mut(&event.pid)?.steps.push(recorded(step));
                can_be.then_some(())
            }
        }
    }

    fn message(&mut self, event: &Event, told: ToldMessage) -> Option<()> {
        let ToldMessage { channel, by, at } = told;
        self.messages.push(Message { at, by, cpu: event.cpu.0, channel });
        can_be_taken(&ToldStep::Send(channel), &self.objects).then_some(())
    }

    /// What may use all CPUs of the machine that ran it may use all of any machine.
    fn affinity(&self, told: CpuMask) -> CpuMask {
        // A damaged trace may name more CPUs than there can be.
        let cpus = (self.trace.cpus as usize).min(CpuMask::BITS);
        if told == CpuMask::first_n(cpus) { CpuMask::ALL } else { told }
    }

    fn fork(&mut self, fork: &SchedProcessFork) -> Option<()> {
        match self.programs.get_mut(&fork.parent_pid)?.steps.last_mut()? {
            Step::Fork(child @ None, _) => *child = Some(fork.child_pid),
            _ => return None,
        }
        Some(())
    }

    fn finish(self) -> Option<Recording> {
        if !self.tells_steps {
            return None;
        }
        let numbers: BTreeMap<Pid, TaskIndex> =
            self.programs.keys().enumerate().map(|(n, pid)| (*pid, TaskIndex(n as u32))).collect();
        let step = |step: Step| match step {
            Step::Other(step) => Some(step),
            // It was not too late when it was told.
            Step::SetPolicyOf(pid, policy) => numbers.get(&pid).map(|to| ReplayStep::Lend {
                to: *to,
                prio: i32::from(policy.normal_prio(Nice::default()).0),
                round: u32::MAX,
            }),
            // A run may end while a task forks: before the child is there.
            Step::Fork(child, kind) => {
                child.map(|pid| numbers.get(&pid).map(|child| ReplayStep::Fork { child: *child, kind }))?
            }
        };
        let tasks: Vec<RecordedTask> = self
            .programs
            .into_values()
            .map(|Program { start, steps, exited }| RecordedTask {
                exited,
                ..task(start, steps.into_iter().filter_map(step).collect())
            })
            .collect();
        let counts = Counts { told: tasks.len() as u64, ..Counts::default() };
        Some(Recording {
            groups: ReplayGroups::default(),
            cpus: self.trace.cpus,
            span: self.until?,
            rtmutex_spins: self.rtmutex_spins,
            throttling: self.throttling,
            command: None,
            hz: self.hz,
            ticks_at: self.ticks_at,
            idle_polls: self.trace.idle == Some(IdleKind::Polls),
            paths: self.paths,
            tasks,
            objects: self.objects,
            messages: self.messages,
            counts,
        })
    }
}

fn recorded(step: ToldStep) -> Step {
    Step::Other(match step {
        ToldStep::Compute(length) => ReplayStep::Run(length),
        ToldStep::SleepUntil(at) => ReplayStep::Sleep(Waking::At(at)),
        ToldStep::SleepFor(span) => ReplayStep::Sleep(Waking::After(span)),
        ToldStep::Fork { child: (), kind } => return Step::Fork(None, kind),
        ToldStep::SetPolicy { target: Some(pid), policy } => return Step::SetPolicyOf(Pid(pid.0), policy),
        ToldStep::Exec(comm) => ReplayStep::Exec(comm),
        ToldStep::Exit => ReplayStep::Exit,
        ToldStep::Marker(text) => ReplayStep::Marker(text),
        other => ReplayStep::Told(other),
    })
}

fn task(start: TaskStart, steps: Vec<ReplayStep>) -> RecordedTask {
    RecordedTask {
        pid: Pid(start.pid.0),
        incarnation: 0,
        comm: start.comm,
        begin: match start.at {
            None => Begin::Forked,
            Some(at) => Begin::Appears { at, cpu: start.cpu.map(|cpu| u32::from(cpu.0)) },
        },
        prio: i32::from(start.policy.normal_prio(start.nice).0),
        round_robin: matches!(start.policy, Policy::Rr(_)),
        fair: match start.policy {
            Policy::Batch => FairPolicy::Batch,
            Policy::Idle => FairPolicy::Idle,
            Policy::Normal | Policy::Fifo(_) | Policy::Rr(_) | Policy::Deadline(_) => FairPolicy::Normal,
        },
        deadline: match start.policy {
            Policy::Deadline(params) => Some(params),
            _ => None,
        },
        cpu_time: steps.iter().map(ReplayStep::cpu_time).sum(),
        exited: None,
        steps,
        arrivals: 0,
        placement: Placement { allowed: Some(start.cpus.unwrap_or(CpuMask::ALL)), ..Placement::default() },
        told: Some(ToldTask {
            nice: start.nice,
            working_set_bytes: start.working_set_bytes,
            reads_bytes_per_us: start.reads_bytes_per_us,
            timer_slack: start.timer_slack,
            recorded_work: start.recorded_work,
            kernel_thread: start.kernel_thread,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scheduler::Nice;

    /// A task that forks another, which sends it a message from time to time.
    const RUN: &str = "\
# tracer: nop
# entries-in-buffer/entries-written: 9/9   #P:2
  <idle>-0 [000] ..... 0.000001: tracing_mark_write: schedlab: run until=30000
  <idle>-0 [000] ..... 0.000001: tracing_mark_write: schedlab: channel 0 capacity=8 writers-wake-at=4 sync=no softirq=no send-cost=300 receive-cost=200
  <idle>-0 [000] ..... 0.000001: tracing_mark_write: schedlab: program pid=5 start=0 on=1 policy=fifo:90 nice=-3 cpus=0-1 working-set=4096 timer-slack=50000 comm=a
  <idle>-0 [000] ..... 0.000001: tracing_mark_write: schedlab: program pid=6 start=fork policy=other nice=5 cpus=all working-set=0 timer-slack=0 comm=b c
  <idle>-0 [001] d.h2. 0.000002: sched_wakeup_new: comm=a pid=5 prio=9 target_cpu=001
  <idle>-0 [001] d..2. 0.000003: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=5 next_prio=9
       a-5 [001] ..... 0.000004: tracing_mark_write: schedlab: do fork process
       a-5 [001] ..... 0.000004: sched_process_fork: comm=a pid=5 child_comm=a child_pid=6
       a-5 [001] ..... 0.000010: tracing_mark_write: iteration 1
       a-5 [001] ..... 0.000010: tracing_mark_write: schedlab: do sleep-until 5000000
       a-5 [001] d..2. 0.000011: sched_switch: prev_comm=a prev_pid=5 prev_prio=9 prev_state=S ==> next_comm=b next_pid=6 next_prio=125
     b c-6 [001] ..... 0.000012: tracing_mark_write: schedlab: do compute 7000
     b c-6 [001] d.h1. 0.000015: tracing_mark_write: schedlab: message 0
     b c-6 [001] ..... 0.000020: tracing_mark_write: schedlab: do send 0
";

    fn read(text: &str) -> Option<Recording> {
        told(&trace::read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}")))
    }

    #[test]
    fn programs_are_what_is_told_to_the_nanosecond() {
        let recording = read(RUN).expect("all is told");
        assert_eq!(
            (recording.is_told(), recording.span),
            (true, Nanos(30_000)),
            "times are those of the run"
        );
        assert_eq!(recording.objects.channels.len(), 1);
        let cpu = 1;
        assert_eq!(
            recording.messages,
            [Message { at: Nanos(15_000), by: Arrival::Own, cpu, channel: machine::ChannelId(0) }]
        );
        let [a, b] = &recording.tasks[..] else { panic!("two tasks") };
        assert_eq!((a.prio, a.begin), (9, Begin::Appears { at: Nanos::ZERO, cpu: Some(1) }));
        assert_eq!(
            a.told.map(|told| (told.nice, told.working_set_bytes)),
            Nice::new(-3).map(|nice| (nice, 4096))
        );
        assert_eq!(
            a.steps,
            [
                ReplayStep::Fork { child: TaskIndex(1), kind: machine::ForkKind::Fork },
                ReplayStep::Marker("iteration 1".into()),
                ReplayStep::Sleep(Waking::At(Nanos(5_000_000))),
            ]
        );
        assert_eq!((&*b.comm, b.prio, b.begin, b.cpu_time), ("b c", 125, Begin::Forked, Nanos(7_000)));
        let send = ReplayStep::Told(ToldStep::Send(machine::ChannelId(0)));
        assert_eq!(b.steps, [ReplayStep::Run(Nanos(7_000)), send]);
    }

    #[test]
    fn a_stopper_needs_no_program_and_anybody_else_does() {
        let and_then = |comm: &str| {
            let leaves = "prev_comm=b c prev_pid=6 prev_prio=125 prev_state=R+";
            let comes = format!("next_comm={comm} next_pid=11 next_prio=0");
            format!("{RUN}     b c-6 [001] d..2. 0.000021: sched_switch: {leaves} ==> {comes}\n")
        };
        let recording = read(&and_then("migration/1")).expect("all is told");
        assert_eq!(recording.tasks.len(), 2);
        assert_eq!(read(&and_then("stranger")), None);
    }

    #[test]
    fn all_cpus_of_its_machine_are_all_of_any() {
        let text = RUN.replace("do sleep-until 5000000", "do set-cpus 0-1");
        let recording = read(&text).expect("all is told");
        let [a, b] = &recording.tasks[..] else { panic!("two tasks") };
        assert_eq!([a, b].map(|task| task.placement.allowed), [Some(CpuMask::ALL); 2]);
        assert!(
            a.steps.contains(&ReplayStep::Told(ToldStep::SetAffinity {
                target: None,
                cpus: CpuMask::ALL.into()
            })),
            "{:?}",
            a.steps
        );
        let bound = read(&text.replace("cpus=0-1", "cpus=1")).expect("all is told");
        assert_eq!(bound.tasks[0].placement.allowed, Some(CpuMask::single(scheduler::CpuId(1))));
        // On one CPU only kernel threads of it are bound.
        let one = |comm: &str| {
            let text = RUN.replace("#P:2", "#P:1").replace("001", "000").replace("on=1", "on=0");
            let text = text
                .replace("swapper/1", "swapper/0")
                .replace("cpus=0-1", "cpus=0")
                .replace("comm=a", &format!("comm={comm}"));
            read(&text).expect("all is told").tasks[0].placement.allowed
        };
        assert_eq!(one("kworker/0:1"), Some(CpuMask::single(scheduler::CpuId(0))));
        assert_eq!(one("a"), Some(CpuMask::ALL));
    }

    #[test]
    fn the_rule_for_waiters_is_told() {
        let spins = |text: &str| read(text).map(|recording| recording.rtmutex_spins);
        assert_eq!(spins(RUN), Some(None));
        let told = |how| {
            let first = RUN.find("  <idle>").expect("an event");
            let (header, events) = RUN.split_at(first);
            let marker =
                format!("  <idle>-0 [000] ..... 0.000001: tracing_mark_write: schedlab: waiters {how}");
            format!("{header}{marker}\n{events}")
        };
        assert_eq!(spins(&told("sleep")), Some(Some(false)));
        assert_eq!(spins(&told("spin")), Some(Some(true)));
        assert_eq!(spins(&told("dance")), Some(None), "a marker of somebody else");
    }

    #[test]
    fn what_is_not_told_to_the_end_is_not_told() {
        for missing in ["run until", "program pid=5", "program pid=6", "channel 0", "do fork"] {
            let rest: Vec<&str> = RUN.lines().filter(|line| !line.contains(missing)).collect();
            assert_eq!(read(&rest.join("\n")), None, "without {missing}");
        }
        assert_eq!(read(&RUN.replace("send 0", "send 1")), None, "no such channel");
        assert_eq!(read(&RUN.replace("do send 0", "do untold")), None);
        let silent: Vec<&str> = RUN.lines().filter(|line| !line.contains("schedlab: do")).collect();
        assert_eq!(read(&silent.join("\n").replace("sched_process_fork", "#")), None);
    }
}
