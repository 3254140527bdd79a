//! What a comparison of recordings needs of each.

use schema::recordings::{CommandTotals, RecordingHead};
use std::collections::BTreeMap;

/// One recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// What it is.
    pub head: RecordingHead,
    /// All CPUs and tasks together.
    pub machine: MachineSamples,
    /// Tasks that have the same name, by that name.
    pub commands: BTreeMap<String, CommandSamples>,
}

/// Figures of a whole recording, window by window.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineSamples {
    /// How many CPUs there are.
    pub cpus: u32,
    /// Times are multiples of this.
    pub resolution_ns: u64,
    /// Length of a window; the last of a nanosecond may be missing.
    pub window_ns: f64,
    /// Time of all CPUs in tasks, ns.
    pub busy_ns: Vec<u64>,
    /// Time of all CPUs in the idle task, ns.
    pub idle_ns: Vec<u64>,
    /// Switches on all CPUs.
    pub switches: Vec<u64>,
    /// Migrations of all tasks.
    pub migrations: Vec<u64>,
    /// Wakeups of all tasks.
    pub wakeups: Vec<u64>,
    /// Latencies of all tasks.
    pub latency: LatencySamples,
}

/// Figures of the tasks of one name, window by window.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CommandSamples {
    /// How many tasks there are.
    pub tasks: u64,
    /// Whether one of them is the recorded command or one of its descendants.
    pub of_command: bool,
    /// Time on a CPU, ns.
    pub cpu_time_ns: Vec<u64>,
    /// How often they left to sleep.
    pub voluntary_switches: Vec<u64>,
    /// How often they left runnable.
    pub involuntary_switches: Vec<u64>,
    /// How often they were given another CPU.
    pub migrations: Vec<u64>,
    /// How often they were woken.
    pub wakeups: Vec<u64>,
    /// From wakeup to run.
    pub latency: LatencySamples,
}

/// Wakeup latencies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LatencySamples {
    /// In ns, in any order.
    pub samples_ns: Vec<u64>,
}

impl CommandSamples {
    /// What needs no statistics.
    pub(super) fn totals(&self, duration_ns: u64) -> CommandTotals {
        let cpu_time_ns = self.cpu_time_ns.iter().sum();
        CommandTotals {
            tasks: self.tasks,
            cpu_time_ns,
            cpu_share: crate::stats::nine_digits(cpu_time_ns as f64 / duration_ns.max(1) as f64),
            latencies: self.latency.samples_ns.len() as u64,
            latency_max_ns: self.latency.longest_ns(),
        }
    }
}

impl LatencySamples {
    /// The longest; 0 without any.
    #[must_use]
    pub fn longest_ns(&self) -> u64 {
        self.samples_ns.iter().max().copied().unwrap_or(0)
    }
}
