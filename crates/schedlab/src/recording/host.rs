//! The machine and its kernel as they are set up, and the groups of its processes: what decides how tasks are
//! scheduled and is in no event.

use super::cgroups::Hierarchy;
use super::mounted::Mounted;
use super::tasks::numbers;
use flate2::read::GzDecoder;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use trace::{CgroupCpu, HostNote, Pid, TaskGroup};

/// Where debugfs is mounted by convention.
const DEBUG: &str = "/sys/kernel/debug";
/// What `/sys/kernel/debug/sched` has beside plain settings: whole reports, and what is read on its own.
const NO_SETTINGS: [&str; 4] = ["debug", "features", "preempt", "verbose"];

/// Options of a kernel's command line that change when and where tasks run.
const BOOT_OPTIONS: [&str; 16] = [
    "cpuidle.off",
    "idle",
    "intel_idle.max_cstate",
    "irqaffinity",
    "isolcpus",
    "kthread_cpus",
    "maxcpus",
    "noautogroup",
    "nohz",
    "nohz_full",
    "nosmt",
    "nr_cpus",
    "preempt",
    "rcu_nocbs",
    "skew_tick",
    "threadirqs",
];

/// Where the kernel says how it is set up.
#[derive(Clone, Debug)]
pub struct Host {
    /// Usually `/proc`.
    pub proc: PathBuf,
    /// Usually `/sys`.
    pub sys: PathBuf,
    /// Usually `/boot`.
    pub boot: PathBuf,
}

impl Host {
    /// This machine.
    pub fn this() -> Host {
        Host { proc: "/proc".into(), sys: "/sys".into(), boot: "/boot".into() }
    }

    /// The kernel's release, as `uname -r` tells it.
    pub fn release(&self) -> Option<String> {
        line(&self.proc.join("sys/kernel/osrelease"))
    }

    /// How often the kernel ticks a second, where its configuration can be read.
    pub fn hz(&self) -> Option<u64> {
        hz(&self.config()?)?.parse().ok()
    }

    /// Whether there are disks and the like.
    pub fn has_block_devices(&self) -> bool {
        fs::read_dir(self.sys.join("block")).is_ok_and(|mut devices| devices.next().is_some())
    }

    /// What can be known of this machine, with debugfs mounted for a moment where it is not.
    pub fn notes(&self) -> Vec<HostNote> {
        let debug = Mounted::find("debugfs", DEBUG).ok();
        self.notes_with(debug.as_ref().map(Mounted::root))
    }

    pub(super) fn notes_with(&self, debug: Option<&Path>) -> Vec<HostNote> {
        let mut facts = BTreeMap::new();
        let mut add = |name: &str, value: Option<String>| {
            facts.extend(value.filter(|value| !value.is_empty()).map(|value| (name.to_owned(), value)));
        };
        let kernel = self.proc.join("sys/kernel");
        add("version", line(&kernel.join("version")));
        add("hz", self.config().as_deref().and_then(hz));
        for name in names(&kernel).iter().filter(|name| name.starts_with("sched_")) {
            add(name, line(&kernel.join(name)));
        }
        let cpus = self.sys.join("devices/system/cpu");
        add("smt", line(&cpus.join("smt/control")));
        add("isolated", line(&cpus.join("isolated")));
        add("nohz_full", line(&cpus.join("nohz_full")));
        let governors =
            names(&cpus).into_iter().filter_map(|cpu| line(&cpus.join(cpu).join("cpufreq/scaling_governor")));
        let governors: BTreeSet<String> = governors.collect();
        add("governor", Some(governors.into_iter().collect::<Vec<_>>().join(",")));
        add("boot", line(&self.proc.join("cmdline")).as_deref().map(boot_options));
        match debug {
            Some(debug) => self.add_debug(debug, &mut add),
            None => add("debugfs", Some("cannot be mounted".to_owned())),
        }
        facts.into_iter().map(|(name, value)| HostNote::Fact { name, value }).collect()
    }

    /// What only debugfs says. A kernel that is locked down does not let it be read, and then that is a fact,
    /// too.
    fn add_debug(&self, debug: &Path, add: &mut impl FnMut(&str, Option<String>)) {
        let sched = debug.join("sched");
        // Before 5.13 it lay beside the folder.
        let places = [sched.join("features"), debug.join("sched_features")];
        let features = places.iter().map(fs::read_to_string);
        match features.reduce(Result::or) {
            Some(Ok(features)) => add("features", Some(features.trim().to_owned())),
            _ => add("debugfs", Some("the scheduler's files cannot be read".to_owned())),
        }
        add("preempt", line(&sched.join("preempt")).as_deref().and_then(chosen));
        for name in names(&sched).iter().filter(|name| !NO_SETTINGS.contains(&name.as_str())) {
            add(name, line(&sched.join(name)));
        }
    }

    /// The groups of every process that lives now.
    pub fn groups(&self) -> BTreeMap<Pid, TaskGroup> {
        let pids = numbers(&self.proc).into_iter().map(Pid);
        pids.filter_map(|pid| Some((pid, self.group(pid)?))).collect()
    }

    /// The groups of one process.
    pub fn group(&self, pid: Pid) -> Option<TaskGroup> {
        let folder = self.proc.join(pid.0.to_string());
        let cgroup = fs::read_to_string(folder.join("cgroup")).ok()?;
        let autogroup = line(&folder.join("autogroup")).as_deref().and_then(autogroup);
        Some(TaskGroup { autogroup, cgroup: cpu_cgroup(&cgroup)?.to_owned() })
    }

    /// What the cgroups among these groups, and those above them, get of the CPUs, if it is not the usual.
    pub fn cgroups<'a>(&self, groups: impl Iterator<Item = &'a TaskGroup>) -> BTreeMap<String, CgroupCpu> {
        let mountinfo = fs::read_to_string(self.proc.join("self/mountinfo")).unwrap_or_default();
        let hierarchy = Hierarchy::find(&mountinfo);
        let paths = groups.map(|group| group.cgroup.as_str());
        hierarchy.map(|hierarchy| hierarchy.cpu_of(paths)).unwrap_or_default()
    }

    /// The configuration with which the kernel was built.
    fn config(&self) -> Option<String> {
        let mut text = String::new();
        if let Ok(packed) = File::open(self.proc.join("config.gz")) {
            GzDecoder::new(packed).read_to_string(&mut text).ok()?;
            return Some(text);
        }
        let release = self.release()?;
        fs::read_to_string(self.boot.join(format!("config-{release}"))).ok()
    }
}

/// A file of one line.
fn line(path: &Path) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// The names of what is in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn hz(config: &str) -> Option<String> {
    Some(config.lines().find_map(|line| line.strip_prefix("CONFIG_HZ="))?.to_owned())
}

/// Of a kernel's command line, what is for the scheduler, timers and idle CPUs. The rest is nobody's
/// business.
fn boot_options(line: &str) -> String {
    let is_wanted = |word: &&str| BOOT_OPTIONS.contains(&word.split('=').next().unwrap_or_default());
    line.split_whitespace().filter(is_wanted).collect::<Vec<_>>().join(" ")
}

/// Of `none voluntary (full)`, that in brackets.
fn chosen(words: &str) -> Option<String> {
    Some(words.split_once('(')?.1.split_once(')')?.0.to_owned())
}

/// Of `/autogroup-7 nice 0`, 7.
fn autogroup(line: &str) -> Option<u32> {
    line.strip_prefix("/autogroup-")?.split(' ').next()?.parse().ok()
}

/// The path in the hierarchy that has the controller `cpu`: one of version 1, else the one of version 2.
fn cpu_cgroup(lines: &str) -> Option<&str> {
    let path = |wanted: fn(&str) -> bool| {
        lines.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            wanted(controllers).then_some(path)
        })
    };
    path(|controllers| controllers.split(',').any(|one| one == "cpu")).or_else(|| path(str::is_empty))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_is_that_of_the_cpu_controller() {
        let both = "12:cpuset:/c\n4:cpu,cpuacct:/user.slice:1\n0::/unified\n";
        assert_eq!(cpu_cgroup(both), Some("/user.slice:1"));
        assert_eq!(cpu_cgroup("12:cpuset:/c\n0::/unified\n"), Some("/unified"));
        assert_eq!(cpu_cgroup("2:cpuacct:/a\n"), None);
    }

    #[test]
    fn settings_are_found_in_what_the_kernel_writes() {
        assert_eq!(autogroup("/autogroup-7 nice 0"), Some(7));
        assert_eq!(chosen("none voluntary (full) lazy"), Some("full".to_owned()));
        let line = "root=/dev/vda key=secret isolcpus=2,3 quiet skew_tick=1 threadirqs preempt=full";
        assert_eq!(boot_options(line), "isolcpus=2,3 skew_tick=1 threadirqs preempt=full");
        assert_eq!(hz("CONFIG_HZ_250=y\nCONFIG_HZ=250\n"), Some("250".to_owned()));
    }

    #[test]
    fn this_process_has_a_group() {
        let own = Pid(i32::try_from(std::process::id()).expect("a pid"));
        let host = Host::this();
        assert!(host.groups().contains_key(&own));
        let has = |wanted: &str| {
            let named = |note: &HostNote| matches!(note, HostNote::Fact { name, .. } if name == wanted);
            host.notes_with(None).iter().any(named)
        };
        assert!(has("version") && has("sched_rt_runtime_us"));
    }
}
