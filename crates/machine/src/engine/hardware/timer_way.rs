//! The way of a task's timer interrupt to its CPU, on a machine that says how long that takes
//! ([`crate::spec::Noise::timer_delivery`]).
//!
//! There is one timer in a CPU, and what it says is brought by whoever comes first (machine.md 5.1): a
//! handler that is at work anyway serves what has expired by then, and a hypervisor that has the CPU for
//! another reason hands it over with the interrupt. Only a CPU that executes its guest has to be fetched
//! from there first.

use super::cpu::Irq;
use super::hw::Hw;
use super::source::Source;
use super::timers::{Expired, Fetched, TaskTimer};
use super::winners::Slot;
use crate::spec::Spread;
use scheduler::{CpuId, Nanos, TaskId};

impl Hw {
    /// The executing path sets the hardware's timer: in a virtual machine the hypervisor does it.
    pub fn program_timer(&self, me: CpuId) {
        let from = self.local_now();
        self.charge_work(self.spec.costs.timer_program);
        self.was_fetched(me, from);
    }

    /// The executing path adds a timer of a task to those of a CPU. The hardware is set to the first of them
    /// only (machine.md 5.1); where nothing is known of the timers' way, each counts as that.
    pub fn add_timer(&self, base: CpuId, timer: TaskTimer) {
        let is_first = self.cpu(base).timers_set.borrow_mut().add(timer);
        if is_first || self.spec.noise.timer_delivery.is_none() {
            self.program_timer(base);
        }
    }

    /// The executing path serves a timer of a task.
    #[inline]
    pub fn timer_served(&self, me: CpuId, slot: Slot) {
        let served = self.cpu(me).timers_set.borrow_mut().remove(slot);
        if self.watch().is_some() && served.is_none_or(|timer| self.local_now() < timer.soft()) {
            self.is_early(me, slot);
        }
    }

    /// Since `from` the executing path has served interrupts, or its CPU was with its hypervisor: how long,
    /// its debt says, which may still be to pass.
    #[inline]
    pub fn was_fetched(&self, me: CpuId, from: Nanos) {
        self.cpu(me).fetched.set(Fetched { from, until: self.local_now() });
    }

    /// A task's timer expires on `cpu`, or its interrupt arrives there. The CPU, if it goes on now because of
    /// it.
    pub fn timer_fires(&self, cpu: CpuId, task: TaskId, slot: Slot, delivery: Spread) -> Option<CpuId> {
        if self.cpu(cpu).timers_due.borrow().iter().any(|due| due.task == task) {
            return self.timers_arrive(cpu);
        }
        if self.is_fetched(cpu) {
            return self.raise(cpu, Irq::Timer(task));
        }
        let mut due = self.cpu(cpu).timers_due.borrow_mut();
        // Another one's interrupt, on its way already, is this one's, too.
        let under_way = due.first().map(|first| first.arrives);
        let arrives = under_way.unwrap_or_else(|| self.now.get() + self.dice(cpu, |rng| delivery.draw(rng)));
        self.queue.set(slot, arrives);
        due.push(Expired { task, slot, arrives });
        None
    }

    /// Whether a CPU serves an interrupt, or is with its hypervisor: then nobody has to fetch it.
    fn is_fetched(&self, cpu: CpuId) -> bool {
        let (hw, now) = (self.cpu(cpu), self.now.get());
        let own = hw.ready_at.get();
        self.catch_up(cpu);
        let fetched = hw.fetched.get();
        hw.in_interrupt.get()
            || (fetched.from <= now && now <= fetched.until)
            || hw.ready_at.get() > own.max(now)
    }

    fn timers_arrive(&self, cpu: CpuId) -> Option<CpuId> {
        let due = self.cpu(cpu).timers_due.take();
        due.into_iter().fold(None, |goes_on, Expired { task, slot, .. }| {
            self.queue.clear(slot);
            self.raise(cpu, Irq::Timer(task)).or(goes_on)
        })
    }

    /// The next interrupt that `me`, which serves some, has to serve; then those of timers that have expired
    /// meanwhile; and if one was a timer's, that of sleepers whose slack has begun as it came (machine.md
    /// 5.2).
    #[inline]
    pub fn next_pending(&self, me: CpuId) -> Option<Irq> {
        let hw = self.cpu(me);
        let mut next = hw.pending.borrow_mut().pop_front();
        if next.is_none() && !hw.timers_due.borrow().is_empty() {
            next = self.brought_along(me);
        }
        match next {
            Some(irq) if irq.is_timer() => hw.timer_pass.set(Some(self.local_now())),
            Some(_) => {}
            None => next = self.in_slack(me),
        }
        next
    }

    fn in_slack(&self, me: CpuId) -> Option<Irq> {
        let hw = self.cpu(me);
        let now = hw.timer_pass.get()?;
        let next_tick = if hw.ticks.get() { hw.next_tick.get() } else { Nanos::NEVER };
        let timer = hw.timers_set.borrow_mut().in_slack(now, next_tick);
        let Some(TaskTimer { slot, .. }) = timer else {
            hw.timer_pass.set(None);
            return None;
        };
        let Source::Timer(task) = self.source(slot) else { return None };
        self.queue.clear(slot);
        self.note_raised(me, Irq::Timer(task));
        Some(Irq::Timer(task))
    }

    #[inline(never)]
    fn brought_along(&self, me: CpuId) -> Option<Irq> {
        let hw = self.cpu(me);
        for Expired { task, slot, .. } in hw.timers_due.borrow_mut().drain(..) {
            self.queue.clear(slot);
            self.note_raised(me, Irq::Timer(task));
            hw.pending.borrow_mut().push_back(Irq::Timer(task));
        }
        hw.pending.borrow_mut().pop_front()
    }
}
