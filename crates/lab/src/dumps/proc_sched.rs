//! /proc/PID/sched (fair-class 11.3).

use super::Show;
use super::format::Msecs;
use machine::TaskSnapshot;
use scheduler::{Nanos, Policy};
use std::fmt::Write;

pub(super) fn text(show: &Show<'_>, task: &TaskSnapshot) -> String {
    let mut file =
        File { out: String::new(), statistics: if show.era.averages { "se." } else { "se.statistics." } };
    let _infallible =
        writeln!(file.out, "{} ({}, #threads: {})\n{:-<57}", task.comm, show.pid(task.pid), task.threads, "");
    file.time("se.exec_start", task.stats.exec_start.get());
    file.msecs("se.vruntime", Msecs::of_vruntime(task.vruntime));
    file.time("se.sum_exec_runtime", task.stats.sum_exec_runtime.get());
    if show.era.averages {
        file.time("se.avg_overlap", task.averages.overlap.get());
        file.time("se.avg_wakeup", task.averages.wakeup.get());
        file.time("se.avg_running", task.averages.running.get());
    }
    file.times(task);
    file.counts(task);
    file.switches(task);
    file.number("se.load.weight", task.weight);
    file.number("policy", policy(task.policy));
    file.number("prio", u64::from(task.prio.0));
    // Reading the clock takes no time in the model.
    file.number("clock-delta", 0);
    file.out
}

struct File {
    out: String,
    /// What stands before the name of a statistic.
    statistics: &'static str,
}

impl File {
    fn number(&mut self, name: &str, value: u64) {
        let _infallible = writeln!(self.out, "{name:<35}:{value:>21}");
    }

    fn msecs(&mut self, name: &str, value: Msecs) {
        let _infallible = writeln!(self.out, "{name:<35}:{value:14}");
    }

    fn time(&mut self, name: &str, value: Nanos) {
        self.msecs(name, Msecs::from(value));
    }

    fn times(&mut self, task: &TaskSnapshot) {
        let stats = &task.stats;
        for (name, value) in [
            ("wait_start", stats.wait_start.get().unwrap_or_default()),
            ("sleep_start", stats.sleep_start.get().unwrap_or_default()),
            ("block_start", stats.block_start.get().unwrap_or_default()),
            ("sleep_max", stats.sleep_max.get()),
            ("block_max", stats.block_max.get()),
            ("exec_max", stats.exec_max.get()),
            ("slice_max", stats.slice_max.get()),
            ("wait_max", stats.wait_max.get()),
            ("wait_sum", stats.wait_sum.get()),
        ] {
            self.time(&format!("{}{name}", self.statistics), value);
        }
    }

    fn counts(&mut self, task: &TaskSnapshot) {
        let stats = &task.stats;
        let (woken, balanced) = (&stats.woken, &stats.balanced);
        self.number(&format!("{}wait_count", self.statistics), stats.wait_count.get());
        self.number("se.nr_migrations", stats.nr_migrations.get());
        for (name, value) in [
            ("nr_failed_migrations_affine", &balanced.failed_affine),
            ("nr_failed_migrations_running", &balanced.failed_running),
            ("nr_failed_migrations_hot", &balanced.failed_hot),
            ("nr_forced_migrations", &balanced.forced),
            ("nr_wakeups", &stats.nr_wakeups),
            ("nr_wakeups_sync", &woken.sync),
            ("nr_wakeups_migrate", &woken.migrate),
            ("nr_wakeups_local", &woken.local),
            ("nr_wakeups_remote", &woken.remote),
            ("nr_wakeups_affine", &woken.affine),
            ("nr_wakeups_affine_attempts", &woken.affine_attempts),
            ("nr_wakeups_passive", &woken.passive),
            ("nr_wakeups_idle", &woken.idle),
        ] {
            self.number(&format!("{}{name}", self.statistics), value.get());
        }
    }

    fn switches(&mut self, task: &TaskSnapshot) {
        let stats = &task.stats;
        let (voluntary, involuntary) =
            (stats.nr_voluntary_switches.get(), stats.nr_involuntary_switches.get());
        let sum = stats.sum_exec_runtime.get().0;
        // The kernel says −1 ns where it would divide by zero.
        let mean = |count: u64| sum.checked_div(count).map_or(Msecs(-1), |mean| Msecs::from(Nanos(mean)));
        self.msecs("avg_atom", mean(voluntary + involuntary));
        self.msecs("avg_per_cpu", mean(stats.nr_migrations.get()));
        self.number("nr_switches", voluntary + involuntary);
        self.number("nr_voluntary_switches", voluntary);
        self.number("nr_involuntary_switches", involuntary);
    }
}

/// The numbers of sched(7).
fn policy(policy: Policy) -> u64 {
    match policy {
        Policy::Normal => 0,
        Policy::Fifo(_) => 1,
        Policy::Rr(_) => 2,
        Policy::Batch => 3,
        Policy::Idle => 5,
    }
}
