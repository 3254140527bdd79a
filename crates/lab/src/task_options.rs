//! What options say about single tasks: `TASK=...`, where TASK is a name, a pattern of names, or a recorded
//! id.

use crate::error::Error;
use crate::loads::LoadSpec;
use machine::policy_text;
use scheduler::{CpuMask, Nice, Policy, RtPriority};
use workload::replay::{Changed, KnownAffinity, Override, Replay, TaskSelector, Waits, WorkFactor};
use workload::units;

/// Changes of tasks, in the order given.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TaskOptions {
    /// CPUs that tasks may use.
    pub affinities: Vec<KnownAffinity>,
    /// Everything else.
    pub overrides: Vec<Override>,
}

impl TaskOptions {
    /// Reads one of them by the name of its option: `policy`, `nice`, `affinity`, `scale`, `outside`,
    /// `until-end`, `until-done`, `without`. `None` for another name.
    pub(crate) fn word(&mut self, option: &str, value: &str) -> Option<Result<(), String>> {
        let read = match option {
            "affinity" => affinity(value).map(|known| self.affinities.push(known)),
            "policy" => policy(value).map(|change| self.overrides.push(change)),
            "nice" => nice(value).map(|change| self.overrides.push(change)),
            "scale" => scale(value).map(|change| self.overrides.push(change)),
            "outside" => outside(value).map(|change| self.overrides.push(change)),
            "until-end" => until_end(value).map(|change| self.overrides.push(change)),
            "until-done" => until_done(value).map(|change| self.overrides.push(change)),
            "without" => without(value).map(|change| self.overrides.push(change)),
            _ => return None,
        };
        Some(read)
    }

    /// Reads what [`TaskOptions::words`] gives: `policy=TASK=fifo:50`.
    ///
    /// # Errors
    /// No such option, or a value that it cannot have.
    pub fn of_words(words: &[String]) -> Result<TaskOptions, Error> {
        let mut options = TaskOptions::default();
        for word in words {
            let (option, value) = word.split_once('=').unwrap_or((word, ""));
            let unknown = || {
                let options = "affinity=, policy=, nice=, scale=, outside=, until-end=, until-done= or \
                               without=";
                Err(format!("write {options} and of which task"))
            };
            let read = options.word(option, value).unwrap_or_else(unknown);
            read.map_err(|problem| Error::Settings { word: word.clone(), problem })?;
        }
        Ok(options)
    }

    /// Each as a word, `policy=TASK=fifo:50`.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let affinity = |KnownAffinity { whom, cpus }: &KnownAffinity| {
            let task = whom.word();
            if *cpus == CpuMask::ALL {
                format!("affinity={task}=all")
            } else {
                format!("affinity={task}={cpus}")
            }
        };
        self.affinities.iter().map(affinity).chain(self.overrides.iter().map(word)).collect()
    }

    /// A replay with these changes on top of its own.
    pub(crate) fn change(&self, replay: Replay) -> Replay {
        replay.with_affinities(self.affinities.clone()).with_overrides(&self.overrides)
    }

    /// Makes sure that everybody who is meant is there.
    ///
    /// # Errors
    /// A task that none of the loads has.
    pub fn check(&self, loads: &[LoadSpec]) -> Result<(), Error> {
        let affinities = self.affinities.iter().map(|known| &known.whom);
        let mut all = affinities.chain(self.overrides.iter().map(|change| &change.whom));
        let nobodys = |whom: &&TaskSelector| !loads.iter().any(|load| load.has_task(whom));
        all.find(nobodys).map_or(Ok(()), |whom| Err(Error::NoSuchTask(whom.clone())))
    }
}

/// A change as a word.
fn word(Override { whom, what }: &Override) -> String {
    let task = whom.word();
    match what {
        Changed::Policy(policy) => format!("policy={task}={}", policy_text(*policy)),
        Changed::Nice(nice) => format!("nice={task}={}", nice.get()),
        Changed::Scale(WorkFactor { millionths }) => {
            format!("scale={task}={}.{:06}", millionths / MILLION, millionths % MILLION)
        }
        Changed::Waits(Waits::Absolute) => format!("outside={task}=absolute"),
        Changed::Waits(Waits::Relative) => format!("outside={task}=relative"),
        Changed::UntilEnd => format!("until-end={task}"),
        Changed::UntilDone => format!("until-done={task}"),
        Changed::Without => format!("without={task}"),
    }
}

/// `TASK=CPUS`: `worker=0-3,8`, `worker=all`.
///
/// # Errors
/// No such form, or no list of CPUs; says what to write.
pub fn affinity(text: &str) -> Result<KnownAffinity, String> {
    let (whom, cpus) = of_task(text, "TASK=CPUS, such as worker=0-3,8 or worker=all")?;
    let cpus = if cpus == "all" { CpuMask::ALL } else { units::cpu_list(cpus)? };
    Ok(KnownAffinity { whom, cpus })
}

/// `TASK=fifo:50`, `TASK=rr:10`, `TASK=other`, `TASK=batch`, `TASK=idle`.
///
/// # Errors
/// No such form; says what to write.
pub fn policy(text: &str) -> Result<Override, String> {
    let (whom, policy) = of_task(text, POLICIES)?;
    let realtime = |priority: &str| {
        let priority = priority.parse().ok().and_then(RtPriority::new);
        priority.ok_or_else(|| "a real-time priority is 1 to 99, such as fifo:50".to_owned())
    };
    let policy = match policy.split_once(':') {
        Some(("fifo", priority)) => Policy::Fifo(realtime(priority)?),
        Some(("rr", priority)) => Policy::Rr(realtime(priority)?),
        None if policy == "other" => Policy::Normal,
        None if policy == "batch" => Policy::Batch,
        None if policy == "idle" => Policy::Idle,
        _ => return Err(format!("write {POLICIES}")),
    };
    Ok(Override { whom, what: Changed::Policy(policy) })
}

const POLICIES: &str = "TASK=fifo:PRIORITY, rr:PRIORITY, other, batch or idle";

/// `TASK=-5`.
///
/// # Errors
/// No such form; says what to write.
pub fn nice(text: &str) -> Result<Override, String> {
    let (whom, nice) = of_task(text, "TASK=NICE, such as worker=-5")?;
    let nice = nice.parse().ok().and_then(Nice::new);
    let nice = nice.ok_or_else(|| "a nice value is -20 to 19".to_owned())?;
    Ok(Override { whom, what: Changed::Nice(nice) })
}

/// `TASK=1.5`, `all=0.8`: up to a million, six decimals.
///
/// # Errors
/// No such form; says what to write.
pub fn scale(text: &str) -> Result<Override, String> {
    let (task, factor) = text.rsplit_once('=').ok_or("write TASK=FACTOR, such as worker=1.5 or all=0.8")?;
    let millionths =
        millionths(factor).ok_or("a factor is a number such as 1.5, from 0.000001 to 1000000")?;
    Ok(Override { whom: tasks(task)?, what: Changed::Scale(WorkFactor { millionths }) })
}

/// `TASK=absolute`, `TASK=relative`, or one of the two for all tasks.
///
/// # Errors
/// No such form; says what to write.
pub fn outside(text: &str) -> Result<Override, String> {
    let (task, waits) = text.rsplit_once('=').unwrap_or(("*", text));
    let what = match waits {
        "absolute" => Changed::Waits(Waits::Absolute),
        "relative" => Changed::Waits(Waits::Relative),
        _ => return Err("write absolute, relative, or TASK=absolute, TASK=relative".to_owned()),
    };
    Ok(Override { whom: tasks(task)?, what })
}

/// `TASK`.
///
/// # Errors
/// No name.
pub fn until_end(text: &str) -> Result<Override, String> {
    Ok(Override { whom: tasks(text)?, what: Changed::UntilEnd })
}

/// `TASK`.
///
/// # Errors
/// No name.
pub fn until_done(text: &str) -> Result<Override, String> {
    Ok(Override { whom: tasks(text)?, what: Changed::UntilDone })
}

/// `TASK`.
///
/// # Errors
/// No name.
pub fn without(text: &str) -> Result<Override, String> {
    Ok(Override { whom: tasks(text)?, what: Changed::Without })
}

fn of_task<'a>(text: &'a str, form: &str) -> Result<(TaskSelector, &'a str), String> {
    let (task, value) = text.rsplit_once('=').ok_or_else(|| format!("write {form}"))?;
    Ok((tasks(task)?, value))
}

/// A task, or `all`: a task of this name goes by its id.
fn tasks(text: &str) -> Result<TaskSelector, String> {
    if text == "all" { "*" } else { text }.parse()
}

/// A decimal number, exactly.
fn millionths(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 6 || whole.len() > 7 {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let part: u64 = format!("{fraction:0<6}").parse().ok()?;
    (1..=MILLION * MILLION).contains(&(whole * MILLION + part)).then_some(whole * MILLION + part)
}

const MILLION: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affinities_are_of_names_or_pids() {
        let whom = |text| affinity(text).map(|known| known.whom);
        assert_eq!(whom("812=0"), Ok(TaskSelector::Pid(812)));
        assert_eq!(whom("a=b=0-1"), Ok(TaskSelector::Comm("a=b".to_owned())));
        assert_eq!(affinity("a=all").map(|known| known.cpus), Ok(CpuMask::ALL));
        assert_eq!(whom("all=0"), whom("*=0"));
        assert_eq!(without("all"), without("*"));
        assert!(whom("worker").is_err() && whom("worker=x").is_err());
    }

    #[test]
    fn every_option_is_read_back_from_its_word() {
        let words = [
            "affinity=7=0-3,8",
            "affinity=a=b=all",
            "policy=a b=fifo:50",
            "policy=cc*=rr:1",
            "policy=*=other",
            "policy=x=batch",
            "policy=x=idle",
            "nice=[ab]c=-20",
            "scale=*=1.500000",
            "scale=x=0.000001",
            "outside=*=absolute",
            "outside=x=relative",
            "until-end=x",
            "until-done=x",
            "without=x",
        ];
        let words = words.map(str::to_owned);
        let read = |words: &[String]| TaskOptions::of_words(words).expect("legal");
        // Affinities come first: they stand apart.
        assert_eq!(read(&words).words(), words);
        for typed in ["affinity=all=0", "scale=all=.5", "outside=relative", "nice=a=+3"] {
            let options = read(&[typed.to_owned()]);
            assert_eq!(read(&options.words()), options, "{typed}");
        }
        for wrong in ["nice", "renice=a=3", "nice=a=40", "without="] {
            let error = TaskOptions::of_words(&[wrong.to_owned()]).expect_err("wrong").to_string();
            assert!(error.starts_with(&format!("`{wrong}`: ")), "{error}");
        }
    }

    #[test]
    fn policies_nice_values_and_factors() {
        let fifo = RtPriority::new(50).map(Policy::Fifo).expect("a priority");
        assert_eq!(policy("a=fifo:50").map(|change| change.what), Ok(Changed::Policy(fifo)));
        assert_eq!(policy("a=batch").map(|change| change.what), Ok(Changed::Policy(Policy::Batch)));
        assert_eq!(policy("all=batch").map(|change| change.whom), "*".parse());
        for wrong in ["a", "a=fifo", "a=fifo:0", "a=fifo:100", "a=other:1", "=fifo:1"] {
            assert!(policy(wrong).is_err(), "{wrong}");
        }
        assert!(nice("a=-20").is_ok() && nice("a=20").is_err());
        let factor = |text| match scale(text).map(|change| change.what) {
            Ok(Changed::Scale(WorkFactor { millionths })) => Some(millionths),
            _ => None,
        };
        assert_eq!([factor("a=1.5"), factor("all=.000001")], [Some(1_500_000), Some(1)]);
        assert_eq!([factor("a=0"), factor("a=-1"), factor("a=1e3"), factor("a=9999999")], [None; 4]);
    }
}
