//! What a deadline task asks for, and what the kernel makes of it (deadline-groups A2).
//!
//! Every [`DlParams`] is one that the kernel takes: the checks stand in the constructor. Nanoseconds in 32
//! bits hold the longest legal period.

use crate::Nanos;
use core::fmt;

/// Fixed point of bandwidths: 1.0 is 2^20 (deadline-groups 0.4).
pub(crate) const BW_SHIFT: u32 = 20;

/// The shortest run time.
const RUNTIME_MIN: Nanos = Nanos(1 << 10);
/// sched_deadline_period_min_us and _max_us. Kernels before 5.4 knew no such limits; here they have them,
/// too.
const PERIOD_MIN: Nanos = Nanos::from_micros(100);
const PERIOD_MAX: Nanos = Nanos::from_micros(1 << 22);

/// Run time, relative deadline and period of SCHED_DEADLINE, all legal: run time ≤ deadline ≤ period.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DlParams {
    runtime_ns: u32,
    deadline_ns: u32,
    period_ns: u32,
    reclaim: bool,
}

/// Why parameters are refused (deadline-groups A2): the kernel says EINVAL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DlParamsError {
    /// No deadline.
    NoDeadline,
    /// This run time is below 1024 ns.
    ShortRuntime(Nanos),
    /// Run time, deadline and period are not in this order.
    Order {
        /// The run time.
        runtime: Nanos,
        /// The deadline.
        deadline: Nanos,
        /// The period.
        period: Nanos,
    },
    /// This period is not between 100 µs and 4.194304 s.
    Period(Nanos),
}

impl fmt::Display for DlParamsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DlParamsError::NoDeadline => f.write_str("a deadline task needs a deadline above zero"),
            DlParamsError::ShortRuntime(runtime) => {
                write!(f, "a run time of {} ns is below the kernel's least, 1024 ns", runtime.0)
            }
            DlParamsError::Order { runtime, deadline, period } => write!(
                f,
                "run time {} ns, deadline {} ns and period {} ns have to be in this order, none above the \
                 next",
                runtime.0, deadline.0, period.0
            ),
            DlParamsError::Period(period) => {
                write!(f, "a period of {} ns is outside the kernel's limits, 100 us to 4194304 us", period.0)
            }
        }
    }
}

impl core::error::Error for DlParamsError {}

impl DlParams {
    /// Those of the fair servers: 50 ms in each second (deadline-groups A11).
    pub(super) const FAIR_SERVER: DlParams = DlParams {
        runtime_ns: 50_000_000,
        deadline_ns: 1_000_000_000,
        period_ns: 1_000_000_000,
        reclaim: false,
    };

    /// Parameters as sched_setattr takes them; a period of zero means that of the deadline.
    ///
    /// # Errors
    /// What checks 3 to 7 of deadline-groups A2 refuse, in their order.
    pub const fn new(runtime: Nanos, deadline: Nanos, period: Nanos) -> Result<DlParams, DlParamsError> {
        if deadline.0 == 0 {
            return Err(DlParamsError::NoDeadline);
        }
        if runtime.0 < RUNTIME_MIN.0 {
            return Err(DlParamsError::ShortRuntime(runtime));
        }
        let period = if period.0 == 0 { deadline } else { period };
        if runtime.0 > deadline.0 || deadline.0 > period.0 {
            return Err(DlParamsError::Order { runtime, deadline, period });
        }
        if period.0 < PERIOD_MIN.0 || period.0 > PERIOD_MAX.0 {
            return Err(DlParamsError::Period(period));
        }
        Ok(DlParams {
            runtime_ns: runtime.0 as u32,
            deadline_ns: deadline.0 as u32,
            period_ns: period.0 as u32,
            reclaim: false,
        })
    }

    /// The same with SCHED_FLAG_RECLAIM: it uses what others leave (deadline-groups A7).
    pub const fn reclaiming(self) -> DlParams {
        DlParams { reclaim: true, ..self }
    }

    /// Run time in each period.
    pub const fn runtime(self) -> Nanos {
        Nanos(self.runtime_ns as u64)
    }

    /// From the beginning of a period to its deadline.
    pub const fn deadline(self) -> Nanos {
        Nanos(self.deadline_ns as u64)
    }

    /// The period.
    pub const fn period(self) -> Nanos {
        Nanos(self.period_ns as u64)
    }

    /// Whether it reclaims.
    pub const fn reclaims(self) -> bool {
        self.reclaim
    }

    /// Whether the deadline lies before the end of the period.
    pub const fn is_constrained(self) -> bool {
        self.deadline_ns < self.period_ns
    }

    /// dl_bw: the share of a CPU, in 2^20ths.
    pub const fn bw(self) -> u64 {
        ratio(self.period(), self.runtime())
    }

    /// dl_density: the share up to the deadline, in 2^20ths.
    pub const fn density(self) -> u64 {
        ratio(self.deadline(), self.runtime())
    }
}

/// Run time in the form that chrt shows: R/D/P in nanoseconds.
impl fmt::Display for DlParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{} ns", self.runtime_ns, self.deadline_ns, self.period_ns)
    }
}

/// How much of `period` is `runtime`, in 2^20ths, rounded down (deadline-groups A3).
pub const fn ratio(period: Nanos, runtime: Nanos) -> u64 {
    match (runtime.0 << BW_SHIFT).checked_div(period.0) {
        Some(ratio) => ratio,
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(runtime: u64, deadline: u64, period: u64) -> Result<DlParams, DlParamsError> {
        DlParams::new(Nanos(runtime), Nanos(deadline), Nanos(period))
    }

    #[test]
    fn a14_1_ratios() {
        let s = Nanos::from_secs(1);
        let ms = Nanos::from_millis;
        assert_eq!(ratio(s, ms(950)), 996_147);
        assert_eq!(ratio(ms(100), ms(30)), 314_572);
        assert_eq!(ratio(ms(100), ms(10)), 104_857);
        assert_eq!(ratio(ms(1000), ms(50)), 52_428);
    }

    /// The rows of deadline-groups A2 that a real kernel confirmed, at their limits.
    #[test]
    fn a2_checks_3_to_7() {
        use DlParamsError::{NoDeadline, Order, Period, ShortRuntime};
        assert_eq!(ns(10_000, 0, 0), Err(NoDeadline));
        assert_eq!(ns(0, 0, 100_000), Err(NoDeadline));
        assert_eq!(ns(1_023, 200_000, 200_000), Err(ShortRuntime(Nanos(1_023))));
        assert!(ns(1_024, 200_000, 200_000).is_ok());
        assert!(matches!(ns(300_000, 200_000, 400_000), Err(Order { .. })));
        assert!(matches!(ns(100_000, 400_000, 300_000), Err(Order { .. })));
        assert_eq!(ns(10_000, 99_000, 0), Err(Period(Nanos(99_000))));
        assert!(ns(10_000, 100_000, 100_000).is_ok());
        assert!(ns(10_000, 100_000, 4_194_304_000).is_ok());
        assert_eq!(ns(10_000, 100_000, 4_194_305_000), Err(Period(Nanos(4_194_305_000))));
        assert_eq!(ns(2_000, 1 << 63, 0), Err(Period(Nanos(1 << 63))));
    }

    #[test]
    fn no_period_is_that_of_the_deadline() {
        assert_eq!(ns(10_000, 200_000, 0).map(DlParams::period), Ok(Nanos(200_000)));
        assert_eq!(ns(10_000, 200_000, 0).map(DlParams::is_constrained), Ok(false));
    }
}
