//! What else the kernel did on each CPU: interrupts, timers, requests to devices, packets. It tells why
//! wakeups happen.

use super::Walk;
use super::pieces::Answers;
use crate::replay::blocks::{Asked, Blocks};
use crate::replay::causes::{Answer, Cause, Interrupts, NamedDevice};
use crate::replay::packets::{Packets, Received};
use crate::replay::recording::TaskIndex;
use crate::replay::ticks::TickSample;
use crate::replay::track::{By, Draft, DraftStep, State};
use std::collections::BTreeMap;
use trace::{Activity, BlockRq, Context, Event, EventKind, Packet, Pid, SysEnter, Trace};

/// What the tick's timer calls, since Linux 6.8 and before.
const TICK_HANDLERS: [&str; 2] = ["tick_nohz_handler", "tick_sched_timer"];
/// System calls that only sockets have.
const SENDS: [&str; 3] = ["sendto", "sendmsg", "sendmmsg"];

/// What the kernel was about, up to the present event.
#[derive(Debug)]
pub(in crate::replay) struct Kernel {
    cpus: Vec<Interrupts>,
    blocks: Blocks,
    pub(super) answers: Answers,
    packets: Packets,
    /// The trace has events of packets, so that system calls need not tell.
    shows_packets: bool,
    /// By CPU, the running task is in a system call that sends.
    sends: Vec<bool>,
    /// By task, when it last heard from the network.
    heard_ns: BTreeMap<TaskIndex, u64>,
}

impl Kernel {
    pub fn new(trace: &Trace) -> Kernel {
        let cpus = trace.cpus as usize;
        let packet = |kind: &EventKind| {
            matches!(kind, EventKind::Activity(Activity::NetDevXmit(_) | Activity::NetifReceiveSkb(_)))
        };
        Kernel {
            cpus: vec![Interrupts::default(); cpus],
            blocks: Blocks::default(),
            answers: Answers::default(),
            packets: Packets::new(cpus),
            shows_packets: trace.events.iter().any(|event| packet(&event.kind)),
            sends: vec![false; cpus],
            heard_ns: BTreeMap::new(),
        }
    }

    /// The event with the context in which it was recorded, where it does not say so itself and the events
    /// before it do.
    pub fn with_context(&mut self, event: &Event) -> Event {
        let interrupts = &mut self.cpus[event.cpu.index()];
        // A task that switches is in no interrupt, and the next one in no system call of its own.
        let switches = matches!(event.kind, EventKind::SchedSwitch(_));
        if switches || event.context == Context::Task {
            interrupts.over();
        }
        self.sends[event.cpu.index()] &= !switches;
        let known = (event.context == Context::Unknown).then(|| interrupts.context()).flatten();
        Event { context: known.unwrap_or(event.context), ..*event }
    }

    /// The most requests that a device had at once, where that is a limit: a network answers each question by
    /// itself.
    pub fn at_once(&self, device: NamedDevice) -> Option<u32> {
        match device {
            NamedDevice::Block(number) => Some(self.blocks.at_once(number)),
            NamedDevice::Network(_) => None,
        }
    }
}

impl Walk<'_> {
    pub(super) fn activity(&mut self, event: &Event, activity: &Activity) {
        let cpu = event.cpu.index();
        let strings = &self.trace.strings;
        let interrupts = &mut self.kernel.cpus[cpu];
        match activity {
            Activity::IrqHandlerEntry(_) => interrupts.handler_begins(),
            Activity::IrqHandlerExit(_) => interrupts.handler_ends(),
            Activity::SoftirqEntry(softirq) => {
                interrupts.softirq_begins(*softirq);
                if interrupts.receives_packets() {
                    self.kernel.packets.begin_to_receive(cpu);
                }
            }
            Activity::SoftirqExit(_) => {
                if interrupts.receives_packets() {
                    self.kernel.packets.received(cpu);
                }
                interrupts.softirq_ends();
            }
            Activity::HrtimerExpireEntry(timer) => {
                let function = &strings[timer.function];
                interrupts.timer_expires(function);
                if TICK_HANDLERS.contains(&function) {
                    self.ticks.push(TickSample { cpu: event.cpu.0, at_ns: event.time_ns });
                }
            }
            Activity::HrtimerExpireExit(_) => interrupts.timer_returns(),
            Activity::TimerExpireEntry(timer) => interrupts.wheel_expires(&strings[timer.function]),
            Activity::TimerExpireExit(_) => interrupts.wheel_returns(),
            Activity::BlockRqIssue(rq) => self.issues(event, rq),
            Activity::BlockRqComplete(rq) => self.completes(event, rq),
            Activity::WorkqueueExecuteStart(_) => self.takes_piece(event),
            Activity::NetDevXmit(packet) => self.transmits(event, packet),
            Activity::NetifReceiveSkb(packet) => self.kernel.packets.receive(cpu, packet.dev, strings),
            Activity::SysEnter(call) => self.enters(event, call),
            Activity::SysExit(_) => self.kernel.sends[cpu] = false,
            _ => {}
        }
    }

    /// A task asks for something: the one that runs, unless a switch to this one has not been recorded.
    fn asks(&mut self, event: &Event) -> Option<Asked> {
        let task = *self.by_pid.get(&event.pid).filter(|_| event.context == Context::Task)?;
        let cpu = event.cpu.index();
        if self.cpus[cpu].running.is_some_and(|(running, _)| running == task) {
            self.account(cpu, event.time_ns);
        }
        let track = &mut self.tasks[task.index()];
        // What is not replayed would ask for nothing.
        if track.begin.is_none() || track.state == State::Dead {
            return None;
        }
        track.steps.push(Draft::Sends);
        let place = DraftStep { task, step: track.steps.len() - 1 };
        Some(Asked { place, at_ns: event.time_ns })
    }

    fn issues(&mut self, event: &Event, rq: &BlockRq) {
        // What an interrupt issues continues what it has found done.
        let continues = |answer: Answer| Asked {
            place: answer.asked,
            at_ns: event.time_ns.saturating_sub(answer.service_ns),
        };
        let asked = match event.context {
            Context::Task => self.asks(event),
            context => self.kernel.cpus[event.cpu.index()].answer(context).map(continues),
        };
        self.kernel.blocks.issue(rq, &self.trace.strings, asked);
    }

    fn completes(&mut self, event: &Event, rq: &BlockRq) {
        let Some(asked) = self.kernel.blocks.complete(rq, &self.trace.strings) else { return };
        let answer = asked.answer(NamedDevice::Block(rq.dev), event.time_ns);
        self.kernel.cpus[event.cpu.index()].done(event.context, answer);
        self.kernel.answers.comes(answer, event);
    }

    fn transmits(&mut self, event: &Event, packet: &Packet) {
        let asked = self.asks(event);
        let process = self.process(event.pid);
        let (cpu, strings) = (event.cpu.index(), &self.trace.strings);
        self.kernel.packets.transmit(cpu, packet.dev, process, asked, strings);
    }

    fn enters(&mut self, event: &Event, entered: &SysEnter) {
        let sends = entered.call.name.is_some_and(|name| SENDS.contains(&&self.trace.strings[name]));
        self.kernel.sends[event.cpu.index()] = sends;
        if !sends || self.kernel.shows_packets {
            return;
        }
        if let Some(asked) = self.asks(event) {
            let process = self.process(event.pid);
            self.kernel.packets.calls_send(process, asked);
        }
    }

    /// The process to which a thread belongs, as far as the trace says so.
    fn process(&self, pid: Pid) -> Pid {
        let listed = self.trace.threads.get(&pid).and_then(|thread| thread.tgid);
        listed.or_else(|| self.trace.facts.get(&pid).map(|facts| facts.tgid)).unwrap_or(pid)
    }

    /// Who sent the packet that a soft interrupt is receiving, if that was a task here: its wakeups are the
    /// sender's.
    pub(super) fn sender(
        &mut self,
        event: &Event,
        running: Option<TaskIndex>,
        sleeper: TaskIndex,
    ) -> Option<By> {
        let cpu = event.cpu.index();
        let interrupts = &self.kernel.cpus[cpu];
        if event.context != Context::Softirq || !interrupts.receives_packets() {
            return None;
        }
        let place = match self.kernel.packets.receives(cpu) {
            Some(Received::Looped(place)) => place?,
            Some(Received::From(_)) => return None,
            None => {
                let own = self.kernel.sends[cpu] && interrupts.receives_own_packets();
                return own.then(|| self.wakes(event, running, sleeper)).flatten();
            }
        };
        if Some(place.task) == running {
            return self.wakes(event, running, sleeper);
        }
        // Another CPU or a thread of the kernel's receives it. A step wakes one task.
        let step = &mut self.tasks[place.task.index()].steps[place.step];
        if *step != Draft::Sends {
            return None;
        }
        *step = Draft::Wake { task: sleeper, interrupts: false, same_call: false };
        Some(By::Task { place, certain: true })
    }

    /// The running task wakes another one.
    fn wakes(&mut self, event: &Event, running: Option<TaskIndex>, sleeper: TaskIndex) -> Option<By> {
        let wake = Draft::Wake { task: sleeper, interrupts: false, same_call: false };
        let place = self.draft(event.cpu.index(), running?, event.time_ns, wake);
        Some(By::Task { place, certain: true })
    }

    /// Why an interrupt wakes `sleeper`.
    pub(super) fn cause(&mut self, event: &Event, sleeper: TaskIndex) -> Cause {
        let cpu = event.cpu.index();
        let cause = self.kernel.cpus[cpu].cause(event.context);
        if cause != Cause::Network {
            return cause;
        }
        let since_ns = self.kernel.heard_ns.insert(sleeper, event.time_ns).unwrap_or(0);
        let process = self.process(self.tasks[sleeper.index()].pid);
        let received = self.kernel.packets.receives(cpu);
        let Some(sent) = self.kernel.packets.asked(process, received, since_ns) else { return cause };
        Cause::Answer(sent.asked.answer(NamedDevice::Network(sent.by), event.time_ns))
    }
}
