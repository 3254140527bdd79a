//! Why an interrupt wakes a task, where the trace shows it: events of timers, block requests, packets and
//! soft interrupts say what each CPU is about when it makes a wakeup.

use super::track::DraftStep;
use trace::{BlockDevice, Context, SoftirqVec, StrId};

/// Why an interrupt ended a sleep.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Cause {
    /// The trace does not show it.
    #[default]
    Unknown,
    /// A high-resolution timer that the sleeper had set for this sleep.
    OwnTimer,
    /// Another high-resolution timer: periodic ones, those of signals and files.
    HighResolution,
    /// A timer of the wheel, which expires in the soft interrupt of a tick; the sleeper's own for this sleep,
    /// or another.
    Wheel { own: bool },
    /// Something that a task had asked for has come.
    Answer(Answer),
    /// A packet that a task has sent over the loopback device: this task is the waker.
    Sender,
    /// A packet that nobody in the trace had asked for.
    Network,
    /// The interrupt of a device that served none of the requests in the trace.
    Device,
}

impl Cause {
    /// A timer, whatever the sleeper's state looks like.
    pub fn is_timer(self) -> bool {
        matches!(self, Cause::OwnTimer | Cause::HighResolution | Cause::Wheel { .. })
    }

    /// A timer that the sleeper has set itself.
    pub fn is_own_timer(self) -> bool {
        matches!(self, Cause::OwnTimer | Cause::Wheel { own: true })
    }

    /// It has nothing to do with the tick.
    pub fn is_from_outside(self) -> bool {
        matches!(self, Cause::Answer(_) | Cause::Network | Cause::Device)
    }
}

/// What a device did for a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Answer {
    /// The draft step that asked.
    pub asked: DraftStep,
    pub device: NamedDevice,
    /// How long it took, ns.
    pub service_ns: u64,
}

/// A device that the trace names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum NamedDevice {
    Block(BlockDevice),
    /// A network device, and whatever is behind it; `None`: some network device.
    Network(Option<StrId>),
}

/// What an expired timer calls to wake the task that has set it, in its own sleep: high-resolution ones, and
/// those of the wheel.
const OWN_TIMER: &str = "hrtimer_wakeup";
const OWN_WHEEL_TIMER: &str = "process_timeout";

/// Interrupts of one CPU, as far as its last events tell.
#[derive(Clone, Debug, Default)]
pub(super) struct Interrupts {
    handler: bool,
    softirq: Option<SoftirqVec>,
    /// The soft interrupt follows an interrupt of a device; else the task under it has raised it.
    after_device: bool,
    high_resolution: Option<Cause>,
    wheel: Option<Cause>,
    /// What the interrupt has last found done, of hard and of soft ones: a hard one may come in the midst of
    /// a soft one.
    hard_answer: Option<Answer>,
    soft_answer: Option<Answer>,
}

impl Interrupts {
    /// An event of a task: no interrupt is under way.
    pub fn over(&mut self) {
        *self = Interrupts::default();
    }

    /// The handler of a device's interrupt begins.
    pub fn handler_begins(&mut self) {
        (self.handler, self.after_device, self.hard_answer) = (true, true, None);
    }

    /// The handler ends.
    pub fn handler_ends(&mut self) {
        (self.handler, self.hard_answer) = (false, None);
    }

    /// A soft interrupt begins.
    pub fn softirq_begins(&mut self, softirq: SoftirqVec) {
        (self.softirq, self.soft_answer) = (Some(softirq), None);
    }

    /// The soft interrupt ends.
    pub fn softirq_ends(&mut self) {
        (self.softirq, self.soft_answer, self.after_device) = (None, None, false);
    }

    /// A high-resolution timer expires; `function` is what it calls.
    pub fn timer_expires(&mut self, function: &str) {
        self.high_resolution =
            Some(if function == OWN_TIMER { Cause::OwnTimer } else { Cause::HighResolution });
    }

    /// What it called has returned.
    pub fn timer_returns(&mut self) {
        self.high_resolution = None;
    }

    /// A timer of the wheel expires; `function` is what it calls.
    pub fn wheel_expires(&mut self, function: &str) {
        self.wheel = Some(Cause::Wheel { own: function == OWN_WHEEL_TIMER });
    }

    /// What it called has returned.
    pub fn wheel_returns(&mut self) {
        self.wheel = None;
    }

    /// Something that was asked for is found done.
    pub fn done(&mut self, context: Context, answer: Answer) {
        match context {
            Context::Hardirq => self.hard_answer = Some(answer),
            _ => self.soft_answer = Some(answer),
        }
    }

    /// What was last found done in this interrupt.
    pub fn answer(&self, context: Context) -> Option<Answer> {
        if context == Context::Hardirq { self.hard_answer } else { self.soft_answer }
    }

    /// Packets are being received.
    pub fn receives_packets(&self) -> bool {
        self.softirq == Some(SoftirqVec::NET_RX)
    }

    /// Packets are being received because the task that runs under the interrupt has sent them.
    pub fn receives_own_packets(&self) -> bool {
        self.receives_packets() && !self.after_device
    }

    /// The interrupt that is under way, if its beginning was recorded and its end was not.
    pub fn context(&self) -> Option<Context> {
        let hard =
            self.handler || self.high_resolution.is_some() && self.softirq != Some(SoftirqVec::HRTIMER);
        let soft = self.wheel.is_some() || self.softirq.is_some();
        hard.then_some(Context::Hardirq).or(soft.then_some(Context::Softirq))
    }

    /// Why an interrupt wakes somebody now.
    pub fn cause(&self, context: Context) -> Cause {
        let answer = self.answer(context).map(Cause::Answer);
        if context == Context::Hardirq {
            let device = self.handler.then_some(Cause::Device);
            return self.high_resolution.or(answer).or(device).unwrap_or_default();
        }
        let of_vector = match self.softirq {
            Some(SoftirqVec::TIMER) => Cause::Wheel { own: false },
            Some(SoftirqVec::HRTIMER) => self.high_resolution.unwrap_or(Cause::HighResolution),
            Some(SoftirqVec::BLOCK) => Cause::Device,
            Some(SoftirqVec::NET_RX | SoftirqVec::NET_TX) => Cause::Network,
            _ => Cause::Unknown,
        };
        self.wheel.or(answer).unwrap_or(of_vector)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::recording::TaskIndex;

    const ANSWER: Answer = Answer {
        asked: DraftStep { task: TaskIndex(0), step: 0 },
        device: NamedDevice::Network(None),
        service_ns: 30_000,
    };

    #[test]
    fn a_timer_in_the_midst_of_a_soft_interrupt_is_the_cause_of_its_own_wakeups_only() {
        let mut cpu = Interrupts::default();
        cpu.handler_begins();
        cpu.handler_ends();
        cpu.softirq_begins(SoftirqVec::BLOCK);
        assert_eq!(cpu.cause(Context::Softirq), Cause::Device);
        cpu.done(Context::Softirq, ANSWER);
        cpu.timer_expires("hrtimer_wakeup");
        assert_eq!(cpu.cause(Context::Hardirq), Cause::OwnTimer);
        assert_eq!(cpu.cause(Context::Softirq), Cause::Answer(ANSWER));
        cpu.timer_returns();
        assert_eq!(cpu.cause(Context::Hardirq), Cause::Unknown);
        cpu.softirq_ends();
        assert_eq!(cpu.cause(Context::Softirq), Cause::Unknown, "the next one has not found it done");
    }

    #[test]
    fn packets_are_the_tasks_own_unless_a_device_has_interrupted() {
        let mut cpu = Interrupts::default();
        cpu.softirq_begins(SoftirqVec::NET_RX);
        assert!(cpu.receives_own_packets());
        cpu.softirq_ends();
        cpu.handler_begins();
        cpu.handler_ends();
        cpu.softirq_begins(SoftirqVec::NET_RX);
        assert!(cpu.receives_packets() && !cpu.receives_own_packets());
        assert_eq!(cpu.cause(Context::Softirq), Cause::Network);
    }
}
