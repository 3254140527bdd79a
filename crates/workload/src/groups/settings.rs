//! What is written into the files of a cgroup, with the rules by which the kernel takes it (deadline-groups
//! B1, B6, B7, B9, B11).

use crate::units;
use machine::{GroupSpec, PartitionKind, QuotaSpec, RtLimitSpec};
use scheduler::{Clamps, CpuMask, FULL_CAPACITY, Nanos, Nice};
use std::ops::RangeInclusive;

/// The files that decide about CPU time and CPUs.
pub const FILES: [&str; 12] = [
    "cpu.max",
    "cpu.max.burst",
    "cpu.weight",
    "cpu.weight.nice",
    "cpu.shares",
    "cpu.idle",
    "cpu.uclamp.min",
    "cpu.uclamp.max",
    "cpu.rt_runtime_us",
    "cpu.rt_period_us",
    "cpuset.cpus",
    "cpuset.cpus.partition",
];

/// What the kernel gives a group by itself.
const DEFAULT_SHARES: u64 = 1024;
const DEFAULT_PERIOD: Nanos = Nanos::from_millis(100);
/// `cpu.weight` of a group with [`DEFAULT_SHARES`].
const DEFAULT_WEIGHT: u64 = 100;

const WEIGHTS: RangeInclusive<u64> = 1..=10_000;
const SHARES: RangeInclusive<u64> = 2..=262_144;
const PERIODS: RangeInclusive<Nanos> = Nanos::from_millis(1)..=Nanos::from_secs(1);
const LEAST_QUOTA: Nanos = Nanos::from_millis(1);
/// In each period, 2^44 us less one (B7 [R]).
const MOST_QUOTA: Nanos = Nanos::from_micros((1 << 44) - 1);

/// The files of a cgroup that decide about CPU time, as they stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupSettings {
    shares: u64,
    idle: bool,
    /// CPU time in each period; `None`: `max`.
    quota: Option<Nanos>,
    period: Nanos,
    burst: Nanos,
    clamps: Clamps,
    rt: RtLimitSpec,
    cpus: Option<CpuMask>,
    partition: PartitionKind,
}

impl Default for GroupSettings {
    fn default() -> GroupSettings {
        GroupSettings {
            shares: DEFAULT_SHARES,
            idle: false,
            quota: None,
            period: DEFAULT_PERIOD,
            burst: Nanos::ZERO,
            clamps: Clamps::NONE,
            rt: RtLimitSpec::default(),
            cpus: None,
            partition: PartitionKind::Member,
        }
    }
}

impl GroupSettings {
    /// Writes a value into a file: `cpu.max:200000/100000`.
    ///
    /// # Errors
    /// No such file, or a value that the kernel does not take; says which it takes.
    pub fn write(&mut self, word: &str) -> Result<(), String> {
        let (file, value) = word.split_once(':').unwrap_or((word, ""));
        match file {
            "cpu.max" => self.write_max(value),
            "cpu.max.burst" => {
                self.burst = time(value).map_err(|problem| format!("{file}: {problem}"))?;
                Ok(())
            }
            "cpu.weight" => {
                let weight = self.weight(file, value, WEIGHTS)?;
                self.shares = shares_of_weight(weight);
                Ok(())
            }
            "cpu.weight.nice" => {
                self.can_be_weighed(file)?;
                let nice = value.parse().ok().and_then(Nice::new);
                self.shares = nice.ok_or_else(|| format!("{file} is -20 to 19, not `{value}`"))?.weight();
                Ok(())
            }
            "cpu.shares" => {
                self.shares = self.weight(file, value, SHARES)?;
                Ok(())
            }
            "cpu.idle" => {
                let idle = match value {
                    "0" => false,
                    "1" => true,
                    _ => return Err(format!("cpu.idle is 0 or 1, not `{value}`")),
                };
                // A group that is no longer idle has the weight that the kernel gives by itself.
                if self.idle && !idle {
                    self.shares = DEFAULT_SHARES;
                }
                self.idle = idle;
                Ok(())
            }
            "cpu.uclamp.min" => {
                self.clamps.min = clamp(file, value)?;
                Ok(())
            }
            "cpu.uclamp.max" => {
                self.clamps.max = clamp(file, value)?;
                Ok(())
            }
            "cpu.rt_runtime_us" => {
                let wrong = |problem| format!("{file}: {problem}; write us such as 100000, or -1");
                self.rt.runtime = if value == "-1" { None } else { Some(time(value).map_err(wrong)?) };
                Ok(())
            }
            "cpu.rt_period_us" => {
                let period = time(value).map_err(|problem| format!("{file}: {problem}"))?;
                if period == Nanos::ZERO {
                    return Err(format!("{file} is above 0 (EINVAL)"));
                }
                self.rt.period = Some(period);
                Ok(())
            }
            "cpuset.cpus" => {
                self.cpus = match value {
                    "" => None,
                    _ => Some(units::cpu_list(value).map_err(|problem| format!("{file}: {problem}"))?),
                };
                Ok(())
            }
            "cpuset.cpus.partition" => {
                self.partition = match value {
                    "member" => PartitionKind::Member,
                    "root" => PartitionKind::Root,
                    "isolated" => PartitionKind::Isolated,
                    _ => return Err(format!("{file} is member, root or isolated, not `{value}` (EINVAL)")),
                };
                Ok(())
            }
            _ => Err(format!("a group has no file `{file}`; write one of {}", FILES.join(", "))),
        }
    }

    fn weight(&self, file: &str, value: &str, range: RangeInclusive<u64>) -> Result<u64, String> {
        self.can_be_weighed(file)?;
        let weight = value.parse().ok().filter(|weight| range.contains(weight));
        weight.ok_or_else(|| format!("{file} is {} to {}, not `{value}`", range.start(), range.end()))
    }

    fn can_be_weighed(&self, file: &str) -> Result<(), String> {
        if !self.idle {
            return Ok(());
        }
        Err(format!("{file} of a group with cpu.idle:1 cannot be written (EINVAL); write cpu.idle:0 first"))
    }

    fn write_max(&mut self, value: &str) -> Result<(), String> {
        let (quota, period) = value.split_once(['/', ' ']).map_or((value, None), |(q, p)| (q, Some(p)));
        let wrong = |problem: String| {
            format!("cpu.max: {problem}; write QUOTA/PERIOD in us, such as 200000/100000, or max")
        };
        if let Some(period) = period {
            let period = time(period).map_err(&wrong)?;
            if !PERIODS.contains(&period) {
                return Err(wrong("a period is 1 ms to 1 s (EINVAL)".to_owned()));
            }
            self.period = period;
        }
        self.quota = match quota {
            "max" => None,
            _ => Some(time(quota).map_err(&wrong)?),
        };
        match self.quota {
            Some(quota) if quota < LEAST_QUOTA => {
                Err(wrong("a quota is at least 1 ms of CPU time in a period (EINVAL)".to_owned()))
            }
            Some(quota) if quota > MOST_QUOTA => {
                Err(wrong(format!("a quota is at most {} us (EINVAL)", MOST_QUOTA.0 / 1_000)))
            }
            _ => Ok(()),
        }
    }

    /// Whether all of it goes together.
    ///
    /// # Errors
    /// A burst above the quota.
    pub fn check(&self) -> Result<(), String> {
        match self.quota {
            Some(quota) if self.burst > quota => Err(format!(
                "cpu.max.burst:{} is more than the quota of cpu.max, {} us (EINVAL); lower one or raise the \
                 other",
                self.burst.0 / 1_000,
                quota.0 / 1_000
            )),
            _ => Ok(()),
        }
    }

    /// Whether it has a limit.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        self.quota.is_some()
    }

    /// Whether it may save what it has not used.
    #[must_use]
    pub fn has_burst(&self) -> bool {
        self.burst > Nanos::ZERO
    }

    /// Whether it clamps the utilisation of its tasks.
    #[must_use]
    pub fn is_clamped(&self) -> bool {
        self.clamps != Clamps::NONE
    }

    /// Whether it says how much its real-time tasks may use.
    #[must_use]
    pub fn has_rt_limit(&self) -> bool {
        self.rt != RtLimitSpec::default()
    }

    /// What it is to the sched domains.
    #[must_use]
    pub fn partition(&self) -> PartitionKind {
        self.partition
    }

    /// The CPUs on which its tasks run and nowhere else, if it says which.
    #[must_use]
    pub fn cpus(&self) -> Option<CpuMask> {
        self.cpus
    }

    /// Whether everybody else goes before it.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.idle
    }

    /// A group with these files, at the top.
    #[must_use]
    pub fn spec(&self, path: &str) -> GroupSpec {
        let GroupSettings { shares, idle, quota, period, burst, clamps, rt, cpus, partition } = *self;
        let quota = quota.map(|quota| QuotaSpec { quota, period, burst });
        GroupSpec { shares, idle, quota, clamps, rt: Some(rt), cpus, partition, ..GroupSpec::new(path) }
    }
}

/// Microseconds, as in the files; other units may be written behind a number.
fn time(text: &str) -> Result<Nanos, String> {
    units::duration(text, Nanos::from_micros(1)).map_err(|problem| format!("`{text}`: {problem}"))
}

/// A clamp of utilisation: a percentage with up to two decimals, or `max`; in 1024ths, rounded to the nearest
/// (deadline-groups B11).
fn clamp(file: &str, value: &str) -> Result<u16, String> {
    const HUNDREDTHS: u64 = 100 * 100;
    if value == "max" {
        return Ok(Clamps::NONE.max);
    }
    let wrong = || format!("{file} is 0 to 100 percent with up to two decimals, or max, not `{value}`");
    let (whole, decimals) = value.split_once('.').unwrap_or((value, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || decimals.len() > 2 || !is_number(whole) || !is_number(decimals) {
        return Err(wrong());
    }
    let hundredths = format!("{whole}{decimals:0<2}").parse::<u64>().map_err(|_| wrong())?;
    if hundredths > HUNDREDTHS {
        return Err(wrong());
    }
    Ok(((hundredths * FULL_CAPACITY + HUNDREDTHS / 2) / HUNDREDTHS) as u16)
}

/// A clamp in 1024ths as its file takes it: [`clamp`] makes the same of it again.
pub(crate) fn percent_of_clamp(clamp: u16) -> String {
    let hundredths = (u64::from(clamp) * 10_000 + FULL_CAPACITY / 2) / FULL_CAPACITY;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// What a `cpu.weight` weighs (deadline-groups B1).
fn shares_of_weight(weight: u64) -> u64 {
    (weight * DEFAULT_SHARES + DEFAULT_WEIGHT / 2) / DEFAULT_WEIGHT
}

/// The `cpu.weight` that shows for a group of these shares (deadline-groups B1).
#[must_use]
pub fn weight_of_shares(shares: u64) -> u64 {
    let weight = (shares * DEFAULT_WEIGHT + DEFAULT_SHARES / 2) / DEFAULT_SHARES;
    weight.clamp(*WEIGHTS.start(), *WEIGHTS.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(words: &[&str]) -> Result<GroupSpec, String> {
        let mut settings = GroupSettings::default();
        words.iter().try_for_each(|word| settings.write(word))?;
        settings.check()?;
        Ok(settings.spec("web"))
    }

    fn shares(word: &str) -> u64 {
        written(&[word]).expect("legal").shares
    }

    /// The table of deadline-groups B1.
    #[test]
    fn weights_are_mapped_as_the_kernel_does() {
        let rows = [
            (1, 10),
            (2, 20),
            (10, 102),
            (50, 512),
            (100, 1024),
            (150, 1536),
            (200, 2048),
            (1000, 10_240),
            (10_000, 102_400),
        ];
        for (weight, expected) in rows {
            assert_eq!(shares(&format!("cpu.weight:{weight}")), expected, "{weight}");
        }
        assert_eq!((weight_of_shares(2), weight_of_shares(262_144)), (1, 10_000));
        for weight in WEIGHTS {
            assert_eq!(weight_of_shares(shares_of_weight(weight)), weight, "it survives the round trip");
        }
        for (nice, weight) in [(-20, 8668), (-10, 932), (-5, 305), (5, 33), (10, 11), (19, 1)] {
            assert_eq!(weight_of_shares(shares(&format!("cpu.weight.nice:{nice}"))), weight, "{nice}");
        }
        assert_eq!(shares("cpu.weight.nice:0"), 1024);
        assert_eq!(shares("cpu.shares:512"), 512);
    }

    #[test]
    fn a_limit_has_the_usual_period_unless_it_says_another() {
        let quota = |words: &[&str]| written(words).expect("legal").quota;
        let of = |quota, period, burst| {
            let [quota, period, burst] = [quota, period, burst].map(Nanos::from_millis);
            Some(QuotaSpec { quota, period, burst })
        };
        assert_eq!(quota(&[]), None);
        assert_eq!(quota(&["cpu.max:200000/100000"]), of(200, 100, 0));
        assert_eq!(quota(&["cpu.max:20000 50000"]), of(20, 50, 0), "as the file itself has it");
        assert_eq!(quota(&["cpu.max:20000"]), of(20, 100, 0));
        assert_eq!(quota(&["cpu.max:200ms/50ms", "cpu.max.burst:100ms"]), of(200, 50, 100));
        assert_eq!(quota(&["cpu.max:20000/50000", "cpu.max:30000"]), of(30, 50, 0), "the period stays");
        assert_eq!(quota(&["cpu.max:20000", "cpu.max:max"]), None);
    }

    /// deadline-groups B11: 25.5 % of 1024 are 261.12, 0.05 % are 0.51.
    #[test]
    fn clamps_are_percentages() {
        let clamps = |words: &[&str]| written(words).map(|spec| (spec.clamps.min, spec.clamps.max));
        assert_eq!(clamps(&[]), Ok((0, 1024)));
        assert_eq!(clamps(&["cpu.uclamp.min:25.5", "cpu.uclamp.max:50"]), Ok((261, 512)));
        assert_eq!(clamps(&["cpu.uclamp.min:0.05", "cpu.uclamp.max:100.00"]), Ok((1, 1024)));
        assert_eq!(clamps(&["cpu.uclamp.min:max", "cpu.uclamp.max:0.4"]), Ok((1024, 4)));
        for wrong in ["", "101", "100.01", "1.234", "-1", "1e1", ".5", "half"] {
            let error = clamps(&[&format!("cpu.uclamp.max:{wrong}")]).expect_err("refused");
            assert!(error.contains("cpu.uclamp.max is 0 to 100 percent"), "{wrong}: {error}");
        }
    }

    #[test]
    fn a_clamp_comes_back_from_its_percentage() {
        for clamp in 0..=1024 {
            assert_eq!(super::clamp("cpu.uclamp.min", &percent_of_clamp(clamp)), Ok(clamp));
        }
    }

    /// deadline-groups B9: nothing, of the period of the root, as the kernel makes a group.
    #[test]
    fn real_time_tasks_have_a_limit_of_their_own() {
        let rt = |words: &[&str]| written(words).expect("legal").rt.expect("no session");
        let of = |runtime: Option<u64>, period: Option<u64>| RtLimitSpec {
            runtime: runtime.map(Nanos::from_millis),
            period: period.map(Nanos::from_millis),
        };
        assert_eq!(rt(&[]), of(Some(0), None));
        assert_eq!(rt(&["cpu.rt_runtime_us:100000"]), of(Some(100), None));
        assert_eq!(rt(&["cpu.rt_runtime_us:10ms", "cpu.rt_period_us:100000"]), of(Some(10), Some(100)));
        assert_eq!(rt(&["cpu.rt_runtime_us:-1"]), of(None, None));
    }

    /// deadline-groups B1, B6 and B7: each EINVAL.
    #[test]
    fn what_the_kernel_refuses_is_refused_with_what_to_write() {
        for (words, problem) in [
            (&["cpu.max:999"][..], "a quota is at least 1 ms of CPU time in a period"),
            (&["cpu.max:1000/999"], "a period is 1 ms to 1 s"),
            (&["cpu.max:1000/1000001"], "a period is 1 ms to 1 s"),
            (&["cpu.max:17592186044416"], "a quota is at most 17592186044415 us (EINVAL)"),
            (&["cpu.max:many"], "write QUOTA/PERIOD in us"),
            (&["cpu.max"], "write QUOTA/PERIOD in us"),
            (&["cpu.max:10000", "cpu.max.burst:10001"], "is more than the quota of cpu.max, 10000 us"),
            (&["cpu.weight:0"], "cpu.weight is 1 to 10000, not `0`"),
            (&["cpu.weight:10001"], "cpu.weight is 1 to 10000"),
            (&["cpu.weight.nice:20"], "cpu.weight.nice is -20 to 19, not `20`"),
            (&["cpu.shares:1"], "cpu.shares is 2 to 262144"),
            (&["cpu.idle:2"], "cpu.idle is 0 or 1"),
            (&["cpu.idle:1", "cpu.weight:5"], "write cpu.idle:0 first"),
            (&["cpu.idle:1", "cpu.shares:5"], "write cpu.idle:0 first"),
            (&["cpu.rt_period_us:0"], "cpu.rt_period_us is above 0"),
            (&["cpu.rt_runtime_us:-2"], "write us such as 100000, or -1"),
            (&["cpu.weigth:5"], "a group has no file `cpu.weigth`"),
        ] {
            let error = written(words).expect_err("refused");
            assert!(error.contains(problem), "{words:?}: {error}");
        }
        assert!(written(&["cpu.max:17592186044415"]).is_ok());
        assert!(written(&["cpu.max:1000/1000", "cpu.max.burst:1000"]).is_ok());
        assert!(written(&["cpu.max.burst:1000", "cpu.max:1000/1000"]).is_ok(), "in whatever order");
    }

    /// deadline-groups B10.
    #[test]
    fn cpus_are_a_list_and_a_partition_is_one_of_three() {
        let spec = written(&["cpuset.cpus:0-1,4", "cpuset.cpus.partition:root"]).expect("legal");
        let cpus = [0, 1, 4].map(scheduler::CpuId).into_iter().collect();
        assert_eq!((spec.cpus, spec.partition), (Some(cpus), PartitionKind::Root));
        assert_eq!(written(&["cpuset.cpus:1", "cpuset.cpus:"]).expect("legal").cpus, None);
        for (word, problem) in [
            ("cpuset.cpus:x", "cpuset.cpus: "),
            ("cpuset.cpus.partition:yes", "is member, root or isolated, not `yes`"),
        ] {
            let error = written(&[word]).expect_err("refused");
            assert!(error.contains(problem), "{error}");
        }
    }

    #[test]
    fn a_group_that_is_no_longer_idle_weighs_what_the_kernel_gives() {
        let spec = written(&["cpu.weight:300", "cpu.idle:1"]).expect("legal");
        assert!(spec.idle);
        let spec = written(&["cpu.weight:300", "cpu.idle:1", "cpu.idle:0"]).expect("legal");
        assert_eq!((spec.idle, spec.shares), (false, 1024));
    }
}
