//! /proc/PID/sched (fair-class 11.3, 11.6).

use super::format::Msecs;
use super::lines::Block;
use super::{Release, Show};
use machine::TaskSnapshot;
use scheduler::registry::LoadTracking;
use scheduler::{Nanos, Policy};
use std::fmt::{Display, Write};

pub(super) fn text(show: &Show<'_>, task: &TaskSnapshot) -> String {
    let task = &*show.as_counted(task);
    let (rule, name_width) = if show.since(Release::ALL_TASKS) { (67, 45) } else { (57, 35) };
    let statistics = match show.release {
        release if release < Release::STATISTICS => "se.",
        release if release < Release::ALL_CLASSES => "se.statistics.",
        _ => "",
    };
    let mut file = File { show, task, out: String::new(), statistics, name_width };
    let _infallible = writeln!(
        file.out,
        "{} ({}, #threads: {})\n{:-<rule$}",
        task.comm,
        show.pid(task.pid),
        task.threads,
        ""
    );
    file.virtual_time();
    if show.since(Release::FINE_WEIGHTS) {
        file.number("se.nr_migrations", task.stats.nr_migrations.get());
    }
    file.times();
    file.counts();
    file.switches();
    file.number("se.load.weight", show.weight(task.weight));
    // A task counts with all its weight, be it runnable or not.
    file.number("se.runnable_weight", show.weight(task.weight));
    if show.snapshot.config.rules.load_tracking.get() == LoadTracking::Pelt {
        file.averages();
    }
    file.number("policy", policy(task.policy));
    file.number("prio", task.prio.0);
    match task.budget {
        Some(budget) => {
            file.number("dl.runtime", budget.runtime_ns);
            file.number("dl.deadline", budget.deadline.0);
        }
        None => file.number("se.slice", task.slice.0),
    }
    // Reading the clock takes no time in the model.
    file.number("clock-delta", 0);
    file.out
}

/// Of nr_migrations_cold, which Linux shows and never sets.
const NOT_COUNTED: u64 = 0;

struct File<'a> {
    show: &'a Show<'a>,
    task: &'a TaskSnapshot,
    out: String,
    /// What stands before the name of a statistic.
    statistics: &'static str,
    name_width: usize,
}

impl File<'_> {
    /// A line that begins so, where this kernel has it.
    fn line(&mut self, prefix: &str, name: &str, value: impl Display) {
        if self.show.has(Block::Task, name) {
            let (name, width) = (format!("{prefix}{name}"), self.name_width);
            let _infallible = writeln!(self.out, "{name:<width$}:{value}");
        }
    }

    fn number(&mut self, name: &str, value: impl Display) {
        self.line("", name, format_args!("{value:>21}"));
    }

    fn msecs(&mut self, name: &str, value: Msecs) {
        self.line("", name, format_args!("{value:14}"));
    }

    fn time(&mut self, name: &str, value: Nanos) {
        self.msecs(name, Msecs::from(value));
    }

    /// A statistic that is a time.
    fn statistic_time(&mut self, name: &str, value: Nanos) {
        self.line(self.statistics, name, format_args!("{:14}", Msecs::from(value)));
    }

    fn statistic(&mut self, name: &str, value: u64) {
        self.line(self.statistics, name, format_args!("{value:>21}"));
    }

    fn virtual_time(&mut self) {
        let task = self.task;
        self.time("se.exec_start", task.stats.exec_start.get());
        self.msecs("se.vruntime", Msecs::of_vruntime(task.vruntime));
        self.time("se.sum_exec_runtime", task.stats.sum_exec_runtime.get());
        self.time("se.avg_overlap", task.averages.overlap.get());
        self.time("se.avg_wakeup", task.averages.wakeup.get());
        self.time("se.avg_running", task.averages.running.get());
    }

    fn times(&mut self) {
        let stats = &self.task.stats;
        for (name, value) in [
            ("sum_sleep_runtime", stats.sum_sleep_runtime.get()),
            ("sum_block_runtime", stats.sum_block_runtime.get()),
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
            self.statistic_time(name, value);
        }
    }

    fn counts(&mut self) {
        let stats = &self.task.stats;
        let (woken, balanced) = (&stats.woken, &stats.balanced);
        self.statistic("wait_count", stats.wait_count.get());
        if !self.show.since(Release::FINE_WEIGHTS) {
            self.number("se.nr_migrations", stats.nr_migrations.get());
        }
        for (name, value) in [
            ("nr_migrations_cold", NOT_COUNTED),
            ("nr_failed_migrations_affine", u64::from(balanced.failed_affine.get())),
            ("nr_failed_migrations_running", u64::from(balanced.failed_running.get())),
            ("nr_failed_migrations_hot", u64::from(balanced.failed_hot.get())),
            ("nr_forced_migrations", u64::from(balanced.forced.get())),
            ("nr_wakeups", stats.nr_wakeups.get()),
            ("nr_wakeups_sync", u64::from(woken.sync.get())),
            ("nr_wakeups_migrate", u64::from(woken.migrate.get())),
            ("nr_wakeups_local", u64::from(woken.local.get())),
            ("nr_wakeups_remote", u64::from(woken.remote.get())),
            ("nr_wakeups_affine", u64::from(woken.affine.get())),
            ("nr_wakeups_affine_attempts", u64::from(woken.affine_attempts.get())),
            ("nr_wakeups_passive", u64::from(woken.passive.get())),
            ("nr_wakeups_idle", u64::from(woken.idle.get())),
        ] {
            self.statistic(name, value);
        }
    }

    fn switches(&mut self) {
        let stats = &self.task.stats;
        let (voluntary, involuntary) =
            (stats.nr_voluntary_switches.get(), stats.nr_involuntary_switches.get());
        let sum = stats.sum_exec_runtime.get().0;
        let nobody = self.show.nobody();
        let mean = |count: u64| sum.checked_div(count).map_or(nobody, |mean| Msecs::from(Nanos(mean)));
        self.msecs("avg_atom", mean(voluntary + involuntary));
        self.msecs("avg_per_cpu", mean(stats.nr_migrations.get()));
        self.number("nr_switches", voluntary + involuntary);
        self.number("nr_voluntary_switches", voluntary);
        self.number("nr_involuntary_switches", involuntary);
    }

    fn averages(&mut self) {
        let (average, estimate) = (&self.task.average, &self.task.estimate);
        // Of a task, as opposed to a group, the runnable load is all its load.
        self.number("se.avg.load_sum", average.load_sum.get());
        self.number("se.avg.runnable_load_sum", average.load_sum.get());
        self.number("se.avg.runnable_sum", average.runnable_sum.get());
        self.number("se.avg.util_sum", average.util_sum.get());
        self.number("se.avg.load_avg", average.load_avg.get());
        self.number("se.avg.runnable_load_avg", average.load_avg.get());
        self.number("se.avg.runnable_avg", average.runnable_avg.get());
        self.number("se.avg.util_avg", average.util_avg.get());
        self.number("se.avg.last_update_time", average.last_update_time.get().0);
        self.number("se.avg.util_est.ewma", estimate.ewma.get());
        self.number("se.avg.util_est.enqueued", estimate.enqueued.get());
        self.number("se.avg.util_est", estimate.ewma.get());
    }
}

/// The numbers of sched(7).
fn policy(policy: Policy) -> u64 {
    match policy {
        Policy::Normal => 0,
        Policy::Fifo(_) => 1,
        Policy::Rr(_) => 2,
        Policy::Deadline(_) => 6,
        Policy::Batch => 3,
        Policy::Idle => 5,
    }
}
