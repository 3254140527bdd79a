//! How to set on a real machine what helped: the files and tools of that kernel.
//!
//! Releases below have their sources, but for those that are called *assumed*: nothing in docs/spec tells
//! them. Where one of these decides, the step's note names the other name or place, for whoever does not find
//! the file.

use crate::knob::KnobValue;
use lab::Release;
use scheduler::registry::{ALIASES, Feature, RULES};
use schema::TuneStep;

/// Files of the scheduler's tunables went from /proc/sys/kernel to debugfs (fair-placement 8.1).
const IN_DEBUGFS: Release = Release::new(5, 13, 0);
/// Before, features were bits of a sysctl. Assumed.
const FEATURE_NAMES: Release = Release::new(2, 6, 26);
/// The first release with preemption models that are chosen at boot (deadline-groups D1).
const MODEL_AT_BOOT: Release = Release::new(5, 12, 0);
/// The controller cpu of cgroup v2. Assumed.
const CGROUP_2: Release = Release::new(4, 15, 0);
/// `sched_migration_cost` (fair-class 11.5, up to 2.6.36 at least) got its unit. Assumed.
const COST_WITH_UNIT: Release = Release::new(3, 8, 0);
/// WAKEUP_PREEMPT (fair-class 9, up to 2.6.36 at least) got its present name (eevdf-class 0.4). Assumed.
const PREEMPTION: Release = Release::new(3, 2, 0);

/// Tunables that stayed sysctls.
const SYSCTLS: [&str; 6] = [
    "sched_rt_period_us",
    "sched_rt_runtime_us",
    "sched_rr_timeslice_ms",
    "sched_cfs_bandwidth_slice_us",
    "sched_child_runs_first",
    "sched_compat_yield",
];

const UNTIL_BOOT: &str = "lost at the next boot";

/// With the other name of what this release is only assumed to call so.
fn until_boot(other: Option<String>) -> String {
    match other {
        Some(other) => format!("{UNTIL_BOOT}; if that is not there: {other}"),
        None => UNTIL_BOOT.to_owned(),
    }
}

/// How to set each of these.
#[must_use]
pub fn how_to(values: &[&KnobValue], release: Release) -> Vec<TuneStep> {
    let mut steps = Vec::new();
    for value in values {
        match value {
            KnobValue::Load { of, instead } => steps.push(TuneStep {
                setting: instead.clone(),
                commands: vec![instead.clone()],
                note: Some(format!("in place of {of}")),
            }),
            KnobValue::Words(words) => {
                steps.extend(words.split_whitespace().map(|word| of_word(word, release)))
            }
        }
    }
    steps
}

fn of_word(word: &str, release: Release) -> TuneStep {
    let step = |commands: Vec<String>, note: Option<&str>| TuneStep {
        setting: word.to_owned(),
        commands,
        note: note.map(str::to_owned),
    };
    if word == "autogroup" || word.starts_with("sched_autogroup_enabled=") {
        let on = if word.ends_with("=0") { 0 } else { 1 };
        return step(vec![format!("sysctl kernel.sched_autogroup_enabled={on}")], Some(UNTIL_BOOT));
    }
    let task = |value: &str| value.rsplit_once('=').map(|(task, value)| (task.to_owned(), value.to_owned()));
    match word.split_once('=') {
        Some(("policy", value)) if let Some((task, policy)) = task(value) => {
            step(vec![chrt(&policy)], Some(&format!("PID: each thread of {task}")))
        }
        Some(("nice", value)) if let Some((task, nice)) = task(value) => {
            step(vec![format!("renice -n {nice} -p PID")], Some(&format!("PID: each thread of {task}")))
        }
        Some(("affinity", value)) if let Some((task, cpus)) = task(value) => {
            let cpus = if cpus == "all" { "0-$(($(nproc --all)-1))".to_owned() } else { cpus };
            step(vec![format!("taskset -pc {cpus} PID")], Some(&format!("PID: each thread of {task}")))
        }
        Some(("group", value)) => {
            let (name, files) = value.split_once('=').unwrap_or((value, ""));
            let there = "the group has to be there, with its tasks in it";
            step(group(name, files, release), Some(&format!("{there}{}", other_cgroup(release))))
        }
        Some(("in", value)) => {
            let (name, task) = value.split_once('=').unwrap_or((value, ""));
            let commands = vec![format!("echo PID > {}/cgroup.procs", cgroup(name, release))];
            step(commands, Some(&format!("PID: each process of {task}{}", other_cgroup(release))))
        }
        Some(("isolcpus", cpus)) => step(Vec::new(), Some(&format!("boot the kernel with isolcpus={cpus}"))),
        Some(("nohz_full", cpus)) => {
            step(Vec::new(), Some(&format!("boot the kernel with nohz_full={cpus} (built with NO_HZ_FULL)")))
        }
        Some(("preempt_model", model)) => preempt_model(word, model, release),
        Some((name, value))
            if !RULES.iter().any(|rule| rule.name == name) && value.parse::<i64>().is_ok() =>
        {
            tunable(word, name.trim_start_matches("kernel."), value, release)
        }
        _ => match feature(word) {
            Some((feature, on)) => switch(word, feature, on, release),
            None => step(
                Vec::new(),
                Some("no kernel can switch this: it is how another release, or another patch, behaves"),
            ),
        },
    }
}

fn chrt(policy: &str) -> String {
    match policy.split_once(':') {
        Some((class, priority)) => format!("chrt --{class} -p {priority} PID"),
        None => format!("chrt --{policy} -p 0 PID"),
    }
}

fn cgroup(name: &str, release: Release) -> String {
    if release >= CGROUP_2 { format!("/sys/fs/cgroup/{name}") } else { format!("/sys/fs/cgroup/cpu/{name}") }
}

/// Many machines have the controllers where the other version has them.
fn other_cgroup(release: Release) -> &'static str {
    if release >= CGROUP_2 { "; for cgroup v2, which `mount` shows as cgroup2" } else { "; for cgroup v1" }
}

fn group(name: &str, files: &str, release: Release) -> Vec<String> {
    let folder = cgroup(name, release);
    let write = |setting: &str| {
        let (file, value) = setting.split_once(':').unwrap_or((setting, ""));
        match (file, value.split_once('/')) {
            ("cpu.max", Some((quota, period))) if release < CGROUP_2 => vec![
                format!("echo {period} > {folder}/cpu.cfs_period_us"),
                format!("echo {} > {folder}/cpu.cfs_quota_us", if quota == "max" { "-1" } else { quota }),
            ],
            _ => vec![format!("echo {} > {folder}/{file}", value.replace('/', " "))],
        }
    };
    // A comma may also stand in a list of CPUs.
    let mut settings: Vec<String> = Vec::new();
    for part in files.split(',').filter(|part| !part.is_empty()) {
        match settings.last_mut().filter(|_| !part.contains(':')) {
            Some(last) => last.extend([",", part]),
            None => settings.push(part.to_owned()),
        }
    }
    settings.iter().flat_map(|setting| write(setting)).collect()
}

fn preempt_model(word: &str, model: &str, release: Release) -> TuneStep {
    let setting = word.to_owned();
    if release < MODEL_AT_BOOT {
        let note = "chosen where the kernel is built (CONFIG_PREEMPT and its like)".to_owned();
        return TuneStep { setting, commands: Vec::new(), note: Some(note) };
    }
    let commands = (release >= IN_DEBUGFS).then(|| format!("echo {model} > /sys/kernel/debug/sched/preempt"));
    let note = format!("needs CONFIG_PREEMPT_DYNAMIC; at boot: preempt={model}");
    TuneStep { setting, commands: commands.into_iter().collect(), note: Some(note) }
}

fn tunable(word: &str, name: &str, value: &str, release: Release) -> TuneStep {
    let setting = word.to_owned();
    let built = ["hz", "nr_cpus", "sched_scaling_cpus_max", "sched_nr_latency"];
    if built.contains(&name) {
        let note = "no running kernel lets one write it: it follows from how the kernel is built".to_owned();
        return TuneStep { setting, commands: Vec::new(), note: Some(note) };
    }
    let (name, other) = match name {
        "sched_migration_cost_ns" if release < COST_WITH_UNIT => ("sched_migration_cost", Some(name)),
        "sched_migration_cost_ns" if release < IN_DEBUGFS => (name, Some("sched_migration_cost")),
        _ => (name, None),
    };
    let other = other.map(|other| format!("kernel.{other}"));
    let command = if release < IN_DEBUGFS || SYSCTLS.contains(&name) {
        format!("sysctl kernel.{name}={value}")
    } else {
        let file = name.strip_prefix("sched_").unwrap_or(name);
        format!("echo {value} > /sys/kernel/debug/sched/{file}")
    };
    TuneStep { setting, commands: vec![command], note: Some(until_boot(other)) }
}

/// A feature by one of its names, and whether it is switched on.
fn feature(word: &str) -> Option<(Feature, bool)> {
    let word = ALIASES.iter().find(|alias| alias.name == word).map_or(word, |alias| alias.settings[0]);
    let (name, on) = match word.split_once('=') {
        Some((name, value)) => (name, matches!(value, "on" | "1")),
        None => (word.strip_prefix("NO_").unwrap_or(word), !word.starts_with("NO_")),
    };
    let name = name.to_uppercase();
    Feature::ALL.iter().find(|feature| feature.name() == name).map(|feature| (*feature, on))
}

fn switch(word: &str, feature: Feature, on: bool, release: Release) -> TuneStep {
    let setting = word.to_owned();
    if release < FEATURE_NAMES {
        let note = "a bit of the sysctl kernel.sched_features in this release".to_owned();
        return TuneStep { setting, commands: Vec::new(), note: Some(note) };
    }
    let (name, other) = match feature {
        Feature::WakeupPreemption if release >= PREEMPTION => ("WAKEUP_PREEMPTION", Some(feature.name())),
        Feature::WakeupPreemption => (feature.name(), Some("WAKEUP_PREEMPTION")),
        _ => (feature.name(), None),
    };
    let file = if release < IN_DEBUGFS { "sched_features" } else { "sched/features" };
    let written = |name: &str| if on { name.to_owned() } else { format!("NO_{name}") };
    let commands = vec![format!("echo {} > /sys/kernel/debug/{file}", written(name))];
    // eevdf-class 0.4 has the name of 6.6 and later.
    let other = other.filter(|_| release < IN_DEBUGFS).map(written);
    TuneStep { setting, commands, note: Some(until_boot(other)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(word: &str, release: Release) -> Vec<String> {
        of_word(word, release).commands
    }

    /// fair-placement 8.1: /proc/sys/kernel up to 5.12, debugfs from 5.13 on; fair-class 11.5.
    #[test]
    fn where_a_setting_stands_depends_on_the_release() {
        let (old, new) = (Release::new(5, 12, 0), Release::new(5, 13, 0));
        for (word, release, line) in [
            ("NO_RT_PUSH_IPI", old, "echo NO_RT_PUSH_IPI > /sys/kernel/debug/sched_features"),
            ("NO_RT_PUSH_IPI", new, "echo NO_RT_PUSH_IPI > /sys/kernel/debug/sched/features"),
            ("rt_push_ipi=on", new, "echo RT_PUSH_IPI > /sys/kernel/debug/sched/features"),
            ("NO_WAKEUP_PREEMPT", new, "echo NO_WAKEUP_PREEMPTION > /sys/kernel/debug/sched/features"),
            (
                "NO_WAKEUP_PREEMPTION",
                Release::new(2, 6, 36),
                "echo NO_WAKEUP_PREEMPT > /sys/kernel/debug/sched_features",
            ),
            ("sched_latency_ns=3000000", old, "sysctl kernel.sched_latency_ns=3000000"),
            ("sched_latency_ns=3000000", new, "echo 3000000 > /sys/kernel/debug/sched/latency_ns"),
            (
                "base_slice_ns=400000",
                Release::new(6, 18, 0),
                "echo 400000 > /sys/kernel/debug/sched/base_slice_ns",
            ),
            ("kernel.sched_rt_runtime_us=-1", new, "sysctl kernel.sched_rt_runtime_us=-1"),
            ("sched_migration_cost_ns=0", Release::new(2, 6, 36), "sysctl kernel.sched_migration_cost=0"),
            ("preempt_model=full", new, "echo full > /sys/kernel/debug/sched/preempt"),
            ("policy=f1=fifo:50", new, "chrt --fifo -p 50 PID"),
            ("policy=f1=batch", new, "chrt --batch -p 0 PID"),
            ("nice=cc1=-5", new, "renice -n -5 -p PID"),
            ("affinity=cc1=0-3", new, "taskset -pc 0-3 PID"),
            ("group=web=cpu.max:200000/100000", new, "echo 200000 100000 > /sys/fs/cgroup/web/cpu.max"),
            ("group=web=cpuset.cpus:0-1,4", new, "echo 0-1,4 > /sys/fs/cgroup/web/cpuset.cpus"),
            ("autogroup", new, "sysctl kernel.sched_autogroup_enabled=1"),
        ] {
            assert_eq!(lines(word, release), [line], "{word}");
        }
        // What a release is only assumed to have is told with what it may have in its place.
        let note = |word: &str, release: Release| of_word(word, release).note.expect("a note");
        for (word, other) in [
            ("sched_migration_cost_ns=0", "if that is not there: kernel.sched_migration_cost"),
            ("NO_WAKEUP_PREEMPT", "if that is not there: NO_WAKEUP_PREEMPT"),
            ("group=web=cpu.weight:300", "for cgroup v2"),
        ] {
            assert!(note(word, Release::new(4, 19, 0)).contains(other), "{word}");
        }
        assert_eq!(note("NO_WAKEUP_PREEMPT", new), "lost at the next boot");
        let quota = lines("group=web=cpu.max:200000/100000", Release::new(3, 10, 0));
        assert_eq!(quota[1], "echo 200000 > /sys/fs/cgroup/cpu/web/cpu.cfs_quota_us");
        for word in ["hz=250", "search=linear", "preempt_model=full", "isolcpus=2-3", "nohz_full=2"] {
            let step = of_word(word, Release::new(4, 4, 0));
            assert!(step.commands.is_empty() && step.note.is_some(), "{word}");
        }
    }
}
