//! How busy a CPU is: the sum of its tasks' weights, now and on average (fair-class 8.2).
//!
//! What real-time tasks weigh here is a rule, `rt_load_weight`: nothing since 2.6.35, before that so much
//! that one outweighs any number of fair tasks (fair-class 1.1). A fair task with an inherited priority
//! counts as real-time.

use crate::Class;
use crate::platform::{Access, Cost, Line, Platform};
use crate::registry::{Feature, RtLoadWeight};
use crate::rq::RqGuard;
use crate::stats::bump;
use crate::{CpuId, Nanos, RT_LOAD_WEIGHT, TaskId, ThisCpu};
use core::cell::Cell;

/// A decision looks at a CPU: its published line is read.
#[inline]
pub(super) fn look_at<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) {
    me.charge(Cost::ScanCpu);
    me.touch(Line::Rq(cpu), Access::Read);
}

/// Load of a CPU at this moment.
#[inline]
pub(crate) fn weighted_cpuload<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> u64 {
    let rq = &me.k.rq(cpu).published;
    rq.load.get() + rt_weight(me) * u64::from(rq.rt_nr_running.get())
}

/// What each RT task adds to its CPU's load.
fn rt_weight<P: Platform>(me: ThisCpu<'_, P>) -> u64 {
    match me.k.config.rules.rt_load_weight.get() {
        RtLoadWeight::Zero => 0,
        RtLoadWeight::TwiceMax => RT_LOAD_WEIGHT,
    }
}

/// What this task adds to its CPU's load while it is runnable.
pub(crate) fn load_weight<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) -> u64 {
    let task = me.task(p);
    match task.class.get() {
        Class::Rt => rt_weight(me),
        Class::Fair => task.se.weight(),
        Class::Stop | Class::Deadline | Class::Idle => 0,
    }
}

/// A low guess, for a CPU that a task would come from: index 0 is the present load, `j` also asks the average
/// over 2^(j−1) ticks.
pub(super) fn source_load<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, index: usize) -> u64 {
    averaged(me, cpu, index)
        .map_or(weighted_cpuload(me, cpu), |average| average.min(weighted_cpuload(me, cpu)))
}

/// A high guess, for a CPU that a task would go to.
pub(super) fn target_load<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, index: usize) -> u64 {
    averaged(me, cpu, index)
        .map_or(weighted_cpuload(me, cpu), |average| average.max(weighted_cpuload(me, cpu)))
}

fn averaged<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, index: usize) -> Option<u64> {
    let asked = index.checked_sub(1).filter(|_| me.has(Feature::LbBias))?;
    Some(me.k.rq(cpu).published.cpu_load[asked].get())
}

/// Mean weight of a CPU's tasks; zero where there are none.
pub(crate) fn cpu_avg_load_per_task<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> u64 {
    let nr = u64::from(me.k.rq(cpu).published.nr_running.get());
    weighted_cpuload(me, cpu).checked_div(nr).unwrap_or(0)
}

/// Averages the load, at each tick. Ticks that the CPU missed while it was idle are made up for.
pub(crate) fn update_cpu_load<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let tick = tick_period(rq.me);
    let elapsed = rq.clock.saturating_sub(rq.fair.load_updated);
    let missed = ((elapsed.0 + tick.0 / 2) / tick.0).saturating_sub(1);
    rq.fair.load_updated = rq.clock;
    bump(&rq.published.counts.load_updates);
    let now = crate::fair::pelt::cpu_load(rq.me, rq.cpu);
    for (index, average) in rq.published.cpu_load.iter().enumerate() {
        let span = 1 << index;
        average.set(rq, blend(decay_load_missed(average.get(), span, missed), now, span));
    }
}

/// Time between two ticks of a busy CPU.
pub(crate) fn tick_period<P: Platform>(me: ThisCpu<'_, P>) -> Nanos {
    me.k.fair_root.tick.period(me.k.config.tunables.hz.get())
}

/// The period of the tick beside the rate by which it was computed: balancing asks for it several times in
/// each switch, and a division takes longer than most of what it asks besides.
#[derive(Debug, Default)]
pub(super) struct TickPeriod {
    hz: Cell<i64>,
    period: Cell<Nanos>,
}

impl TickPeriod {
    #[inline]
    fn period(&self, hz: i64) -> Nanos {
        if self.hz.replace(hz) != hz {
            self.period.set(Nanos(1_000_000_000 / hz as u64));
        }
        self.period.get()
    }
}

/// The average over `span` ticks after one more tick. Rounded up while it rises, so that it can get there.
fn blend(average: u64, now: u64, span: u64) -> u64 {
    let round = if now > average { span - 1 } else { 0 };
    (average * (span - 1) + now + round) / span
}

/// The average after so many idle ticks.
fn decay_load_missed(mut average: u64, span: u64, ticks: u64) -> u64 {
    for _ in 0..ticks {
        if average == 0 {
            break;
        }
        average = blend(average, 0, span);
    }
    average
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;
    use crate::testing::Lab;

    fn averages(lab: &Lab) -> [u64; 5] {
        lab.k.rq(CpuId(0)).published.cpu_load.each_ref().map(|c| c.get())
    }

    /// fair-class 8.2: each index follows half as fast as the one before, and gets there.
    #[test]
    fn averages_follow_the_load() {
        let lab = Lab::new(2, "2.6.36", &[]);
        lab.spawn(Policy::Normal, 0);
        lab.advance(Nanos::from_millis(1));
        lab.tick(0);
        assert_eq!(averages(&lab), [1024, 512, 256, 128, 64]);
        for _ in 0..100 {
            lab.advance(Nanos::from_millis(1));
            lab.tick(0);
        }
        assert_eq!(averages(&lab), [1024; 5]);
    }

    #[test]
    fn idle_ticks_are_made_up_for() {
        let lab = Lab::new(2, "2.6.36", &[]);
        let p = lab.spawn(Policy::Normal, 0);
        for _ in 0..100 {
            lab.advance(Nanos::from_millis(1));
            lab.tick(0);
        }
        lab.block(0);
        lab.advance(Nanos::from_millis(4));
        lab.wake(0, p);
        lab.tick(0);
        assert_eq!(averages(&lab)[..2], [1024, (1024 / 8) / 2 + 512], "three idle ticks, then a busy one");
    }

    #[test]
    fn guesses_lean_against_moving_unless_lb_bias_is_off() {
        let guesses = |settings: &[&str]| {
            let lab = Lab::new(2, "2.6.36", settings);
            lab.spawn(Policy::Normal, 0);
            lab.k.rq(CpuId(0)).published.cpu_load[0].overwrite(500);
            lab.k.rq(CpuId(0)).published.cpu_load[1].overwrite(3000);
            let me = lab.cpu(1);
            [0, 1, 2].map(|i| [source_load(me, CpuId(0), i), target_load(me, CpuId(0), i)])
        };
        assert_eq!(guesses(&[]), [[1024, 1024], [500, 1024], [1024, 3000]]);
        assert_eq!(guesses(&["NO_LB_BIAS"]), [[1024, 1024]; 3]);
    }
}
