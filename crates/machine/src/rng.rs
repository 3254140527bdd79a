//! Seeded streams of random numbers.
//!
//! Our own, because a run must give the same bytes in ten years and on any machine: no float, no library
//! whose next version draws differently. The generator is xoshiro256++ seeded through SplitMix64 (Blackman
//! and Vigna, 2018, public domain algorithms); a snapshot test pins the stream.
//!
//! Each user of randomness has its own stream, keyed by seed, purpose and number, so that a switched feature
//! does not shift the dice of the others.

use crate::fixed::{LN_2_Q32, NEARLY, log2_q32, nearly_log2_q32};
use scheduler::{Nanos, Pid};

/// What a stream is for; part of its key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// A task's program; numbered by the task's place in the work: which task of the setup, which of its
    /// forks.
    Task,
    /// Interrupt and timer noise of a CPU; numbered by CPU.
    CpuNoise,
    /// A load's own layout (offsets, durations drawn while building it); numbered by load.
    Load,
    /// Start of a machine's background kernel threads; numbered in the order of the machine file.
    Kthread,
    /// The way from a wakeup to the woken task; numbered by the task's place in the work and the wakeup.
    WakePath,
    /// Decisions of the scheduler that the kernel throws dice for; numbered by CPU.
    Scheduler,
    /// Where in the kernel a task makes room; numbered by the task's place in the work and the request.
    Stretch,
    /// When the first period of a task group's limit begins; numbered by group.
    Group,
    /// How long a program takes to start a thread; numbered by the task's place in the setup.
    ThreadStart,
    /// When the timers of soft interrupts expire; numbered by timer.
    Softirq,
    /// How long CPUs take to leave their idle states; numbered by CPU.
    IdleExit,
}

/// The number of a task's stream: the task's place in the work, whatever the order in which things happen. So
/// the same load does the same work under every kernel, and a comparison is paired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TaskStream(u64);

impl TaskStream {
    /// Of a task that was there before anything happened: its pid says which one it is.
    pub fn of_first(pid: Pid) -> TaskStream {
        TaskStream(pid.0 as u64)
    }

    /// Of the task's `nth` child, counted from 1.
    pub fn of_child(self, nth: u64) -> TaskStream {
        let mut key = self.0 ^ nth.wrapping_mul(0xd6e8_feb8_6659_fd93);
        TaskStream(splitmix(&mut key))
    }
}

/// One stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// The stream of `purpose` and `number` under `seed`.
    pub fn keyed(seed: u64, purpose: Purpose, number: u64) -> Rng {
        let mut key = seed ^ (purpose as u64 + 1).wrapping_mul(0xa076_1d64_78bd_642f);
        key = splitmix(&mut key) ^ number.wrapping_mul(0xe703_7ed1_a0b4_28db);
        Rng { state: std::array::from_fn(|_| splitmix(&mut key)) }
    }

    /// The stream of a task's program.
    pub(crate) fn of_task(seed: u64, stream: TaskStream) -> Rng {
        Rng::keyed(seed, Purpose::Task, stream.0)
    }

    /// For the `nth` wakeup of a task.
    pub(crate) fn of_wakeup(seed: u64, stream: TaskStream, nth: u64) -> Rng {
        Rng::keyed(seed, Purpose::WakePath, stream.of_child(nth).0)
    }

    /// For the `nth` time that a task is asked to make room inside the kernel.
    pub(crate) fn of_request(seed: u64, stream: TaskStream, nth: u64) -> Rng {
        Rng::keyed(seed, Purpose::Stretch, stream.of_child(nth).0)
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let out = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// Uniform in `0..bound`; `bound` 0 gives 0. Bias below 2⁻⁶⁴ · bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform in `low..=high`.
    pub fn between(&mut self, low: Nanos, high: Nanos) -> Nanos {
        Nanos(low.0 + self.below(high.0.saturating_sub(low.0).saturating_add(1)))
    }

    /// True `numerator` times out of `denominator`.
    pub fn chance(&mut self, numerator: u64, denominator: u64) -> bool {
        self.below(denominator) < numerator
    }

    /// Exponentially distributed with this mean, at most 44 times it.
    pub fn exponential(&mut self, mean: Nanos) -> Nanos {
        let bits = self.bits() | 1;
        // Where the logarithm is good enough to tell the nanosecond, that is all; else it is taken exactly.
        let nearly = nearly_log2_q32(bits);
        let longest = minus_ln(nearly.saturating_sub(NEARLY), mean);
        if longest == minus_ln((nearly + NEARLY).min(64 << 32), mean) {
            longest
        } else {
            minus_ln(log2_q32(bits), mean)
        }
    }

    /// Normally distributed (sum of twelve uniforms), cut off at zero.
    pub fn normal(&mut self, mean: Nanos, sd: Nanos) -> Nanos {
        let sum: i128 = (0..12).map(|_| i128::from(self.bits() >> 32)).sum();
        let centred = sum - (6 << 32);
        let value = i128::from(mean.0) + ((i128::from(sd.0) * centred) >> 32);
        Nanos(value.max(0) as u64)
    }
}

/// −ln(u) · mean for u = bits / 2⁶⁴, given log2(bits), in 32.32 fixed point: (64 − log2(bits)) · ln 2.
fn minus_ln(log2_q32: u64, mean: Nanos) -> Nanos {
    let minus_ln = ((u128::from((64u64 << 32) - log2_q32) * LN_2_Q32) >> 32) as u64;
    Nanos(((u128::from(mean.0) * u128::from(minus_ln)) >> 32) as u64)
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_different_keys_differ_and_repeat() {
        let draw = |p, n| Rng::keyed(1, p, n).bits();
        assert_eq!(draw(Purpose::Task, 7), draw(Purpose::Task, 7));
        assert_ne!(draw(Purpose::Task, 7), draw(Purpose::Task, 8));
        assert_ne!(draw(Purpose::Task, 7), draw(Purpose::CpuNoise, 7));
    }

    /// The path from the first task tells streams apart: no two of three generations of ten are the same.
    #[test]
    fn each_descendant_has_a_stream_of_its_own() {
        let children = |parents: &[TaskStream]| -> Vec<TaskStream> {
            parents.iter().flat_map(|parent| (1..=10).map(|nth| parent.of_child(nth))).collect()
        };
        let first: Vec<TaskStream> = (1000..1010).map(|pid| TaskStream::of_first(Pid(pid))).collect();
        let second = children(&first);
        let third = children(&second);
        let mut draws: Vec<u64> =
            [first, second, third].concat().iter().map(|s| Rng::of_task(1, *s).bits()).collect();
        draws.sort_unstable();
        draws.dedup();
        assert_eq!(draws.len(), 10 + 100 + 1000);
    }

    /// Whichever way the logarithm was taken.
    #[test]
    fn exponential_is_exact() {
        let mut rng = Rng::keyed(3, Purpose::Load, 2);
        for n in 0..200_000 {
            let mean = Nanos([4_000, 10_000_000, 1_000_000_000, u64::MAX >> 8][n % 4]);
            let bits = rng.clone().bits() | 1;
            assert_eq!(rng.exponential(mean), minus_ln(log2_q32(bits), mean));
        }
    }

    #[test]
    fn exponential_has_its_mean() {
        let mut rng = Rng::keyed(3, Purpose::Load, 0);
        let n = 100_000;
        let sum: u64 = (0..n).map(|_| rng.exponential(Nanos(1_000_000)).0).sum();
        assert!((sum / n).abs_diff(1_000_000) < 15_000, "mean {}", sum / n);
    }

    #[test]
    fn normal_has_its_mean_and_spread() {
        let mut rng = Rng::keyed(3, Purpose::Load, 1);
        let draws: Vec<i64> =
            (0..50_000).map(|_| rng.normal(Nanos(1_000_000), Nanos(100_000)).0 as i64 - 1_000_000).collect();
        let mean = draws.iter().sum::<i64>() / draws.len() as i64;
        let variance = draws.iter().map(|d| d * d).sum::<i64>() / draws.len() as i64;
        assert!(mean.abs() < 2_000 && (variance - 10_000_000_000).abs() < 300_000_000, "{mean} {variance}");
    }
}
