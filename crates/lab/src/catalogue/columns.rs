//! The columns of tables: what stands in them.

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
    column("cyclictest", &["T"], "The thread's number, and its pid in brackets, as cyclictest prints them."),
    column("cyclictest", &["P"], "Its priority; 0: it is a fair task."),
    column("cyclictest", &["I"], "The interval of its timer, in us."),
    column("cyclictest", &["C"], "Cycles: how often its timer has expired."),
    column("cyclictest", &["Min"], "The least latency, in us: from when its timer was due until it ran."),
    column("cyclictest", &["Act"], "The actual latency, in us: that of its last cycle."),
    column("cyclictest", &["Avg"], "The latency on average, in us."),
    column("cyclictest", &["Max"], "The largest latency, in us."),
    column("replays", &["pid"], "The recorded process id."),
    column("replays", &["task"], "The command name."),
    column("replays", &["cpu time recorded"], "How long it executed in the recording."),
    column("replays", &["replay"], "The figure to the left of it, in the replay."),
    column("replays", &["switches rec."], "How often it left a CPU in the recording."),
    column("replays", &["latency mean"], "Its wakeup latencies in the recording, on average."),
    column("replays", &["latency p99"], "The recorded wakeup latency that 99 of 100 do not exceed."),
    column("replays", &["latency max"], "Its longest wakeup latency in the recording."),
    column("comparisons", &["metric"], "What is compared, each figure the mean over the seeds."),
    column("comparisons", &["base"], "Under the base."),
    column("comparisons", &["with"], "Under the variant."),
    column("comparisons", &["differs"], "Variant less base."),
    column("comparisons", &["95% interval"], "Where the difference lies with 95 % certainty, by the seeds."),
    column("comparisons", &["change"], "The difference in parts of the base; x826: so many times as much."),
    column(
        "comparisons",
        &["replay off"],
        "By how much a replay of the recording is off in this figure; -: the recording has none.",
    ),
    column("recordings", &["task"], "The command name and the pid, as perf sched latency has them."),
    column("recordings", &["runtime ms", "runtime"], "How long it executed."),
    column("recordings", &["switches"], "How often it left a CPU."),
    column(
        "recordings",
        &["avg delay ms", "avg delay"],
        "How long it waited for a CPU after a wakeup, on average (perf's Avg delay).",
    ),
    column("recordings", &["max delay ms", "max delay"], "The longest that it waited after a wakeup."),
    column("recordings", &["max start s", "max start"], "When the longest wait began."),
    column("CPUs of recordings", &["cpu"], "The CPU's number."),
    column("CPUs of recordings", &["switches"], "How often it went from one task to another."),
    column("CPUs of recordings", &["idle"], "How long it had nothing to execute."),
    column("CPUs of recordings", &["busy"], "How long it executed tasks."),
    column("CPUs of recordings", &["unknown"], "How long nothing tells what it did."),
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
    fn every_column_of_the_tables_is_explained() {
        let shown = report::text::table_columns();
        for column in &shown {
            let explained = headed(&column.heading);
            assert!(explained.iter().any(|entry| entry.name == column.of), "{column:?}: {explained:?}");
            assert!(crate::explain(&column.heading).is_ok(), "{}", column.heading);
        }
        for column in COLUMNS {
            let is_it = |shown: &&report::text::TableColumn| {
                shown.of == column.of && column.names.contains(&shown.heading.as_str())
            };
            assert_eq!(shown.iter().filter(is_it).count(), 1, "{:?} of {}", column.names, column.of);
        }
    }

    #[test]
    fn names_of_cpu_stat_and_of_the_trade_are_understood() {
        for word in ["throttled_usec", "usage_usec", "nr_throttled", "lateness", "NR_PERIODS"] {
            let explanation = crate::explain(word).expect(word);
            assert_eq!(explanation.sections[0].title, "as a column of the tables of", "{word}");
        }
        for (word, of) in [
            ("avg delay", "recordings"),
            ("replay off", "comparisons"),
            ("latency mean", "replays"),
            ("Act", "cyclictest"),
        ] {
            let explanation = crate::explain(word).expect(word);
            assert_eq!(explanation.sections[0].entries[0].name, of, "{word}");
        }
        let throttled = crate::explain("throttled").expect("a decision");
        let tables: Vec<&str> =
            throttled.sections[0].entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(tables, ["deadline tasks", "groups"]);
        assert!(throttled.meaning.contains("RT queue"), "{}", throttled.meaning);
    }
}
