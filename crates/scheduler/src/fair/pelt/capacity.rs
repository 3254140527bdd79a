//! What tasks of higher classes leave of a CPU for fair ones (fair-placement 1.9).

use super::average::{Activity, Average, FULL};
use super::windows::Windows;
use crate::class::Class;
use crate::platform::Platform;
use crate::registry::{CpuCapacity, Feature};
use crate::rq::RqGuard;
use crate::shared::Kept;
use crate::{CpuId, Nanos, ThisCpu};

/// A CPU's capacity for fair tasks.
#[derive(Debug)]
#[repr(C)]
pub struct Capacity {
    /// What it is worth at its highest speed, with all of its time, in 1024ths of the best CPU
    /// (capacity_orig).
    pub full: u64,
    /// As of the last refresh: 1 to `full`.
    pub left: Kept<u64>,
    /// The same at the frequency at which it runs.
    pub speed: Kept<u64>,
    /// What its real-time tasks use (avg_rt).
    pub(super) used_by_rt: Average,
    /// What its deadline tasks use (avg_dl).
    pub(super) used_by_dl: Average,
    /// What interrupts take of it (avg_irq), where they are left out of the task clock.
    used_by_interrupts: Average,
    /// What all three use, in windows of half a second.
    windows: Windows,
}

impl Capacity {
    /// Of a CPU that is worth so much, and has nothing to do.
    pub(super) fn of(full: u64) -> Capacity {
        Capacity {
            full,
            speed: Kept::new(full),
            used_by_rt: Average::default(),
            used_by_dl: Average::default(),
            used_by_interrupts: Average::default(),
            windows: Windows::default(),
            left: Kept::new(full),
        }
    }

    /// The average of a class; `None` of those whose tasks do not lower the capacity.
    #[inline]
    fn used_by(&self, class: Class) -> Option<&Average> {
        match class {
            Class::Rt => Some(&self.used_by_rt),
            Class::Deadline => Some(&self.used_by_dl),
            Class::Stop | Class::Fair | Class::Idle => None,
        }
    }

    /// What tasks of higher classes use, in 1024ths.
    fn used_by_tasks(&self) -> u64 {
        self.used_by_rt.util_avg.get() + self.used_by_dl.util_avg.get()
    }

    /// Sum behind that of both averages.
    pub(super) fn util_sum_of_tasks(&self) -> u64 {
        self.used_by_rt.util_sum.get() + self.used_by_dl.util_sum.get()
    }

    /// Whether any of it still fades.
    pub(super) fn fades(&self) -> bool {
        self.used_by_tasks() > 0 || self.used_by_interrupts.util_avg.get() > 0
    }
}

/// What is used of a CPU by others than fair tasks, in 1024ths of the best one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Others {
    /// By tasks of higher classes.
    pub tasks: u64,
    /// By interrupts, as far as the kernel measures that.
    pub interrupts: u64,
}

/// That of a CPU.
pub(crate) fn used_by_others<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> Others {
    let capacity = &me.k.rq(cpu).published.pelt.capacity;
    Others { tasks: capacity.used_by_tasks(), interrupts: capacity.used_by_interrupts.util_avg.get() }
}

/// What is left of a CPU that is worth `full`, of which tasks of higher classes use so much of what
/// interrupts leave of it.
fn remaining(full: u64, used_by_tasks: u64, used_by_interrupts: u64) -> u64 {
    let left = full.saturating_sub(used_by_tasks) * full.saturating_sub(used_by_interrupts) / full;
    left.max(1)
}

/// A task of a higher class leaves the CPU, or has a tick.
#[inline]
pub(crate) fn higher_class_ran<P: Platform>(rq: &RqGuard<'_, P>, class: Class) {
    account(rq, class, Activity::RUNNING);
}

/// A task of a higher class takes the CPU from another class.
#[inline]
pub(crate) fn higher_class_begins<P: Platform>(rq: &RqGuard<'_, P>, class: Class) {
    account(rq, class, Activity::NONE);
}

/// All averages come up to now: as running that of the class that runs.
pub(super) fn update_blocked<P: Platform>(rq: &RqGuard<'_, P>) {
    let runs = rq.me.task(rq.curr).class.get();
    for class in [Class::Rt, Class::Deadline] {
        account(rq, class, if class == runs { Activity::RUNNING } else { Activity::NONE });
    }
    rq.published.pelt.capacity.used_by_interrupts.update(rq.clock, Activity::NONE, 1);
}

/// A task of a higher class is charged so much CPU time.
#[inline]
pub(in crate::fair) fn higher_class_charged<P: Platform>(rq: &RqGuard<'_, P>, ran: Nanos) {
    if rq.me.k.config.rules.cpu_capacity.get() == CpuCapacity::Windows {
        rq.published.pelt.capacity.windows.add(rq.clock, ran);
    }
}

#[inline]
fn account<P: Platform>(rq: &RqGuard<'_, P>, class: Class, active: Activity) {
    if rq.me.k.config.rules.cpu_capacity.get() == CpuCapacity::Pelt
        && let Some(average) = rq.published.pelt.capacity.used_by(class)
    {
        average.update(rq.clock_pelt(), active, 1);
    }
}

/// Of the time up to the queue's clock, interrupts took so much, as if they had done so at its end.
pub(crate) fn interrupted<P: Platform>(rq: &RqGuard<'_, P>, taken: Nanos) {
    let capacity = &rq.published.pelt.capacity;
    if !rq.me.has(Feature::NontaskCapacity) {
        return;
    }
    match rq.me.k.config.rules.cpu_capacity.get() {
        CpuCapacity::Pelt => {
            let average = &capacity.used_by_interrupts;
            let taken = Nanos(taken.0 * capacity.speed.get() / FULL);
            average.update(rq.clock.saturating_sub(taken), Activity::NONE, 1);
            average.update(rq.clock, Activity::RUNNING, 1);
        }
        CpuCapacity::Windows => capacity.windows.add(rq.clock, taken),
        CpuCapacity::Ignored => {}
    }
}

/// Computes a CPU's capacity anew (update_cpu_capacity).
pub(in crate::fair) fn refresh<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) {
    let capacity = &me.k.rq(cpu).published.pelt.capacity;
    let full = capacity.full;
    let left = match me.k.config.rules.cpu_capacity.get() {
        CpuCapacity::Pelt => {
            remaining(full, capacity.used_by_tasks(), capacity.used_by_interrupts.util_avg.get())
        }
        CpuCapacity::Windows => remaining(full, capacity.windows.used(me.now()) * full / FULL, 0),
        CpuCapacity::Ignored => full,
    };
    if (capacity.left.replace(left) < full) != (left < full) {
        let mut reduced = me.k.fair_root.reduced.borrow_mut();
        if left < full { reduced.insert(cpu) } else { reduced.remove(cpu) }
    }
}

/// What a CPU was worth to fair tasks at the last refresh, in 1024ths (capacity_of).
#[inline]
pub(in crate::fair) fn capacity_of<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> u64 {
    me.k.rq(cpu).published.pelt.capacity.left.get()
}

/// Whether higher classes leave clearly less of a CPU than it has, where `pct` percent are tolerated
/// (check_cpu_capacity).
pub(in crate::fair) fn is_reduced<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, pct: u64) -> bool {
    capacity_of(me, cpu) * pct < me.k.full_capacity(cpu) * 100
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Lab, deadline, fifo};

    #[test]
    fn e14_what_is_left() {
        for (used, left) in [(0, 1024), (512, 512), (973, 51), (1023, 1), (1024, 1)] {
            assert_eq!(remaining(1024, used, 0), left, "{used} used");
        }
        assert_eq!(remaining(1024, 200, 100), 743);
        assert_eq!((remaining(1024, 0, 1024), remaining(1024, 0, 1100)), (1, 1), "interrupts take all");
        assert_eq!(remaining(446, 46, 0), 400, "of a small CPU");
    }

    /// 1.9: used is the sum of both averages; each counts its own class alone, so that a real-time task that
    /// takes over from a deadline one begins anew.
    #[test]
    fn real_time_and_deadline_tasks_are_averaged_apart() {
        let lab = Lab::new(1, "6.1.y", &[]);
        lab.spawn(fifo(1), 0);
        let job = lab.spawn(deadline(32, 64, 128), 0);
        let capacity = &lab.k.rq(CpuId(0)).published.pelt.capacity;
        let averages = || [&capacity.used_by_dl, &capacity.used_by_rt].map(|average| average.util_avg.get());
        assert_eq!(lab.running(0), job);
        lab.advance(Nanos::from_millis(32));
        lab.tick(0);
        assert_ne!(lab.running(0), job, "it has used its 32 ms up");
        assert_eq!(averages(), [495, 0]);
        lab.advance(Nanos::from_millis(32));
        lab.tick(0);
        assert_eq!(averages()[1], 495);
        refresh(lab.cpu(0), CpuId(0));
        assert_eq!(capacity_of(lab.cpu(0), CpuId(0)), 1024 - 495 - 495);
    }

    /// So much time passes, of which interrupts take a part at the end; what is left of CPU 0 then.
    fn left_after(lab: &Lab, ms: u64, of_interrupts: u64) -> u64 {
        lab.advance(Nanos::from_millis(ms));
        let taken = &lab.k.platform.interrupt_time;
        taken.set(taken.get() + Nanos::from_millis(of_interrupts));
        let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
        rq.update_clock();
        update_blocked(&rq);
        drop(rq);
        refresh(lab.cpu(0), CpuId(0));
        capacity_of(lab.cpu(0), CpuId(0))
    }

    /// 1.9: x ns of interrupts lie at the end of the time that a clock update saw. With NONTASK_CAPACITY they
    /// lower the capacity, and fade with the blocked load; without it nothing is counted.
    #[test]
    fn interrupts_lower_the_capacity() {
        let left = |settings: &[&str]| {
            let lab = Lab::new(1, "6.1.y", settings);
            [left_after(&lab, 64, 32), left_after(&lab, 32, 0)]
        };
        let [begun, faded] = left(&[]);
        assert!((begun.abs_diff(1024 - 512) <= 20) && faded.abs_diff(1024 - 256) <= 12, "{begun} {faded}");
        assert_eq!(left(&["NO_NONTASK_CAPACITY"]), [1024; 2]);
        assert_eq!(left(&["cpu_capacity=ignored"]), [1024; 2]);
        // Windows (8.5): 32 / 564, 32 / 596.
        assert_eq!(left(&["cpu_capacity=windows"]), [1024 - 58, 1024 - 54]);
    }

    /// 1.8, 1.9: what interrupts took fades with the blocked load, also where NONTASK_CAPACITY was switched
    /// off meanwhile.
    #[test]
    fn what_interrupts_took_fades() {
        let lab = Lab::new(1, "6.1.y", &[]);
        assert!(left_after(&lab, 64, 32) < 600);
        lab.k.config.set("NO_NONTASK_CAPACITY").expect("a feature");
        assert!(left_after(&lab, 32, 0) > 700);
        assert_eq!(left_after(&lab, 1_000, 500), 1024, "what comes now does not count");
    }

    /// 1.8: it fades as long as anything is left of any of the three.
    #[test]
    fn capacity_fades_while_anything_is_used() {
        let fades = |rt, dl, interrupts| {
            let capacity = Capacity::of(1024);
            capacity.used_by_rt.util_avg.set(rt);
            capacity.used_by_dl.util_avg.set(dl);
            capacity.used_by_interrupts.util_avg.set(interrupts);
            capacity.fades()
        };
        assert!(fades(1, 0, 0) && fades(0, 1, 0) && fades(0, 0, 1) && !fades(0, 0, 0));
    }

    /// 4.5: balancing knows of which CPUs something is taken, from one refresh to the next.
    #[test]
    fn a_cpu_of_which_something_is_taken_is_known() {
        let lab = Lab::new(2, "6.1.y", &[]);
        let known = |used| {
            lab.k.rq(CpuId(1)).published.pelt.capacity.used_by_rt.util_avg.set(used);
            refresh(lab.cpu(0), CpuId(1));
            lab.k.fair_root.reduced.borrow().iter().collect::<alloc::vec::Vec<_>>()
        };
        assert_eq!([0, 1, 500, 0, 0].map(known), [&[][..], &[CpuId(1)], &[CpuId(1)], &[], &[]]);
    }

    /// 4.9: with a tolerance of 25 percent, 800 of 1000 are not clearly less.
    #[test]
    fn a_cpu_is_reduced_below_the_tolerance() {
        let reduced = |left| {
            let lab = Lab::on(&crate::Topology::flat(2).with_capacities([1000, 1024].into()), "6.1.y", &[]);
            lab.k.rq(CpuId(0)).published.pelt.capacity.left.set(left);
            is_reduced(lab.cpu(1), CpuId(0), 125)
        };
        assert_eq!([800, 799].map(reduced), [false, true]);
    }

    /// fair-placement E1, E3, 8.5: a FIFO hog drives a CPU's capacity to 1 in half a second, and gives it
    /// back as it leaves; without the rule nobody notices.
    #[test]
    fn a_real_time_hog_uses_its_cpu_up() {
        let left = |rule: &str| {
            let lab = Lab::new(2, "6.1.y", &["load_tracking=pelt", "sched_rt_runtime_us=-1", rule]);
            lab.spawn(fifo(1), 0);
            let refreshed = |ticks: u64| {
                for _ in 0..ticks {
                    lab.advance(Nanos::from_millis(4));
                    lab.tick(0);
                }
                refresh(lab.cpu(1), CpuId(0));
                capacity_of(lab.cpu(1), CpuId(0))
            };
            let all = [refreshed(0), refreshed(8), refreshed(125)];
            lab.block(0);
            lab.advance(Nanos::from_millis(32));
            lab.spawn(fifo(1), 0);
            [&all[..], &[refreshed(0)]].concat()
        };
        assert_eq!(left("cpu_capacity=pelt"), [1024, 529, 1, 496]);
        assert_eq!(left("cpu_capacity=ignored"), [1024; 4]);
        // Windows (8.5): 1024 × 32 / 532; (250 + 32) / 532; it runs no more: 282 / 564.
        assert_eq!(left("cpu_capacity=windows"), [1024, 1024 - 61, 1024 - 542, 512]);
    }
}
