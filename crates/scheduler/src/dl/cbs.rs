//! The arithmetic of the constant bandwidth server: what a wakeup, exhaustion and the end of a period make of
//! an entity's budget and deadline (deadline-groups A5, A6).

use super::params::{BW_SHIFT, DlParams};
use crate::Nanos;
use crate::registry::DlWakeup;

/// What is left of a period.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Budget {
    /// Run time left, in ns; below zero what was overrun.
    pub runtime: i64,
    /// The present absolute deadline.
    pub deadline: Nanos,
}

impl Budget {
    /// A new period begins now.
    pub fn new_period(params: DlParams, now: Nanos) -> Budget {
        Budget { runtime: params.runtime().0 as i64, deadline: now + params.deadline() }
    }

    /// It has never had a period. (A kernel's clock is far from zero when its first task runs; ours is not.)
    pub fn is_unused(self) -> bool {
        self == Budget::default()
    }

    /// Its deadline has passed.
    pub fn is_past(self, now: Nanos) -> bool {
        self.deadline < now || self.is_unused()
    }

    /// The next period begins: when the timer fires that was set for it (next_period).
    pub fn next_period(self, params: DlParams) -> Nanos {
        self.deadline.saturating_sub(params.deadline()) + params.period()
    }

    /// One period after the other is added until there is run time; what lags too much starts anew.
    pub fn replenished(self, params: DlParams, yielded: bool, now: Nanos) -> Budget {
        let Budget { mut runtime, mut deadline } = self;
        if yielded {
            runtime = runtime.min(0);
        }
        // The first one is there even if the loop would not be: a server, or a boost, comes with run time.
        while runtime <= 0 {
            deadline += params.period();
            runtime += params.runtime().0 as i64;
        }
        if deadline < now { Budget::new_period(params, now) } else { Budget { runtime, deadline } }
    }

    /// Whether what is left could not be used up to the deadline without more than the entity's bandwidth.
    pub fn overflows(self, params: DlParams, now: Nanos) -> bool {
        // In units of 1024 ns, as the kernel computes it: 128 bits are never needed then.
        let left = (params.deadline().0 >> 10) as i64 * (self.runtime >> 10);
        let right = (self.deadline.saturating_sub(now).0 >> 10) * (params.runtime().0 >> 10);
        left > 0 && left as u64 > right
    }

    /// When the entity's share would be used up if it ran at its bandwidth from now on (deadline-groups A6).
    pub fn zero_lag(self, params: DlParams) -> Nanos {
        let lag = i128::from(self.runtime) * i128::from(params.period().0) / i128::from(params.runtime().0);
        Nanos((i128::from(self.deadline.0) - lag).max(0) as u64)
    }
}

/// What a period may gain by rounding that begins before the deadline of the one before it, because what was
/// left of that overflowed ([`Budget::overflows`]). With run time and deadline of q and d times 1024 ns, r of
/// them left and l of them to the deadline, r d > l q: so what is left is more than l Q / D less
/// 1024 (q + l) / d, and l is below d.
pub(crate) fn early_gain(params: DlParams) -> Nanos {
    let (q, d) = (params.runtime().0 >> 10, params.deadline().0 >> 10);
    Nanos((1024 * (q + d)).div_ceil(d))
}

/// What a wakeup does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Woken {
    /// It competes, with this budget.
    Runs(Budget),
    /// It has to wait for its next period, with this budget.
    Waits(Budget),
}

/// Rules 2 to 5 of a wakeup in deadline-groups A5. `boosted`: the parameters are those of somebody who waits.
pub(super) fn wakeup(budget: Budget, params: DlParams, now: Nanos, rule: DlWakeup, boosted: bool) -> Woken {
    let revised = rule == DlWakeup::CbsRevised && params.is_constrained() && !boosted;
    let runs_late = budget.is_past(now) && !budget.is_unused();
    if revised && runs_late && now < budget.next_period(params) {
        return Woken::Waits(Budget { runtime: budget.runtime.min(0), ..budget });
    }
    if budget.is_past(now) {
        return Woken::Runs(Budget::new_period(params, now));
    }
    if !budget.overflows(params, now) {
        return Woken::Runs(budget);
    }
    Woken::Runs(if revised { revised_budget(budget, params, now) } else { Budget::new_period(params, now) })
}

/// The revised wakeup rule: the deadline stays, and as much run time as the density allows up to it.
pub(super) fn revised_budget(budget: Budget, params: DlParams, now: Nanos) -> Budget {
    let laxity = u128::from(budget.deadline.saturating_sub(now).0);
    let runtime = (u128::from(params.density()) * laxity) >> BW_SHIFT;
    Budget { runtime: runtime as i64, ..budget }
}

#[cfg(test)]
mod tests {
    use super::Woken::{Runs, Waits};
    use super::*;

    const fn ms(ms: u64) -> Nanos {
        Nanos::from_millis(ms)
    }

    fn params(runtime: u64, deadline: u64, period: u64) -> DlParams {
        DlParams::new(ms(runtime), ms(deadline), ms(period)).expect("legal")
    }

    fn budget(runtime: i64, deadline: u64) -> Budget {
        Budget { runtime: runtime * 1_000_000, deadline: ms(deadline) }
    }

    fn woken(left: Budget, params: DlParams, now: u64, rule: DlWakeup) -> Woken {
        wakeup(left, params, ms(now), rule, false)
    }

    /// deadline-groups A14 example 3: 10/100, the wakeups of the table.
    #[test]
    fn a14_3_wakeups() {
        let p = params(10, 100, 100);
        for rule in [DlWakeup::CbsRevised, DlWakeup::Cbs] {
            assert_eq!(woken(budget(0, 0), p, 1, rule), Runs(budget(10, 101)));
            assert_eq!(woken(budget(6, 100), p, 24, rule), Runs(budget(6, 100)));
            assert_eq!(woken(budget(2, 100), p, 48, rule), Runs(budget(2, 100)));
            // 8/78 > 0.1.
            assert_eq!(woken(budget(8, 200), p, 122, rule), Runs(budget(10, 222)));
            assert_eq!(woken(budget(6, 222), p, 146, rule), Runs(budget(6, 222)));
        }
    }

    /// deadline-groups A14 example 4: 5/20/50, what the revised rule leaves of the budget.
    #[test]
    fn a14_4_revised_rule() {
        let p = params(5, 20, 50);
        let close = |woken: Woken, runtime: i64, deadline: u64| match woken {
            Runs(b) => b.deadline == ms(deadline) && (runtime - b.runtime).abs() <= 10, // Fixed point.
            Waits(_) => false,
        };
        let left = |us: i64, deadline| Budget { runtime: us * 1_000, deadline: ms(deadline) };
        let at = |us| Nanos::from_micros(us);
        let rule = DlWakeup::CbsRevised;
        // 2/6 > 0.25.
        assert!(close(wakeup(left(2_000, 20), p, at(14_000), rule, false), 1_500_000, 20));
        assert!(close(wakeup(left(3_500, 70), p, at(62_500), rule, false), 1_875_000, 70));
        assert!(close(wakeup(left(3_875, 120), p, at(112_125), rule, false), 1_968_750, 120));
        // The old rule, and whoever is boosted: a new period.
        assert_eq!(woken(budget(2, 20), p, 14, DlWakeup::Cbs), Runs(budget(5, 34)));
        assert_eq!(wakeup(budget(2, 20), p, ms(14), rule, true), Runs(budget(5, 34)));
    }

    #[test]
    fn a14_5_activation_after_the_deadline() {
        let p = params(5, 20, 50);
        assert_eq!(woken(budget(2, 20), p, 30, DlWakeup::CbsRevised), Waits(budget(0, 20)));
        assert_eq!(budget(0, 20).next_period(p), ms(50));
        assert_eq!(woken(budget(2, 20), p, 30, DlWakeup::Cbs), Runs(budget(5, 50)));
        // At its next period it is no longer early.
        assert_eq!(woken(budget(2, 20), p, 50, DlWakeup::CbsRevised), Runs(budget(5, 70)));
    }

    #[test]
    fn a14_6_overshoot() {
        let p = params(10, 100, 100);
        let after = budget(-26, 100).replenished(p, false, ms(100));
        assert_eq!(after, budget(4, 400));
        assert_eq!(after.next_period(p) - p.period(), ms(300));
    }

    /// deadline-groups DA1: by exact arithmetic an early period leaves behind what was left of the bandwidth
    /// up to the deadline. By the kernel's it may leave less, and not much less.
    #[test]
    fn an_early_period_gains_little_by_rounding() {
        let ns = |(runtime, deadline)| {
            DlParams::new(Nanos(runtime), Nanos(deadline), Nanos(deadline)).expect("legal")
        };
        let mut most = 0;
        for p in [(1_024, 100_000), (2_047, 100_000), (3_071, 102_399), (10_000, 100_000), (80_000, 100_000)]
            .map(ns)
        {
            let (q, d) = (p.runtime().0 as i64, p.deadline().0 as i64);
            for (left, laxity) in
                (1..=q).step_by(89).flat_map(|left| (0..d).step_by(97).map(move |l| (left, l)))
            {
                let b = Budget { runtime: left, deadline: Nanos(laxity as u64) };
                if b.overflows(p, Nanos::ZERO) {
                    let gain = laxity * q / d - left;
                    assert!(
                        gain <= early_gain(p).0 as i64,
                        "{p:?}: {left} ns left, {laxity} to the deadline"
                    );
                    most = most.max(gain);
                }
            }
        }
        assert!(most > 900, "{most} ns: the bound is not tight");
    }

    #[test]
    fn a14_11_zero_lag() {
        assert_eq!(budget(6, 100).zero_lag(params(10, 100, 100)), ms(40));
        // What was overrun is worked off behind the deadline.
        assert_eq!(budget(-1, 100).zero_lag(params(10, 100, 100)), ms(110));
    }

    #[test]
    fn a5_yield_forfeits_what_is_left() {
        let p = params(10, 50, 50);
        assert_eq!(budget(7, 50).replenished(p, true, ms(50)), budget(10, 100));
    }

    #[test]
    fn a5_who_lags_too_much_starts_anew() {
        let p = params(10, 100, 100);
        assert_eq!(budget(0, 100).replenished(p, false, ms(950)), budget(10, 1_050));
    }
}
