//! How fast a CPU's tasks ask for (schedutil, deadline-groups C2).

use crate::class::{Used, used};
use crate::platform::Platform;
use crate::registry::{FreqMargin, Uclamp};
use crate::{Clamps, CpuId, ThisCpu};

/// The frequency for a CPU of which so many kHz are the highest.
pub(super) fn khz<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, highest: u32) -> u64 {
    let clamps = me.k.rq(cpu).published.clamps.in_force();
    u64::from(highest) * perf(me, cpu, used(me, cpu), clamps) / me.k.full_capacity(cpu)
}

/// How much a CPU has to be worth where its tasks use so much, within clamps: with a quarter to spare, in
/// 1024ths of the best CPU. May be more than it can be.
pub(crate) fn perf<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, used: Used, clamps: Clamps) -> u64 {
    let Used { fair, higher, interrupts, reserved } = used;
    let rules = &me.k.config.rules;
    let asks_for_all = rules.uclamp.get() == Uclamp::Off && me.k.rq(cpu).published.rt_nr_running.get() > 0;
    let has = Has { full: me.k.full_capacity(cpu), interrupts, reserved, asks_for_all };
    match rules.freq_margin.get() {
        FreqMargin::Before => margin_before(has, fair + higher, clamps),
        FreqMargin::After => margin_after(has, fair + higher, clamps),
    }
}

/// What decides beside the utilisation of a CPU's tasks, in 1024ths of the best CPU.
#[derive(Clone, Copy, Debug)]
struct Has {
    /// What it is worth at its highest frequency.
    full: u64,
    /// What interrupts take.
    interrupts: u64,
    /// What its deadline tasks are promised.
    reserved: u64,
    /// It has real-time tasks, and there are no clamps by which these could ask for less.
    asks_for_all: bool,
}

impl Has {
    /// What tasks that would use so much use of what interrupts leave, with these.
    fn with_interrupts(self, util: u64) -> u64 {
        (util * (self.full - self.interrupts) / self.full + self.interrupts).min(self.full)
    }
}

/// 6.8 on: the quarter is part of what is clamped.
fn margin_before(has: Has, util: u64, clamps: Clamps) -> u64 {
    if has.interrupts >= has.full {
        return has.full;
    }
    let used = if util >= has.full { has.full } else { has.with_interrupts(util) };
    let asked = if has.asks_for_all { has.full } else { u64::from(clamps.min) };
    let least = asked.max(has.interrupts + has.reserved);
    let most = has.full.min(clamps.max.into());
    least.max((used + used / 4).min(most))
}

/// Up to 6.7: the quarter comes on top.
fn margin_after(has: Has, util: u64, clamps: Clamps) -> u64 {
    let clamped = clamps.of(util);
    let used = if has.asks_for_all || has.interrupts >= has.full || clamped >= has.full {
        has.full
    } else {
        (has.with_interrupts(clamped) + has.reserved).min(has.full)
    };
    used + used / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: Has = Has { full: 1024, interrupts: 0, reserved: 0, asks_for_all: false };
    const SMALL: Has = Has { full: 446, ..LARGE };

    /// The example of deadline-groups C2: 512 of 1024 and 2000 MHz are 1250 MHz, in both forms.
    #[test]
    fn half_of_a_cpu_asks_for_five_eighths() {
        for perf in [margin_before(LARGE, 512, Clamps::NONE), margin_after(LARGE, 512, Clamps::NONE)] {
            assert_eq!(perf * 2_000 / 1024, 1_250);
        }
    }

    /// A clamp from above holds with the quarter, before 6.8 without it; one from below is no reason for
    /// more.
    #[test]
    fn the_quarter_counts_before_clamps_or_after_them() {
        let capped = Clamps { min: 0, max: 400 };
        assert_eq!((margin_before(LARGE, 800, capped), margin_after(LARGE, 800, capped)), (400, 500));
        let raised = Clamps { min: 600, max: 1024 };
        assert_eq!((margin_before(LARGE, 100, raised), margin_after(LARGE, 100, raised)), (600, 750));
        assert_eq!(margin_before(SMALL, 500, Clamps::NONE), 446, "all that it has");
    }

    /// Real-time tasks without clamps ask for all, deadline tasks for what they are promised, interrupts come
    /// before all.
    #[test]
    fn classes_above_the_fair_one_ask_for_more() {
        let rt = Has { asks_for_all: true, ..SMALL };
        assert_eq!(margin_before(rt, 10, Clamps::NONE), 446);
        assert_eq!(margin_after(rt, 10, Clamps::NONE), 446 + 111);
        let promised = Has { reserved: 300, ..LARGE };
        assert_eq!(margin_before(promised, 100, Clamps::NONE), 300);
        assert_eq!(margin_after(promised, 100, Clamps::NONE), 500);
        let interrupted = Has { interrupts: 256, ..LARGE };
        // 400 of the three quarters that are left are 300, and 256: 556; a quarter more is 695.
        assert_eq!(margin_before(interrupted, 400, Clamps::NONE), 695);
        assert_eq!(margin_before(Has { interrupts: 1024, ..LARGE }, 0, Clamps::NONE), 1024);
    }
}
