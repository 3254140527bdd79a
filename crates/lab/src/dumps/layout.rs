//! The layout of each file beside one that a kernel wrote: excerpts in `recorded/`, of the recordings of
//! Linux 6.1 and 6.18 and of outputs that others have published (fair-class 11.6).

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

/// A floor of its own for SCHED_IDLE is not modelled.
#[test]
fn sched_debug_of_6_1_is_laid_out_as_recorded() {
    let recorded = include_str!("recorded/sched_debug.6.1");
    // In the recording nobody was in a group.
    let all = dump_in_groups("6.1.y");
    let ours: Vec<&str> = all.split("\n\n").filter(|block| !block.starts_with("cfs_rq[0]:/web")).collect();
    assert_laid_out_as(
        &ours.join("\n\n"),
        recorded,
        &["sched_clock_stable()", ".sysctl_sched_idle_min_granularity"],
    );
    assert_same_columns(&dump("6.1.y", "sched_debug@20ms"), recorded);
}

#[test]
fn the_queue_of_a_group_of_6_x_is_laid_out_as_published() {
    let all = dump_in_groups("6.1.y");
    let ours = all.split("\n\n").find(|block| block.starts_with("cfs_rq[0]:/web\n")).expect("a block");
    assert_laid_out_as(ours, include_str!("recorded/group_queue.6.x"), &[]);
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
        "nr_migrations_cold",
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
