//! What disturbs tasks on a real machine: late timers, interrupts held off, background kernel threads.

use crate::fixed::{LN_2_Q32, exp_neg_q32, log2_q32};
use crate::rng::Rng;
use scheduler::{Nanos, Nice, Policy};
use std::fmt;

/// A distribution of durations in a machine file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spread {
    /// Always the same.
    Constant(Nanos),
    /// Uniform in `min..=max`.
    Uniform {
        /// Shortest.
        min: Nanos,
        /// Longest.
        max: Nanos,
    },
    /// `min` plus an exponentially distributed span of this mean.
    Exponential {
        /// Shortest.
        min: Nanos,
        /// Mean of what is added to it.
        mean: Nanos,
    },
    /// The same, and what would be longer than `max` is as long as that (machine.md 6.6).
    CutExponential {
        /// Shortest.
        min: Nanos,
        /// Mean of what is added to it, if there were no cut.
        mean: Nanos,
        /// Longest.
        max: Nanos,
    },
    /// Pareto: longer than x is a share of (min / x) to the power of the slope, and what would be longer than
    /// `max` is as long as that (machine.md 6.6, hosts with heavy tails).
    Pareto {
        /// Shortest.
        min: Nanos,
        /// The power, in percent: with 100 half are longer than twice `min`, with 200 a quarter.
        slope_percent: u32,
        /// Longest.
        max: Nanos,
    },
}

impl Spread {
    /// The next duration. A constant draws nothing from `rng`.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> Nanos {
        match *self {
            Spread::Constant(duration) => duration,
            Spread::Uniform { min, max } => rng.between(min, max),
            Spread::Exponential { min, mean } => min + rng.exponential(mean),
            Spread::CutExponential { min, mean, max } => (min + rng.exponential(mean)).min(max),
            Spread::Pareto { min, slope_percent, max } => {
                // The logarithm of what exceeds the least is exponential, of mean 1 / slope.
                let logarithm = rng.exponential(Nanos((100 << 32) / u64::from(slope_percent.max(1))));
                let share = exp_neg_q32(logarithm.0, 1 << 32);
                let drawn = (u128::from(min.0) << 32).checked_div(share.into());
                drawn.and_then(|ns| u64::try_from(ns).ok()).map_or(max, |ns| Nanos(ns).min(max))
            }
        }
    }

    /// The shortest.
    pub fn min(&self) -> Nanos {
        match *self {
            Spread::Constant(duration) => duration,
            Spread::Uniform { min, .. }
            | Spread::Exponential { min, .. }
            | Spread::CutExponential { min, .. }
            | Spread::Pareto { min, .. } => min,
        }
    }

    /// The mean; of a cut distribution that without the cut, or the longest where that is less.
    pub fn mean(&self) -> Nanos {
        match *self {
            Spread::Constant(duration) => duration,
            Spread::Uniform { min, max } => Nanos((min.0 + max.0) / 2),
            Spread::Exponential { min, mean } => min + mean,
            Spread::CutExponential { min, mean, max } => (min + mean).min(max),
            Spread::Pareto { min, slope_percent, max } => mean_of_pareto(min, slope_percent, max),
        }
    }
}

/// min + the integral of (min / x) to the power of the slope from min to max.
fn mean_of_pareto(min: Nanos, slope_percent: u32, max: Nanos) -> Nanos {
    const ONE: u128 = 1 << 32;
    let (least, slope) = (u128::from(min.0), u128::from(slope_percent));
    let doublings = log2_q32(max.0.max(1)) - log2_q32(min.0.clamp(1, max.0.max(1)));
    let logarithm = (u128::from(doublings) * LN_2_Q32) >> 32;
    // (min / max) to the power of what the slope is off 1.
    let power = u64::try_from(logarithm * slope.abs_diff(100) / 100).unwrap_or(u64::MAX);
    let power = u128::from(exp_neg_q32(power, 1 << 32)).max(1);
    let mean = match slope {
        100 => least + ((least * logarithm) >> 32),
        101.. => least * (slope * ONE - 100 * power) / ((slope - 100) * ONE),
        _ => least * (100 * (ONE * ONE / power) - slope * ONE) / ((100 - slope) * ONE),
    };
    u64::try_from(mean).map_or(max, |ns| Nanos(ns).min(max))
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Spread::Constant(duration) => write!(f, "{} ns", duration.0),
            Spread::Uniform { min, max } => write!(f, "{} to {} ns", min.0, max.0),
            Spread::Exponential { min: Nanos::ZERO, mean } => {
                write!(f, "{} ns on average (exponential)", mean.0)
            }
            Spread::Exponential { min, mean } => {
                write!(f, "{} ns + {} ns on average (exponential)", min.0, mean.0)
            }
            Spread::CutExponential { min, mean, max } => {
                write!(f, "{}, {} ns at most", Spread::Exponential { min, mean }, max.0)
            }
            Spread::Pareto { min, slope_percent, max } => {
                let (whole, part) = (slope_percent / 100, slope_percent % 100);
                write!(f, "{} to {} ns (Pareto, slope {whole}.{part:02})", min.0, max.0)
            }
        }
    }
}

/// Disturbances of a machine, each drawn from the streams of the CPUs ([`crate::Purpose::CpuNoise`]).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Noise {
    /// How much later than programmed the interrupt of a task's timer arrives (not the tick's).
    pub timer_jitter: Option<Spread>,
    /// How long the interrupt of a task's timer is under way to a CPU that executes tasks or idles
    /// (machine.md 5.1). One that serves an interrupt takes it along, and so does whatever else interrupts
    /// the CPU before it arrives: in a virtual machine it is the way out of the guest that takes so long.
    /// In place of [`Noise::timer_jitter`], which makes each timer late by itself.
    pub timer_delivery: Option<Spread>,
    /// How much later than the one before a thread of a program starts that creates them one by one
    /// (machine.md 5.7), and the first one later than the program. `None`: all at once.
    pub thread_start: Option<Spread>,
    /// How much later a busy-wait on the clock ends ([`crate::Step::SpinUntil`]): coarse clocks, tracing.
    pub spin_overshoot: Option<Spread>,
    /// Stretches in which a CPU takes no interrupt, several sources side by side.
    pub irq_off: Vec<IrqOff>,
    /// Kernel threads of the background.
    pub kthreads: Vec<KthreadNoise>,
}

impl Noise {
    /// How much later than programmed a task's timer interrupts a CPU that does nothing else, however the
    /// machine says it.
    pub fn timer_lateness(&self) -> Option<Spread> {
        self.timer_jitter.or(self.timer_delivery)
    }
}

/// A source of stretches with interrupts held off (interrupt handlers, drivers, the hypervisor), in which the
/// CPU also makes no progress. They arrive independently of each other (exponential gaps), on every CPU
/// alike.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IrqOff {
    /// What causes them.
    pub what: String,
    /// How many a minute on each CPU.
    pub per_minute_per_cpu: u32,
    /// How long one lasts.
    pub length: Spread,
    /// It is the handler of a device's interrupt: where those are threads (`irq_threads=forced`), only the
    /// first 0.5 us of it keep interrupts off.
    pub device: bool,
}

impl IrqOff {
    /// More a minute on each CPU no machine file says.
    pub const MOST_PER_MINUTE: u32 = 6_000_000;
}

/// A kernel thread of the background.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KthreadNoise {
    /// Its command name; a thread per CPU has `/CPU` added.
    pub comm: String,
    /// Its policy and priority.
    pub policy: Policy,
    /// Its nice value.
    pub nice: Nice,
    /// One thread on each CPU, pinned there; otherwise one for the machine, free to move.
    pub per_cpu: bool,
    /// When it wakes.
    pub woken: Woken,
    /// CPU time it takes at each wakeup.
    pub run: Spread,
}

/// When a kernel thread wakes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Woken {
    /// By a timer of its own: so long from one wakeup to the next. The first comes at a random moment of the
    /// first period.
    Every(Spread),
    /// By something else, in so many percent of the cases (1 to 100). Of a thread per CPU, the one wakes on
    /// whose CPU that happened. A thread that is already to run is not woken again.
    By {
        /// By what.
        event: WakeEvent,
        /// How often.
        percent: u32,
    },
}

/// What can wake a kernel thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WakeEvent {
    /// The scheduler's tick.
    Tick,
    /// The end of a stretch with interrupts off: an interrupt handler wakes its thread. By place in
    /// [`Noise::irq_off`].
    IrqOff(usize),
    /// Another kernel thread has done its work. By place in [`Noise::kthreads`].
    Kthread(usize),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    /// machine.md 6.6: the share beyond the cut, e to the minus 2.25 = 10.5 % of them, is as long as the cut.
    #[test]
    fn a_cut_distribution_has_its_cut_in_place_of_its_tail() {
        let cut = Spread::CutExponential { min: Nanos(1_000), mean: Nanos(4_000), max: Nanos(10_000) };
        let mut rng = Rng::keyed(3, Purpose::Load, 0);
        let draws: Vec<u64> = (0..100_000).map(|_| cut.draw(&mut rng).0).collect();
        assert!(draws.iter().all(|draw| (1_000..=10_000).contains(draw)));
        let at_the_cut = draws.iter().filter(|draw| **draw == 10_000).count();
        assert!((10_200..10_900).contains(&at_the_cut), "{at_the_cut} of 100,000");
        let plain = Spread::Exponential { min: Nanos(1_000), mean: Nanos(4_000) };
        let mut again = Rng::keyed(3, Purpose::Load, 0);
        assert!(draws.iter().all(|draw| *draw == plain.draw(&mut again).0.min(10_000)));
    }

    /// Of a Pareto distribution of slope 1.5 a share of 2 to the minus 1.5 = 35.4 % exceeds twice the least,
    /// 3.16 % ten times, 0.1 % a hundred times, which is the cut; its mean is 1 + 2 * (1 - 0.1) times the
    /// least.
    #[test]
    fn a_pareto_distribution_has_its_shares_and_its_mean() {
        let (min, max) = (Nanos(100_000), Nanos(10_000_000));
        let pareto = Spread::Pareto { min, slope_percent: 150, max };
        let mut rng = Rng::keyed(3, Purpose::Load, 0);
        let draws: Vec<u64> = (0..200_000).map(|_| pareto.draw(&mut rng).0).collect();
        assert!(draws.iter().all(|draw| (min.0..=max.0).contains(draw)));
        let beyond = |times: u64| draws.iter().filter(|draw| **draw >= times * min.0).count();
        for (times, expected, off) in [(2, 70_711, 1_000), (10, 6_325, 300), (100, 200, 60)] {
            assert!(beyond(times).abs_diff(expected) < off, "{times}: {}", beyond(times));
        }
        assert!(pareto.mean().0.abs_diff(280_000) < 100, "{:?}", pareto.mean());
        let drawn = draws.iter().sum::<u64>() / 200_000;
        assert!(drawn.abs_diff(280_000) < 3_000, "{drawn}");
    }

    /// Slope 1: the least times 1 + ln 100 = 5.605; slope 0.5: times 1 + 2 * (10 - 1) / 1 = 19.
    #[test]
    fn means_of_heavier_tails() {
        let mean = |slope_percent| {
            Spread::Pareto { min: Nanos(10_000), slope_percent, max: Nanos(1_000_000) }.mean().0
        };
        assert!(mean(100).abs_diff(56_052) < 20, "{}", mean(100));
        assert!(mean(50).abs_diff(190_000) < 60, "{}", mean(50));
    }
}
