use super::*;
use crate::{Experiment, Files, KernelConfig, LoadSpec};

pub(super) fn run(kernel: &str, dumps: &[&str]) -> Result<Vec<String>, String> {
    run_on("seed003", kernel, dumps)
}

pub(super) fn run_on(machine: &str, kernel: &str, dumps: &[&str]) -> Result<Vec<String>, String> {
    run_load("hog -n 2", machine, kernel, dumps)
}

fn run_load(load: &str, machine: &str, kernel: &str, dumps: &[&str]) -> Result<Vec<String>, String> {
    run_experiment(Experiment::new(the_machine(machine)?), load, kernel, dumps)
}

fn the_machine(name: &str) -> Result<crate::NamedMachine, String> {
    crate::machine(name, None, &Files::new()).map_err(|e| e.to_string())
}

/// With the load in a group of a group, which has half of each 10 ms.
pub(super) fn run_in_groups(
    load: &str,
    machine: &str,
    kernel: &str,
    dumps: &[&str],
) -> Result<Vec<String>, String> {
    let group = |word: &str| crate::groups::group(word).expect("a group");
    let text = schema::ExperimentText {
        groups: vec![
            group("web=cpu.max:5000/10000"),
            group("web/a=cpu.weight:50"),
            group("free=cpu.weight:1"),
        ],
        members: vec![crate::groups::member("web/a=hog").expect("a member")],
        ..schema::ExperimentText::default()
    };
    let mut experiment = Experiment::new(the_machine(machine)?);
    experiment.groups = crate::groups::Groups::of_text(&text).map_err(|e| e.to_string())?;
    run_experiment(experiment, load, kernel, dumps)
}

fn run_experiment(
    mut experiment: Experiment,
    load: &str,
    kernel: &str,
    dumps: &[&str],
) -> Result<Vec<String>, String> {
    experiment.loads.push(LoadSpec::open(load, &Files::new()).map_err(|e| e.to_string())?);
    experiment.kernel = KernelConfig::of_name(kernel).map_err(|e| e.to_string())?;
    experiment.duration = Some(Nanos::from_millis(50));
    let requests: Result<_, _> = dumps.iter().map(|text| DumpRequest::parse(text)).collect();
    experiment.dumps = requests.map_err(|e| e.to_string())?;
    let run = experiment.run().map_err(|e| e.to_string())?;
    Ok(run.result.dumps.into_iter().map(|dump| dump.text).collect())
}

pub(super) fn values<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let of_name = |line: &'t str| {
        let (found, value) = line.split_once(':')?;
        (found.trim() == name).then_some(value.trim())
    };
    text.lines().filter_map(of_name).collect()
}

/// A recorded 6.1 shows jiffies 4294893787 beside .next_balance 4294.893810: ticks, printed as nanoseconds.
#[test]
fn the_next_balancing_is_due_some_ticks_later() {
    let recorded = include_str!("recorded/sched_debug.6.1");
    for text in [recorded, &run_on("laptop", "6.1", &["sched_debug@40ms"]).expect("it runs")[0]] {
        let now: u64 = values(text, "jiffies")[0].parse().expect("ticks");
        let due: u64 = values(text, ".next_balance")[0].replace('.', "").parse().expect("ticks");
        assert!((now..now + 100).contains(&due), "{due} at {now}");
    }
}

#[test]
fn sched_debug_shows_every_cpu_its_queue_and_its_tasks_with_the_columns_of_seed_003() {
    let text = &run("2.6.35.2+D", &["sched_debug@20ms"]).expect("it runs")[0];
    assert!(text.starts_with("Sched Debug Version: v0.09, 2.6.35.2+D\nnow at 20.000000 msecs\n"), "{text}");
    assert_eq!(values(text, ".sysctl_sched_min_granularity"), ["0.750000"]);
    assert_eq!(values(text, ".sysctl_sched_tunable_scaling"), ["1 (logaritmic)"]);
    assert_eq!(values(text, ".nr_running"), ["2", "2"], "of the CPU, of the queue");
    assert_eq!(values(text, ".cpu_load[0]"), ["2048"]);
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip_while(|line| !line.starts_with("-----"))
        .skip(1)
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows.len(), 2, "{text}");
    for row in &rows {
        assert_eq!(row[row.len() - 2..], ["0", "0.000000"], "nice-pen and nice-pen-timeout");
        assert_eq!(row[row.len() - 6], "120");
    }
    assert_eq!(rows.iter().filter(|row| row[0] == "R").count(), 1);
}

/// Fair-class 11.3: what changed with 2.6.35.
#[test]
fn the_averages_of_a_task_are_gone_in_2_6_35_and_its_statistics_have_another_name() {
    let old = &run("2.6.32", &["proc/1000/sched@end"]).expect("it runs")[0];
    assert_eq!((values(old, "se.avg_wakeup").len(), values(old, "se.wait_max").len()), (1, 1));
    let new = &run("2.6.36", &["proc/1000/sched@end"]).expect("it runs")[0];
    assert_eq!((values(new, "se.avg_wakeup").len(), values(new, "se.statistics.wait_max").len()), (0, 1));
    assert_eq!(values(new, "se.load.weight"), ["1024"]);
    assert_eq!(values(new, "policy"), ["0"]);
}

/// Fair-class 11.6: since 5.16 every class counts waiting and sleeping.
#[test]
fn a_real_time_task_has_statistics_since_5_16() {
    let slept = |kernel: &str| {
        let load = "periodic -p 10ms -r 1ms -P 50";
        let file = &run_load(load, "seed003", kernel, &["proc/1000/sched@end"]).expect("it runs")[0];
        let value = |name: &str| values(file, name)[0].parse::<f64>().expect("a number");
        let statistics = if kernel == "6.1" { "" } else { "se.statistics." };
        let of = |name: &str| value(&format!("{statistics}{name}"));
        (of("sum_sleep_runtime"), of("sleep_max"), of("exec_max"))
    };
    let (slept_in_all, longest, ran) = slept("6.1");
    assert!(slept_in_all > 30.0 && longest > 8.0 && longest < 10.0, "{slept_in_all} {longest}");
    assert!(ran > 0.1, "{ran}");
    let (before, longest_before, ran_before) = slept("5.15");
    assert_eq!((before, longest_before), (0.0, 0.0));
    assert!(ran_before > 0.1, "the longest charge is counted all along: {ran_before}");
}

/// Fair-class 11.4: nine numbers for a CPU; a mask and 3 × 8 + 12 for a domain.
#[test]
fn schedstat_has_the_numbers_of_version_15() {
    let text = &run("2.6.36", &["schedstat@end"]).expect("it runs")[0];
    let numbers = |line: &str| line.split(' ').count() - 1;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0], lines[1]), ("version 15", "timestamp 50"));
    for line in &lines[2..] {
        assert_eq!(numbers(line), if line.starts_with("cpu") { 9 } else { 37 }, "{line}");
    }
}

/// Run time and waiting time of the one CPU add up with those of its tasks.
#[test]
fn schedstat_agrees_with_the_tasks() {
    let all = run("2.6.36", &["schedstat@end", "proc/1000/schedstat@end", "proc/1001/schedstat@end"]);
    let all = all.expect("it runs");
    let cpu: Vec<u64> =
        all[0].lines().nth(2).expect("a CPU")[5..].split(' ').map(|n| n.parse().expect("a number")).collect();
    let task =
        |n: usize| -> Vec<u64> { all[n].trim().split(' ').map(|n| n.parse().expect("a number")).collect() };
    let slices = task(1)[2] + task(2)[2];
    assert_eq!(cpu[8], slices);
    assert!(cpu[6] <= 50_000_000 && cpu[6] > 40_000_000, "{cpu:?}");
    let waited = task(1)[1] + task(2)[1];
    assert_eq!(cpu[7], waited);
}

/// The blocks of a file that begin so, each in one line without blanks.
fn blocks(text: &str, begin: &str) -> Vec<String> {
    let blocks = text.split("\n\n").filter(|block| block.starts_with(begin));
    blocks
        .map(|block| block.lines().map(|line| line.replace(' ', "")).collect::<Vec<_>>().join(" "))
        .collect()
}

/// The blocks `rt_rq[0]` of a run with a FIFO hog in a group that has 10 ms of each 100, at 50 ms.
fn rt_blocks(kernel: &str, rule: &str) -> Vec<String> {
    let machine = crate::machine("seed003", None, &Files::new()).expect("a machine");
    let mut experiment = Experiment::new(machine);
    experiment.loads.push(LoadSpec::open("hog -y fifo -p 50", &Files::new()).expect("a load"));
    experiment.kernel = KernelConfig::of_name(kernel).expect("a kernel");
    experiment
        .kernel
        .set(crate::Change::parse(&format!("rt_throttle={rule}")).expect("a time"))
        .expect("legal");
    experiment.duration = Some(Nanos::from_millis(50));
    if rule == "groups" {
        let group = |word: &str| crate::groups::group(word).expect("a group");
        let text = schema::ExperimentText {
            groups: vec![
                group("audio=cpu.rt_runtime_us:10000,cpu.rt_period_us:100000"),
                group("free=cpu.rt_runtime_us:0"),
            ],
            members: vec![crate::groups::member("audio=hog").expect("a member")],
            ..schema::ExperimentText::default()
        };
        experiment.groups = crate::groups::Groups::of_text(&text).expect("legal");
    }
    experiment.dumps = vec![DumpRequest::parse("sched_debug@end").expect("a request")];
    let text = experiment.run().expect("it runs").result.dumps.remove(0).text;
    blocks(&text, "rt_rq[0]:")
}

/// deadline-groups B1, B3, B7; fair-class 11.6. Two endless tasks on one CPU, weight 1024 each, in web/a,
/// whose entity weighs in web what cpu.weight 50 makes of 1024; web has used its half of the period up, so
/// that nobody competes in the root.
#[test]
fn sched_debug_has_the_fair_queues_of_groups() {
    let moments: Vec<String> = (5..40).map(|ms| format!("sched_debug@{ms}ms")).collect();
    let moments: Vec<&str> = moments.iter().map(String::as_str).collect();
    let files = run_in_groups("hog -n 2", "seed003", "6.1.y", &moments).expect("it runs");
    // Where its periods begin is chance.
    let is_throttled = |text: &&String| values(text, ".throttled").contains(&"1");
    let text = files.iter().find(is_throttled).expect("it is stopped for half of the time");
    let blocks = blocks(text, "cfs_rq[0]:");
    assert_eq!(blocks.len(), 3, "nobody has ever been in free\n{text}");
    let (a, web, root) = (&blocks[0], &blocks[1], &blocks[2]);
    let has = |block: &str, lines: &[&str]| {
        for line in lines {
            assert!(block.contains(&format!(" .{line} ")), "{line}\n{block}");
        }
    };
    assert!(
        a.starts_with("cfs_rq[0]:/web/a ")
            && web.starts_with("cfs_rq[0]:/web ")
            && root.starts_with("cfs_rq[0]:/ ")
    );
    has(a, &["nr_running:2", "h_nr_running:2", "load:2097152", "throttled:0", "throttle_count:1"]);
    // 1024 · 50 / 100.
    has(web, &["nr_running:1", "h_nr_running:2", "load:524288", "throttled:1", "throttle_count:1"]);
    has(a, &["tg_load_avg_contrib:2048", "tg_load_avg:2048", "se->load.weight:524288"]);
    has(root, &["nr_running:0", "h_nr_running:0", "load:0"]);
    let row = text.lines().find(|line| line.contains(" hog ")).expect("a row");
    assert!(row.ends_with(" /web/a"), "{row}");
}

/// deadline-groups A3: 95 % of a CPU may be promised; two tasks have 10 of 50 ms, and from 6.12 on each CPU's
/// server has 50 ms of a second. (2^20 · 0.95, · 0.2, · 0.05, rounded down each.)
#[test]
fn sched_debug_has_what_deadline_tasks_were_promised() {
    let load = "hog -n 2 --deadline 10ms/50ms";
    let on_two = |kernel: &str| {
        let files =
            run_load(load, "vm2", kernel, &["sched_debug@8ms", "proc/1000/sched@8ms"]).expect("it runs");
        (blocks(&files[0], "dl_rq[1]:").remove(0), files[1].clone())
    };
    let (queue, file) = on_two("6.1.y");
    assert_eq!(
        queue,
        "dl_rq[1]: .dl_nr_running:1 .dl_nr_migratory:1 .dl_bw->bw:996147 .dl_bw->total_bw:419430"
    );
    // At 8 ms neither has used its 10, and the deadline is 50 ms after it began.
    let runtime: u64 = values(&file, "dl.runtime")[0].parse().expect("a number");
    let deadline: u64 = values(&file, "dl.deadline")[0].parse().expect("a number");
    assert!((2_000_000..4_000_000).contains(&runtime), "{runtime}");
    assert!((50_000_000..51_000_000).contains(&deadline), "{deadline}");
    let (queue, _) = on_two("6.18");
    assert_eq!(queue, "dl_rq[1]: .dl_nr_running:1 .dl_bw->bw:996147 .dl_bw->total_bw:524286");
}

/// fair-class 11.6: one for each group, the root's last. The group has used up its 10 ms and waits, so nobody
/// competes in the root.
#[test]
fn sched_debug_has_the_real_time_queues_of_groups() {
    let blocks = rt_blocks("6.18.y", "groups");
    assert_eq!(blocks.len(), 3, "{blocks:#?}");
    let (free, audio, root) = (&blocks[0], &blocks[1], &blocks[2]);
    assert_eq!(
        free,
        "rt_rq[0]:/free .rt_nr_running:0 .rt_throttled:0 .rt_time:0.000000 .rt_runtime:0.000000"
    );
    assert!(audio.starts_with("rt_rq[0]:/audio .rt_nr_running:1 .rt_throttled:1 .rt_time:1"), "{audio}");
    assert!(audio.ends_with(" .rt_runtime:10.000000"), "{audio}");
    assert!(root.starts_with("rt_rq[0]:/ .rt_nr_running:0 .rt_throttled:0 .rt_time:1"), "{root}");
    assert!(root.ends_with(" .rt_runtime:950.000000"), "{root}");
}

/// deadline-groups A12, fair-class 11.6.
#[test]
fn from_6_12_on_only_a_kernel_with_a_limit_shows_it() {
    let names = |kernel: &str, rule: &str| -> String {
        let block = rt_blocks(kernel, rule).remove(0);
        let name = |word: &str| word.split(':').next().map(|name| name.trim_start_matches(".rt_").to_owned());
        block.split(' ').skip(1).filter_map(name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names("3.3", "root"), "nr_running throttled time runtime");
    assert_eq!(names("4.4", "root"), "nr_running throttled time runtime");
    assert_eq!(names("6.1.y", "root"), "nr_running nr_migratory throttled time runtime");
    assert_eq!(names("6.6", "root"), "nr_running nr_migratory throttled time runtime");
    assert_eq!(names("6.12", "off"), "nr_running");
    assert_eq!(names("7.1", "off"), "nr_running");
    assert_eq!(names("6.18.y", "groups"), "nr_running throttled time runtime");
}

#[test]
fn a_snapshot_changes_nothing() {
    let with = run("6.1", &["schedstat@7ms", "schedstat@13ms", "schedstat@end"]).expect("it runs");
    assert_eq!(with[2], run("6.1", &["schedstat@end"]).expect("it runs")[0]);
}

#[test]
fn what_cannot_be_shown_is_an_error() {
    let error = |dump: &str| run("6.1", &[dump]).expect_err("it cannot be shown");
    let until_done = Limit { duration: Nanos::from_secs(60), stop_when_done: true };
    let late = [DumpRequest::parse("sched_debug@99s").expect("a request")];
    let late = check(&late, until_done).expect_err("it is cut off before").to_string();
    assert!(late.contains("the run ends at the latest at 60s"), "{late}");
    assert!(error("sched_debug@51ms").contains("the run ends at 50ms"), "{}", error("sched_debug@51ms"));
    assert_eq!(
        error("proc/7/sched@end"),
        "proc/7/sched@end: no task has pid 7 at 50ms; 3 tasks live then, with pids from 10 to 1001"
    );
}

/// The pids of a replay are those of the recording, also of tasks that are made on the way and of those that
/// have exited.
#[test]
fn a_replayed_task_is_shown_by_its_recorded_pid() {
    let demo = include_bytes!("../../../../demo/mix-rtover.dat").to_vec();
    let files = Files::from([("demo.dat".to_owned(), demo)]);
    let mut experiment = Experiment::new(crate::machine("vm2", None, &Files::new()).expect("a machine"));
    experiment.loads.push(LoadSpec::open("demo.dat", &files).expect("the recording of the demo"));
    let requests = ["proc/8010/sched@1s", "proc/8009/schedstat@end", "proc/15/sched@end"];
    experiment.dumps = requests.map(|text| DumpRequest::parse(text).expect("legal")).to_vec();
    let result = experiment.run().expect("it runs").result;
    let text = |n: usize| result.dumps[n].text.as_str();
    assert!(text(0).starts_with("hog2 (8010, #threads: "), "{}", text(0));
    let hog = result.tasks.iter().find(|task| task.pid == 8009).expect("hog1");
    assert!(text(1).starts_with(&format!("{} ", hog.sum_exec_runtime_ns)), "{}", text(1));
    assert!(text(2).starts_with("rcu_preempt (15, "), "{}", text(2));
    experiment.dumps = vec![DumpRequest::parse("proc/1000/sched@1s").expect("legal")];
    let error = experiment.run().expect_err("no such task").to_string();
    assert!(
        error.contains("no task has pid 1000 at 1s; ") && error.contains("with pids from 10 to "),
        "{error}"
    );
}
