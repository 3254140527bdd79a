//! How long the processes of a build compute: two builds that are known.

use crate::dist::{Bucket, Dist, DistError};
use scheduler::Nanos;

/// Which build.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(super) enum TimesName {
    /// A Linux kernel on a machine of 2 GHz of 2010 (fair-class 13.1, 13.4).
    Kernel,
    /// Small C files in memory on the native-6.18 machine: the recorded make10-trace.
    Recorded,
}

/// CPU times of the processes of one object.
#[derive(Clone, Debug)]
pub(super) struct BuildTimes {
    /// make's own work for a job.
    pub make: Dist,
    /// The shell of a recipe, with its helpers; none where make starts gcc itself.
    pub shell: Option<ShellTimes>,
    pub gcc: Dist,
    pub cc1: Dist,
    pub assembler: Dist,
}

#[derive(Clone, Debug)]
pub(super) struct ShellTimes {
    pub shell: Dist,
    /// fixdep, mv, rm.
    pub helper: Dist,
}

/// An offset and the mean of what comes on top, microseconds (fair-class 13.4).
const fn exp(offset_us: u64, mean_us: u64) -> Dist {
    Dist::exponential(Nanos::from_micros(offset_us), Nanos::from_micros(mean_us))
}

/// Times of fair-class 13.4; cc1 takes `cc1_mean`, 3/10 of it fixed, the rest exponential.
pub(super) fn kernel(cc1_mean: Nanos) -> BuildTimes {
    BuildTimes {
        // 0.2 to 2 ms (fair-class 13.1).
        make: Dist::up_to_longer(Nanos::from_micros(200), Nanos::from_micros(1_800)),
        shell: Some(ShellTimes { shell: exp(300, 1_500), helper: exp(400, 1_000) }),
        gcc: exp(400, 1_500),
        cc1: Dist::exponential(Nanos(cc1_mean.0 / 10 * 3), Nanos(cc1_mean.0 / 10 * 7)),
        assembler: exp(0, 15_000),
    }
}

/// Lowest, each tenth and highest CPU time in microseconds from exec to exit in make10-trace (gcc 112
/// processes, cc1 111, as 103). What the machine charges for the end of an exec and for the exit (300 µs; gcc
/// 500 with its two forks) is taken off.
const GCC_US: [u64; 11] = [807, 997, 1_120, 1_211, 1_269, 1_306, 1_327, 1_370, 1_411, 1_467, 2_345];
const CC1_US: [u64; 11] =
    [8_374, 60_742, 96_755, 109_405, 119_997, 129_838, 148_743, 162_549, 179_903, 195_830, 288_149];
const AS_US: [u64; 11] = [702, 2_612, 2_851, 2_995, 3_076, 3_177, 3_276, 3_417, 3_590, 3_883, 4_689];
/// make's 38.4 ms for 112 jobs, less a fork of 85 µs each.
const MAKE_US: u64 = 250;

/// Times of the recorded build; with `cc1_mean` its compiler's times are stretched to that mean.
pub(super) fn recorded(cc1_mean: Option<Nanos>) -> Result<BuildTimes, DistError> {
    let own_mean = mean_ns(&CC1_US);
    let stretched = |us: u64| match cc1_mean {
        Some(mean) => Nanos((u128::from(us) * 1_000 * u128::from(mean.0) / u128::from(own_mean)) as u64),
        None => Nanos::from_micros(us),
    };
    Ok(BuildTimes {
        make: Nanos::from_micros(MAKE_US).into(),
        shell: None,
        gcc: tenths(&GCC_US, Nanos::from_micros)?,
        cc1: tenths(&CC1_US, stretched)?,
        assembler: tenths(&AS_US, Nanos::from_micros)?,
    })
}

fn tenths(bounds_us: &[u64; 11], time: impl Fn(u64) -> Nanos) -> Result<Dist, DistError> {
    let buckets: Vec<Bucket> = bounds_us
        .windows(2)
        .map(|pair| Bucket { low: time(pair[0]), high: time(pair[1]), count: 1 })
        .collect();
    Dist::histogram(&buckets)
}

/// Of the distribution that is uniform within each tenth.
fn mean_ns(bounds_us: &[u64; 11]) -> u64 {
    let ends = (bounds_us[0] + bounds_us[10]) / 2;
    (bounds_us[1..10].iter().sum::<u64>() + ends) * 1_000 / 10
}
