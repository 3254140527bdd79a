//! The clocks of a run queue: one shows the time, the other one that of its tasks, from which interrupts are
//! left out where the kernel measures them (fair-placement 1.9). Averages have a third one, which differs
//! from that where CPUs are not worth the same, or change their frequency.
//!
//! The time of an interrupt is known as it ends. What is accounted while it goes on, as a tick does, goes by
//! a task clock that contains the interrupt so far; the next update takes it back, and stands still if that
//! is more than has passed since.

use crate::Nanos;
use crate::class::{interrupted, pelt_clock_advances};
use crate::platform::Platform;
use crate::rq::RqGuard;

impl<P: Platform> RqGuard<'_, P> {
    /// Brings the queue's clock up to the executing CPU's present time.
    #[inline]
    pub fn update_clock(&mut self) {
        let before = self.clock;
        self.clock = before.max(self.me.now());
        let measured = self.me.k.platform.interrupt_time(self.cpu);
        if measured > self.published.left_out.get() {
            self.leave_out(measured, before);
        }
        if self.me.k.has_pelt_clocks() {
            pelt_clock_advances(self);
        }
    }

    /// Time of all averages: the task clock, which on CPUs that are worth less, or run at a lower
    /// frequency, goes slower while they are busy (deadline-groups C3).
    #[inline]
    pub fn clock_pelt(&self) -> Nanos {
        match self.me.k.has_pelt_clocks() {
            true => self.published.pelt.clock.now(),
            false => self.clock_task(),
        }
    }

    /// Time of the queue's tasks: the clock without what interrupts took, as far as that is known.
    #[inline]
    pub fn clock_task(&self) -> Nanos {
        self.clock.saturating_sub(self.published.left_out.get())
    }

    /// The clock was `before`; interrupts have taken so much since the run began. The task clock never goes
    /// back: what is more than has passed is left out later.
    #[cold]
    fn leave_out(&mut self, measured: Nanos, before: Nanos) {
        let left_out = &self.published.left_out;
        let unseen = measured.saturating_sub(left_out.get());
        let taken = unseen.min(self.clock.saturating_sub(before));
        left_out.set(self, left_out.get() + taken);
        if taken > Nanos::ZERO {
            interrupted(self, taken);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Lab, deadline, fifo};
    use crate::{CpuId, Nanos, Policy};

    const MS: Nanos = Nanos::from_millis(1);

    /// Time passes; interrupts have taken so much of it.
    fn passes(lab: &Lab, time: Nanos, of_interrupts: Nanos) {
        lab.advance(time);
        let taken = &lab.k.platform.interrupt_time;
        taken.set(taken.get() + of_interrupts);
    }

    /// 1.9: of 10 ms in which interrupts took 2, a task of any class is charged 8, while the queue's clock
    /// shows 10.
    #[test]
    fn no_class_charges_a_task_for_interrupts() {
        for policy in [Policy::Normal, fifo(1), deadline(50, 100, 100)] {
            let lab = Lab::new(1, "6.1.y", &[]);
            let p = lab.spawn(policy, 0);
            passes(&lab, MS * 10, MS * 2);
            lab.tick(0);
            assert_eq!(lab.k.task(p).stats.sum_exec_runtime.get(), MS * 8, "{policy:?}");
            let rq = lab.run(lab.cpu(0).lock(CpuId(0)));
            assert_eq!([rq.clock, rq.clock_task()], [MS * 10, MS * 8]);
        }
    }

    /// 1.9: an interrupt of 3 ms that is known only after the tick in it has charged the task: the task clock
    /// stands still until it has been left out.
    #[test]
    fn the_task_clock_never_goes_back() {
        let lab = Lab::new(1, "6.1.y", &[]);
        let p = lab.spawn(Policy::Normal, 0);
        let charged = || {
            lab.tick(0);
            lab.k.task(p).stats.sum_exec_runtime.get()
        };
        passes(&lab, MS * 5, Nanos::ZERO);
        assert_eq!(charged(), MS * 5);
        passes(&lab, MS, MS * 3);
        assert_eq!(charged(), MS * 5);
        passes(&lab, MS, Nanos::ZERO);
        assert_eq!(charged(), MS * 5);
        passes(&lab, MS * 2, Nanos::ZERO);
        assert_eq!(charged(), MS * 6, "9 ms have passed, 3 of them were an interrupt's");
    }
}
