//! The layout of each file beside one that a kernel wrote: excerpts in `recorded/`, of the recordings of
//! Linux 6.1 and 6.18 and of outputs that others have published (fair-class 11.6).

use super::lines::{self, Block};
use super::release::Release;
use super::tests::{run, run_in_groups};

/// Name and value of a line; the name as it stands there. Rows of tasks may have colons in their names.
fn field(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    let is_word = !name.trim().contains([' ', '[']);
    (is_word && !value.is_empty()).then_some((name, value))
}

/// Every line of `ours` stands in `recorded`, at the same place and in the same order; those that are there
/// beyond these are `left_out`.
#[track_caller]
fn assert_laid_out_as(ours: &str, recorded: &str, left_out: &[&str]) {
    // Where a value begins, whatever it is: numbers are right-aligned in one of the files.
    let place = |(name, value): (&str, &str)| {
        let right_aligned = value.starts_with("  ");
        (name.to_owned(), right_aligned.then(|| name.len() + value.len()))
    };
    let fields = |text: &str| text.lines().skip(1).filter_map(field).map(place).collect::<Vec<_>>();
    let mut theirs = fields(recorded).into_iter();
    let mut beyond = Vec::new();
    for own in fields(ours) {
        let found = theirs.by_ref().find(|their| {
            *their == own || {
                beyond.push(their.0.trim().to_owned());
                false
            }
        });
        assert!(found.is_some(), "{own:?} is not there, or stands elsewhere\n{ours}\n{recorded}");
    }
    beyond.extend(theirs.map(|their| their.0.trim().to_owned()));
    assert_eq!(beyond, left_out);
}

/// The rows of a table: heading, rule, first row of a task.
fn table(text: &str) -> [&str; 3] {
    let rule = text.lines().position(|line| line.starts_with("-----")).expect("a table");
    let lines: Vec<&str> = text.lines().collect();
    [lines[rule - 1], lines[rule], lines[rule + 1]]
}

/// Where the words of a row end, the name of the task left out: it may have spaces.
fn ends(row: &str) -> Vec<usize> {
    let shape = |at: usize| row[..at].chars().next_back().is_some_and(|c| c != ' ');
    (18..=row.len()).filter(|&at| shape(at) && row[at..].chars().next().is_none_or(|c| c == ' ')).collect()
}

/// Our table has the recorded columns, up to those of NUMA nodes and groups.
#[track_caller]
fn assert_same_columns(ours: &str, recorded: &str) {
    let ([heading, rule, row], [their_heading, their_rule, their_row]) = (table(ours), table(recorded));
    assert!(their_heading.starts_with(heading), "{heading}\n{their_heading}");
    assert!(their_rule.starts_with(rule), "{rule}\n{their_rule}");
    let (own, theirs) = (ends(row), ends(their_row));
    assert!(own.len() >= 7, "{row}");
    assert_eq!(own[..], theirs[..own.len()], "\n{row}\n{their_row}");
}

fn dump(kernel: &str, file: &str) -> String {
    run(kernel, &[file]).expect("it runs").remove(0)
}

#[test]
fn sched_debug_of_3_is_laid_out_as_linux_3_7_wrote_it() {
    let (ours, recorded) = (dump("3.3", "sched_debug@20ms"), include_str!("recorded/sched_debug.3.7"));
    assert_laid_out_as(&ours, recorded, &["sched_clock_stable"]);
    assert_same_columns(&ours, recorded);
}

fn dump_in_groups(kernel: &str) -> String {
    run_in_groups("hog -n 2", "seed003", kernel, &["sched_debug@20ms"]).expect("it runs").remove(0)
}

#[test]
fn sched_debug_of_6_1_is_laid_out_as_recorded() {
    let recorded = include_str!("recorded/sched_debug.6.1");
    // In the recording nobody was in a group.
    let all = dump_in_groups("6.1.y");
    let ours: Vec<&str> = all.split("\n\n").filter(|block| !block.starts_with("cfs_rq[0]:/web")).collect();
    assert_laid_out_as(&ours.join("\n\n"), recorded, &["sched_clock_stable()"]);
    assert_same_columns(&dump("6.1.y", "sched_debug@20ms"), recorded);
}

#[test]
fn the_queue_of_a_group_of_6_x_is_laid_out_as_published() {
    let all = dump_in_groups("6.1.y");
    let ours = all.split("\n\n").find(|block| block.starts_with("cfs_rq[0]:/web\n")).expect("a block");
    assert_laid_out_as(ours, include_str!("recorded/group_queue.6.x"), &[]);
}

/// The names of a block's lines, without its points: `cpu#0`, `cfs_rq[0]:/`, the head for "sysctl_sched".
fn names(text: &str, begin: &str) -> Vec<String> {
    let block = text.split("\n\n").find(|block| block.starts_with(begin)).expect("a block");
    let name = |line: &str| field(line).map(|(name, _)| name.trim().trim_start_matches('.').to_owned());
    block.lines().skip(1).filter_map(name).collect()
}

/// The names of `cfs_rq`, `rt_rq` and `dl_rq` of one CPU.
fn queues(text: &str) -> [String; 3] {
    ["cfs_rq[0]:", "rt_rq[0]:", "dl_rq[0]:"].map(|begin| names(text, begin).join(" "))
}

const TIMES_OF_CFS: &str = "exec_clock MIN_vruntime min_vruntime max_vruntime spread spread0 nr_spread_over";
const IN_GROUPS: &str = " tg_load_avg_contrib tg_load_avg throttled throttle_count";

/// An output of 4.4.22, with groups; the kernel that wrote it has no limits of groups, ours has.
#[test]
fn sched_debug_of_4_4_has_the_published_lines() {
    let text = dump("4.4", "sched_debug@20ms");
    // Between clock_task and yld_count cpu_load[0] to [4], which are no words.
    assert_eq!(
        names(&text, "cpu#0").join(" "),
        "nr_running load nr_switches nr_load_updates nr_uninterruptible next_balance curr->pid clock \
         clock_task yld_count sched_count sched_goidle avg_idle max_idle_balance_cost ttwu_count ttwu_local"
    );
    let [fair, rt, dl] = queues(&text);
    let averages = "load_avg runnable_load_avg util_avg removed_load_avg removed_util_avg";
    assert_eq!(fair, format!("{TIMES_OF_CFS} nr_running load {averages}"));
    assert_eq!(rt, "rt_nr_running rt_throttled rt_time rt_runtime");
    assert_eq!(dl, "dl_nr_running");
    let below = dump_in_groups("4.4");
    let entity = "se->exec_start se->vruntime se->sum_exec_runtime se->load.weight se->avg.load_avg \
                  se->avg.util_avg";
    let averages = averages.replace("runnable_load_avg ", "");
    assert_eq!(
        names(&below, "cfs_rq[0]:/web\n").join(" "),
        format!("{TIMES_OF_CFS} nr_running load {averages}{IN_GROUPS} {entity}")
    );
}

/// Outputs of 4.19.0 and 5.4.22: statistics were off.
#[test]
fn sched_debug_of_4_19_and_5_4_has_the_published_lines() {
    for kernel in ["4.19", "5.4"] {
        let text = dump(kernel, "sched_debug@20ms");
        let [fair, rt, dl] = queues(&text);
        assert_eq!(
            fair,
            format!(
                "{TIMES_OF_CFS} nr_running load runnable_weight load_avg runnable_load_avg util_avg \
                 util_est_enqueued removed.load_avg removed.util_avg removed.runnable_sum"
            ),
            "{kernel}"
        );
        assert_eq!(rt, "rt_nr_running rt_nr_migratory rt_throttled rt_time rt_runtime");
        assert_eq!(dl, "dl_nr_running dl_nr_migratory dl_bw->bw dl_bw->total_bw");
        let cpu = names(&text, "cpu#0").join(" ");
        let (load, ends) = (kernel == "4.19", "clock clock_task avg_idle max_idle_balance_cost yld_count");
        let begin = if load { "nr_running load nr_switches" } else { "nr_running nr_switches" };
        assert!(cpu.starts_with(&format!("{begin} nr_load_updates nr_uninterruptible ")), "{cpu}");
        assert!(cpu.contains(ends), "{cpu}");
        let [heading, rule, row] = table(&text);
        assert_eq!(heading.find("task   PID         tree-key"), Some(13), "{heading}");
        assert_eq!((rule.len(), row.find("migration/0    10 ")), (107, Some(6)), "{row}");
        let scaling = if load { "1 (logaritmic)" } else { "1 (logarithmic)" };
        assert!(
            text.contains(&format!("  .sysctl_sched_tunable_scaling            : {scaling}\n")),
            "{text}"
        );
    }
}

/// An output of 5.10.0.
#[test]
fn sched_debug_of_5_10_has_the_published_lines() {
    let text = dump("5.10", "sched_debug@20ms");
    let [fair, rt, dl] = queues(&text);
    assert_eq!(
        fair,
        format!(
            "{TIMES_OF_CFS} nr_running load load_avg runnable_avg util_avg util_est_enqueued \
             removed.load_avg removed.util_avg removed.runnable_avg"
        )
    );
    assert_eq!(rt, "rt_nr_running rt_nr_migratory rt_throttled rt_time rt_runtime");
    assert_eq!(dl, "dl_nr_running dl_nr_migratory dl_bw->bw dl_bw->total_bw");
    let cpu = names(&text, "cpu#0").join(" ");
    assert!(
        cpu.starts_with("nr_running nr_switches nr_uninterruptible next_balance curr->pid clock "),
        "{cpu}"
    );
    let [heading, rule, row] = table(&text);
    assert_eq!(heading.find("task   PID         tree-key"), Some(14), "{heading}");
    assert_eq!((rule.len(), row.find("migration/0    10 ")), (109, Some(7)), "{row}");
}

/// The averages of outputs of 5.4 and 5.10, and where nr_migrations_cold stands in all of them.
#[test]
fn a_task_of_5_4_and_of_5_10_has_the_published_lines() {
    let names = |kernel: &str| {
        let text = dump(kernel, "proc/1000/sched@end");
        let names: Vec<&str> = text.lines().filter_map(field).map(|(name, _)| name.trim()).collect();
        names.join(" ")
    };
    let averages = |kernel: &str| {
        let names = names(kernel);
        let from = names.find("se.load.weight").expect("a weight");
        names[from..].replace("se.", "")
    };
    assert_eq!(
        averages("5.4"),
        "load.weight runnable_weight avg.load_sum avg.runnable_load_sum avg.util_sum avg.load_avg \
         avg.runnable_load_avg avg.util_avg avg.last_update_time avg.util_est.ewma avg.util_est.enqueued \
         policy prio clock-delta"
    );
    assert_eq!(
        averages("5.10"),
        "load.weight avg.load_sum avg.runnable_sum avg.util_sum avg.load_avg avg.runnable_avg avg.util_avg \
         avg.last_update_time avg.util_est.ewma avg.util_est.enqueued policy prio clock-delta"
    );
    let cold = "se.statistics.nr_migrations_cold se.statistics.nr_failed_migrations_affine";
    assert!(names("5.10").contains(&format!("se.statistics.wait_count {cold}")), "{}", names("5.10"));
    assert!(names("4.4").contains(&format!("se.nr_migrations {cold}")), "{}", names("4.4"));
}

/// What each era has that the one before has not, and the other way round; of the blocks that can differ.
#[test]
fn lines_come_and_go() {
    let all = |profile: &str| -> Vec<String> {
        let config = scheduler::registry::Config::of_profile(profile).expect("a profile");
        let release = Release::of(profile, config.rules.fair_policy.get());
        let blocks =
            [Block::Tunables, Block::FairQueue, Block::RealTimeQueue, Block::DeadlineQueue, Block::Task];
        blocks.iter().flat_map(|block| lines::names(*block, release, profile)).map(str::to_owned).collect()
    };
    let change = |before: &str, after: &str| {
        let (old, new) = (all(before), all(after));
        let only = |here: &[String], there: &[String]| {
            here.iter().filter(|name| !there.contains(name)).cloned().collect::<Vec<_>>().join(" ")
        };
        [only(&old, &new), only(&new, &old)]
    };
    assert_eq!(change("5.10", "5.15"), ["", ""]);
    assert_eq!(
        change("5.15", "6.1"),
        [
            "",
            "sysctl_sched_idle_min_granularity h_nr_running idle_nr_running idle_h_nr_running \
             sum_block_runtime"
        ]
    );
    assert_eq!(
        change("6.1", "6.6"),
        [
            "sysctl_sched_latency sysctl_sched_min_granularity sysctl_sched_idle_min_granularity \
             sysctl_sched_wakeup_granularity MIN_vruntime max_vruntime spread0",
            "sysctl_sched_base_slice left_vruntime zero_vruntime avg_vruntime right_vruntime se.slice"
        ]
    );
    assert_eq!(
        change("6.6", "6.12"),
        [
            "sysctl_sched_child_runs_first exec_clock nr_spread_over util_est_enqueued rt_nr_migratory \
             dl_nr_migratory se.avg.util_est.ewma se.avg.util_est.enqueued",
            "left_deadline util_est se.avg.util_est"
        ]
    );
    assert_eq!(change("6.12", "6.12.y"), ["", "h_nr_delayed"]);
    assert_eq!(
        change("6.12", "6.18"),
        [
            "nr_running h_nr_running idle_nr_running idle_h_nr_running",
            "nr_queued h_nr_runnable h_nr_queued h_nr_idle"
        ]
    );
    assert_eq!(change("6.18", "7.0"), ["", ""]);
}

/// Of two endless tasks on one CPU one runs and one waits: the sum of their loads, and of their weights.
#[test]
fn runnable_load_is_that_of_the_queued_tasks() {
    for kernel in ["4.4", "4.19", "5.4"] {
        let files = ["sched_debug@end", "proc/1000/sched@end", "proc/1001/sched@end"];
        let files = run(kernel, &files).expect("it runs");
        let value = |file: usize, name: &str| -> u64 {
            super::tests::values(&files[file], name)[0].parse().expect("a number")
        };
        let loads = [1, 2].map(|task| value(task, "se.avg.load_avg"));
        assert!(loads.iter().all(|load| (1000..=1024).contains(load)), "{loads:?}");
        assert_eq!(value(0, ".runnable_load_avg"), loads.iter().sum::<u64>(), "{kernel}");
        if kernel != "4.4" {
            assert_eq!(value(0, ".runnable_weight"), 2 * 1024 * 1024);
            assert_eq!(value(1, "se.runnable_weight"), 1024 * 1024);
            assert_eq!(value(1, "se.avg.runnable_load_avg"), loads[0]);
        }
    }
}

#[test]
fn rows_of_eevdf_are_laid_out_as_linux_6_8_and_6_12_wrote_them() {
    assert_same_columns(&dump("6.6", "sched_debug@20ms"), include_str!("recorded/rows.6.8"));
    for kernel in ["6.12", "6.18.y", "7.1"] {
        assert_same_columns(&dump(kernel, "sched_debug@20ms"), include_str!("recorded/rows.6.12"));
    }
}

/// I/O waits and NUMA balancing are not modelled.
#[test]
fn a_task_of_6_1_is_laid_out_as_recorded() {
    let (ours, recorded) = (dump("6.1.y", "proc/1000/sched@end"), include_str!("recorded/sched.6.1"));
    let left_out = [
        "iowait_sum",
        "iowait_count",
        "mm->numa_scan_seq",
        "numa_pages_migrated",
        "numa_preferred_nid",
        "total_numa_faults",
    ];
    assert_laid_out_as(&ours, recorded, &left_out);
}

/// That kernel was built without statistics.
#[test]
fn a_task_of_6_18_is_laid_out_as_recorded() {
    let recorded = include_str!("recorded/sched.6.18");
    let names: Vec<&str> = recorded.lines().filter_map(field).map(|(name, _)| name).collect();
    let ours = dump("6.18.y", "proc/1000/sched@end");
    let (head, rest) = ours.split_at(ours.find("se.").expect("a field"));
    let kept: Vec<&str> = rest.lines().filter(|l| field(l).is_some_and(|f| names.contains(&f.0))).collect();
    let left_out = ["mm->numa_scan_seq", "numa_pages_migrated", "numa_preferred_nid", "total_numa_faults"];
    assert_laid_out_as(&format!("{head}{}", kept.join("\n")), recorded, &left_out);
    assert!(ours.contains("se.slice                                     :               700000\n"), "{ours}");
}

/// Version 15 as recorded; 16 has the busy CPU's balancing first; 17 names the domains and has four
/// imbalances in the place of one.
#[test]
fn schedstat_has_the_fields_of_its_version() {
    let shape = |text: &str| -> Vec<(String, usize)> {
        let words = |line: &str| line.split(' ').count();
        text.lines().map(|l| (l.split(' ').next().unwrap_or("").to_owned(), words(l))).collect()
    };
    let on_two =
        |kernel: &str| super::tests::run_on("vm2", kernel, &["schedstat@end"]).expect("it runs").remove(0);
    let recorded = shape(include_str!("recorded/schedstat.6.1"));
    assert_eq!(shape(&on_two("6.1.y"))[..4], recorded);
    let domain = |text: &str| -> Vec<String> {
        let line = text.lines().find(|line| line.starts_with("domain0")).expect("a domain");
        line.split(' ').map(str::to_owned).collect()
    };
    let (v15, v16, v17) = (on_two("6.1.y"), on_two("6.12"), on_two("6.18"));
    assert!(v15.starts_with("version 15\n") && v16.starts_with("version 16\n"));
    assert!(v17.starts_with("version 17\n"), "{v17}");
    let (v16, v17) = (domain(&v16), domain(&v17));
    assert_eq!((&v16[1], &v17[1], &v17[2]), (&"3".to_owned(), &"MC".to_owned(), &"3".to_owned()));
    assert_eq!((v16.len(), v17.len()), (2 + 3 * 8 + 12, 3 + 3 * 11 + 12));
    // An endless loop on each CPU: attempts of busy CPUs, none of idle ones.
    let attempts = |kernel: &str, place: usize| domain(&on_two(kernel))[place].clone();
    assert_eq!((attempts("6.1.y", 2).as_str(), attempts("6.12", 10).as_str()), ("0", "0"), "idle");
    assert_ne!((attempts("6.1.y", 10).as_str(), attempts("6.12", 2).as_str()), ("0", "0"), "busy");
}
