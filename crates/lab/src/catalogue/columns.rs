//! The columns of the tables of a run: what stands in them.

use super::Entry;

/// A column, or several of one meaning in different tables.
struct Column {
    /// Its heading in one line; other words for it after that.
    names: &'static [&'static str],
    /// What a row of its table is about.
    of: &'static str,
    meaning: &'static str,
}

const fn column(of: &'static str, names: &'static [&'static str], meaning: &'static str) -> Column {
    Column { names, of, meaning }
}

const COLUMNS: &[Column] = &[
    column("threads", &["t"], "The thread's number in its load, from 0 on."),
    column("threads", &["name"], "The thread's command name."),
    column("threads", &["cycles"], "Times that the thread did its work, all of it."),
    column(
        "threads",
        &["missed"],
        "Jobs of the load that were done after their deadline, by its own count; - where they have none.",
    ),
    column(
        "threads",
        &["late by", "lateness"],
        "How long after its deadline the latest job was done; - where jobs have none.",
    ),
    column(
        "threads",
        &["response mean", "response"],
        "From when a job was due to begin until it was done, on average; p99 and max are of this, too.",
    ),
    column("threads", &["p99"], "The response time that 99 of 100 jobs do not exceed."),
    column("threads", &["max"], "The longest response time."),
    column("threads", &["pid"], "The process id of the thread, as in all tables."),
    column("tasks", &["pid"], "The process id; `N x` where N tasks of one name are folded into a row."),
    column("tasks", &["task"], "The command name."),
    column("tasks", &["class"], "Policy and priority; * where the task had another one, too."),
    column("tasks", &["cpu time"], "How long it executed."),
    column("tasks", &["wait"], "How long it could have run and did not."),
    column("tasks", &["vol"], "Voluntary switches: it blocked, or ended."),
    column(
        "tasks",
        &["nonvol"],
        "Nonvoluntary switches: it was preempted, its slice was used up, or it yielded.",
    ),
    column(
        "tasks",
        &["migr", "migrations"],
        "How often it went on on another CPU than before (se.nr_migrations).",
    ),
    column("tasks", &["wakeup p99"], "Of its wakeup latencies the one that 99 of 100 do not exceed."),
    column("tasks", &["latency max"], "Its longest wakeup latency: from the wakeup until it first ran."),
    column("tasks", &["exit"], "When it had ended, from the begin of the run."),
    column("deadline tasks", &["pid"], "The process id."),
    column("deadline tasks", &["deadline task"], "The command name of a task of SCHED_DEADLINE."),
    column(
        "deadline tasks",
        &["runtime/deadline/period"],
        "What it asked for by sched_setattr; + where it also uses what others leave (SCHED_FLAG_RECLAIM).",
    ),
    column("deadline tasks", &["jobs"], "Jobs that were done: from when one was due to begin until its end."),
    column(
        "deadline tasks",
        &["missed"],
        "Jobs that took longer than the deadline that the task had asked for.",
    ),
    column("deadline tasks", &["longest response", "response"], "The longest job."),
    column(
        "deadline tasks",
        &["late by", "lateness"],
        "What the longest job took beyond the deadline; 0 where none did.",
    ),
    column(
        "deadline tasks",
        &["throttles"],
        "Times at which it had used up its run time and had to wait for its next period.",
    ),
    column(
        "deadline tasks",
        &["throttled"],
        "How long it waited for its next period with its run time used up, asleep or not.",
    ),
    column(
        "deadline tasks",
        &["replenishments"],
        "Budgets that it was given when it had used up one, or had given it back.",
    ),
    column("CPUs", &["cpu"], "The CPU's number."),
    column("CPUs", &["switches"], "Picks of another task than the one before; idle counts as one."),
    column("CPUs", &["idle"], "How long it had nothing to execute."),
    column("CPUs", &["rq lock taken", "taken"], "How often the lock of its run queue was taken, by any CPU."),
    column("CPUs", &["contended"], "How often whoever took that lock had to wait."),
    column("CPUs", &["max wait"], "The longest that anybody waited for it."),
    column("CPUs", &["max waiters", "waiters"], "The most that waited for it at one time."),
    column(
        "CPUs",
        &["holding own", "own"],
        "The most that waited for it at one time and held the lock of their own CPU's queue meanwhile.",
    ),
    column("CPUs", &["IPIs sent", "sent", "ipis"], "Interrupts that it sent to other CPUs."),
    column("CPUs", &["received"], "Interrupts that it got from other CPUs."),
    column("groups", &["group"], "The group's path, from the root of the cgroups."),
    column("groups", &["weight"], "Its weight among its siblings (cpu.weight); idle: cpu.idle is 1."),
    column("groups", &["cpu max"], "Its limit, quota/period (cpu.max); max: it has none."),
    column(
        "groups",
        &["usage", "usage_usec"],
        "CPU time of its tasks and of the groups below it, whatever their class is (usage_usec of cpu.stat).",
    ),
    column(
        "groups",
        &["share"],
        "Its part of what the group above it used; of one at the top, of what all tasks of the loads used.",
    ),
    column("groups", &["nr_periods"], "Periods of its limit that passed while anybody in it ran or waited."),
    column("groups", &["nr_throttled"], "Periods in which it had used up its quota and was throttled."),
    column(
        "groups",
        &["throttled", "throttled_usec"],
        "How long its queues were throttled, summed over CPUs (throttled_usec of cpu.stat).",
    ),
    column("groups", &["nr_bursts"], "Periods in which it used more than its quota (cpu.max.burst)."),
    column(
        "groups",
        &["burst", "burst_usec"],
        "CPU time above the quota in the periods that nr_bursts counts.",
    ),
    column(
        "groups",
        &["rt_runtime in rt_period"],
        "What its real-time tasks may use of each CPU (cpu.rt_runtime_us, cpu.rt_period_us).",
    ),
    column("groups", &["rt stops"], "How often its real-time tasks had used up their run time on a CPU."),
    column(
        "groups",
        &["rt throttled"],
        "How long its real-time tasks were kept from CPUs for that, summed over CPUs.",
    ),
    column("groups", &["cpuset cpus"], "The CPUs that its tasks may use (cpuset.cpus)."),
    column(
        "groups",
        &["uclamp min-max", "uclamp"],
        "As using how much its tasks count, at least and at most, in percent (cpu.uclamp.min and .max).",
    ),
    column("partitions", &["cpus"], "CPUs that are balanced among each other, and with no others."),
    column("partitions", &["partition"], "The group that has them to itself, or what isolates them."),
    column(
        "partitions",
        &["sched domains"],
        "Whether load is balanced among them: `none` where they are isolated.",
    ),
    column("frequencies", &["cpu"], "The CPU's number; all: their sum."),
    column("frequencies", &["busy"], "How long it executed anything."),
    column("frequencies", &["mean MHz"], "Its frequency while it was busy, on average."),
    column("frequencies", &["energy"], "What it used, where the machine file has an energy model."),
    column("idle states", &["cpu"], "The CPU's number; all: all of them together."),
    column("idle states", &["idle state"], "Its name in the machine file, as cpuidle's stateN/name."),
    column("idle states", &["entered"], "How often (stateN/usage)."),
    column("idle states", &["time"], "How long CPUs were in it, leaving it included (stateN/time)."),
    column(
        "idle states",
        &["too deep"],
        "How often a shallower state would have been better: it was left too soon (stateN/above).",
    ),
    column(
        "idle states",
        &["too shallow"],
        "How often a deeper state would have been better: it was left too late (stateN/below).",
    ),
    column("counters", &["counter"], "What was counted on the whole machine."),
    column("counters", &["total"], "How often, in the whole run."),
    column("counters", &["per second"], "The total for each simulated second."),
    column("decisions", &["times"], "How often the scheduler decided so."),
    column("decisions", &["decision"], "Why it decided as it did; each word has an explanation of its own."),
];

/// What a word means as the heading of a column: table and meaning, of each table that has it.
pub fn headed(word: &str) -> Vec<Entry> {
    let is_it = |column: &&Column| column.names.iter().any(|name| name.eq_ignore_ascii_case(word));
    COLUMNS.iter().filter(is_it).map(|column| Entry::new(column.of, column.meaning)).collect()
}

/// All headings, for suggestions.
pub fn headings() -> impl Iterator<Item = String> {
    COLUMNS.iter().flat_map(|column| column.names).map(|name| (*name).to_owned())
}

#[cfg(all(test, feature = "text"))]
mod tests {
    use super::*;

    #[test]
    fn every_column_of_the_tables_of_a_run_is_explained() {
        let shown = report::text::run_columns();
        for column in &shown {
            let explained = headed(&column.heading);
            assert!(explained.iter().any(|entry| entry.name == column.of), "{column:?}: {explained:?}");
            assert!(crate::explain(&column.heading).is_ok(), "{}", column.heading);
        }
        for column in COLUMNS {
            let is_it = |shown: &&report::text::RunColumn| {
                shown.of == column.of && column.names.contains(&shown.heading.as_str())
            };
            assert_eq!(shown.iter().filter(is_it).count(), 1, "{:?} of {}", column.names, column.of);
        }
    }

    #[test]
    fn names_of_cpu_stat_and_of_the_trade_are_understood() {
        for word in ["throttled_usec", "usage_usec", "nr_throttled", "lateness", "NR_PERIODS"] {
            let explanation = crate::explain(word).expect(word);
            assert_eq!(explanation.sections[0].title, "as a column of the tables of a run", "{word}");
        }
        let throttled = crate::explain("throttled").expect("a decision");
        let tables: Vec<&str> =
            throttled.sections[0].entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(tables, ["deadline tasks", "groups"]);
        assert!(throttled.meaning.contains("RT queue"), "{}", throttled.meaning);
    }
}
