//! Interrupts of devices in threads (machine.md 1.6): the interrupt itself does next to nothing and wakes the
//! thread of its CPU, which handles what has come until nothing is left, and then the soft interrupts that
//! wait, at its own priority. An interrupt that comes meanwhile wakes nobody: the thread looks again.
//!
//! A device has an interrupt for each CPU here, as those with a queue for each have, and all devices of a CPU
//! have one thread: of the same priority they would wait for each other anyhow.

use super::interrupts::FROM_INTERRUPT;
use super::sim::Sim;
use crate::engine::hardware::{Hw, IrqWork};
use crate::engine::userland::{Activity, Caller, Rest, Resume, Slow};
use scheduler::wakeup::try_to_wake_up;
use scheduler::{CpuId, Nanos, TaskState, ThisCpu};

/// What is left in the interrupt of a handler of which only the length is known (machine.md 1.6: 0.5 to 1
/// us).
const HARD_PART: Nanos = Nanos(500);

impl Sim {
    /// Whether a source of stretches with interrupts off is one of handlers, and these are threads.
    pub fn is_handled_in_thread(&self, source: u32) -> bool {
        self.hw().spec.noise.irq_off[source as usize].device
            && self.hw().cpus[0].threads.get().is_some_and(|threads| threads.irq.is_some())
    }

    /// A device's interrupt has arrived, and with it this: the thread of the CPU is to do it, if there is
    /// one; else it is done here.
    pub async fn device_interrupt(&self, me: ThisCpu<'_, Hw>, work: IrqWork) {
        let Some(thread) = self.hw().cpu(me.id).threads.get().and_then(|threads| threads.irq) else {
            return self.do_irq_work(me, work).await;
        };
        self.leave_to_irq_thread(me.id, work);
        if me.task(thread).state.get() != TaskState::Running {
            try_to_wake_up(me, thread, FROM_INTERRUPT).await;
        }
    }

    /// Puts work into the list; handlers that wait there already are run once for all.
    fn leave_to_irq_thread(&self, cpu: CpuId, work: IrqWork) {
        let is_handler = |work: &IrqWork| matches!(work, IrqWork::Handler(_));
        let mut list = self.hw().cpu(cpu).irq_list.borrow_mut();
        if !is_handler(&work) || !list.iter().any(is_handler) {
            list.push_back(work);
        }
    }

    /// A handler takes so long: in the interrupt, or but for its beginning in the thread.
    pub async fn handler_runs(&self, me: ThisCpu<'_, Hw>, source: u32, length: Nanos) {
        if !self.is_handled_in_thread(source) {
            return self.hw().charge_ns(length);
        }
        self.hw().charge_ns(length.min(HARD_PART));
        self.device_interrupt(me, IrqWork::Handler(length.saturating_sub(HARD_PART))).await;
    }

    /// What needs no time of its own.
    pub async fn do_irq_work(&self, me: ThisCpu<'_, Hw>, work: IrqWork) {
        match work {
            IrqWork::Message(message) => self.message_from_outside(me, message).await,
            IrqWork::Served(channel) => self.user.channels.message_by_interrupt(me, channel).await,
            IrqWork::Handler(length) => self.hw().charge_ns(length),
        }
    }

    /// The next thing that the thread of the interrupts has to do, if the caller is that thread.
    pub(super) fn handles_irq(&self, call: Caller<'_>) -> Option<Rest> {
        if !self.handles_irqs(call) {
            return None;
        }
        let work = self.hw().cpu(call.me.id).irq_list.borrow_mut().pop_front()?;
        Some(match work {
            IrqWork::Handler(left) => {
                call.does(Activity::Kernel { left, then: Resume::SoftirqRound });
                Rest::Nothing
            }
            IrqWork::Message(_) | IrqWork::Served(_) => {
                call.does(Activity::InCall(Resume::SoftirqRound));
                call.slowly(Slow::Handle(work))
            }
        })
    }
}
