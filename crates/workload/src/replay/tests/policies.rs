//! Policies and priorities, one rule each.

use super::{check, trace};
use crate::replay::{FairPolicy, Recording};
use scheduler::CpuMask;

/// From a recording of rt_migrate_lab on one CPU: the program raises itself to SCHED_FIFO 98, and no event of
/// its own shows that before its next switch, long after the forks.
#[test]
fn a_parent_had_the_real_time_priority_of_its_child_before_the_fork() {
    let text = "\
        # tracer: nop\n# entries-in-buffer/entries-written: 9/9   #P:1\n\
        init-1 [000] d..2. 40.685238: sched_switch: prev_comm=init prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=init next_pid=327 next_prio=120\n\
        rt_migrate_lab-327 [000] ..... 40.691982: sched_process_fork: comm=rt_migrate_lab pid=327 child_comm=rt_migrate_lab child_pid=328\n\
        rt_migrate_lab-327 [000] d..2. 40.692113: sched_wakeup_new: comm=rt_migrate_lab pid=328 prio=1 target_cpu=000\n\
        rt_migrate_lab-327 [000] ..... 40.692774: sched_process_fork: comm=rt_migrate_lab pid=327 child_comm=rt_migrate_lab child_pid=329\n\
        rt_migrate_lab-327 [000] d..2. 40.692790: sched_wakeup_new: comm=rt_migrate_lab pid=329 prio=1 target_cpu=000\n\
        rt_migrate_lab-327 [000] d..2. 40.693285: sched_switch: prev_comm=rt_migrate_lab prev_pid=327 prev_prio=1 prev_state=S ==> next_comm=rt_migrate_lab next_pid=328 next_prio=1\n";
    let steps = |text: &str| {
        let recording = Recording::extract(&trace::read(text.as_bytes()).expect("a trace"));
        let parent = recording.tasks.iter().find(|task| task.pid.0 == 327).expect("it forks");
        super::program(&recording, parent)
    };
    let name = "rt_migrate_lab";
    assert_eq!(
        steps(text),
        format!("{name} runnable on 0: 6875, prio 1, fork {name}, 677, fork {name}, 495, sleep on")
    );
    // SCHED_RESET_ON_FORK gives a real-time task fair children: those show nothing.
    let fair = text.replace("prio=1 target_cpu", "prio=120 target_cpu");
    let fair = fair.replace("pid=1 prev_prio=120", "pid=1 prev_prio=1");
    assert!(steps(&fair).contains("6875, fork"), "{}", steps(&fair));
}

#[test]
fn round_robin_shows_at_the_end_of_its_slices() {
    let recording = check(
        "0      0 idle R a/89
         60000  0 a/89 R+ c/10
         61000  0 c/10 S a/89
         101000 0 a/89 R b/89
         150000 0 b/89 S a/89",
        &["a runnable on 0: 100000", "c runnable on 0: 1000, sleep on", "b runnable on 0: 49000, sleep on"],
    );
    let round_robin: Vec<_> = recording.tasks.iter().filter(|task| task.round_robin).collect();
    assert_eq!(round_robin.iter().map(|task| &*task.comm).collect::<Vec<_>>(), ["a"]);
}

/// What `schedlab record` wrote into the trace: no guessing, for the task itself and for children that it
/// never saw.
#[test]
fn policies_and_affinities_that_the_trace_tells_are_taken() {
    let text = "\
        a-97 [000] .... 0.000000: tracing_mark_write: schedlab: task pid=97 tgid=97 policy=rr cpus=0,2-3 comm=a\n\
        <idle>-0 [000] d..2. 0.000001: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=97 next_prio=89\n\
        a-97 [000] d..2. 0.000002: sched_process_fork: comm=a pid=97 child_comm=a child_pid=98\n\
        a-97 [000] d..2. 0.000003: sched_wakeup_new: comm=a pid=98 prio=89 target_cpu=000\n\
        a-97 [000] d..2. 0.000009: sched_switch: prev_comm=a prev_pid=97 prev_prio=89 prev_state=S ==> next_comm=a next_pid=98 next_prio=89\n";
    let told = |text: &str| -> Vec<_> {
        let trace = trace::read(text.as_bytes()).expect("a trace");
        let tasks = Recording::extract(&trace).tasks;
        tasks.iter().map(|t| (t.round_robin, t.placement.allowed.map(|cpus| cpus.to_string()))).collect()
    };
    let cpus = || Some("0,2-3".to_owned());
    assert_eq!(told(text), [(true, cpus()), (true, cpus())], "the child inherits both");
    let without = text.split_once('\n').expect("lines").1;
    assert_eq!(told(without), [(false, None), (false, None)]);
    // The trace shows CPU 0 alone: what may use that may use all that a larger machine has.
    let everywhere = text.replace("cpus=0,2-3", "cpus=0");
    assert_eq!(told(&everywhere)[0].1, Some(CpuMask::ALL.to_string()));
}

#[test]
fn policies_of_the_fair_class_are_told_too() {
    let fair = |policy: &str| {
        let text = format!(
            "a-97 [000] .... 0.000000: tracing_mark_write: schedlab: task pid=97 tgid=97 policy={policy} cpus=0 comm=a\n\
            a-97 [000] d..2. 0.000009: sched_switch: prev_comm=a prev_pid=97 prev_prio=125 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n"
        );
        let recording = Recording::extract(&trace::read(text.as_bytes()).expect("a trace"));
        let text = recording.to_text(crate::replay::Origin::default());
        let read = Recording::from_text(&text).expect("our own text").recording;
        assert_eq!(read.tasks[0].fair, recording.tasks[0].fair);
        let line = text.lines().find_map(|line| line.trim().strip_prefix("policy ")).expect("a fact");
        (recording.tasks[0].fair, line.to_owned())
    };
    assert_eq!(fair("batch"), (FairPolicy::Batch, "batch 5".into()));
    assert_eq!(fair("idle"), (FairPolicy::Idle, "idle 5".into()));
    assert_eq!(fair("other"), (FairPolicy::Normal, "nice 5".into()));
}

#[test]
fn own_changes_of_priority_are_replayed_and_inherited_ones_are_not() {
    let recording = check(
        "0  0 idle R a
         10 0 a/95 wakes b/120
         20 0 a/95 inherits 60
         30 0 a/60 R+ c/50
         40 0 c/50 S a/60
         60 0 a/95 S b/110
         70 0 b/110 S idle",
        &[
            "a runnable on 0: 10, wake b, 40, prio 95, sleep on",
            "b asleep: sleep, prio 110, 10, sleep on",
            "c runnable on 0: 10, sleep on",
        ],
    );
    assert_eq!((recording.counts.priority_changes, recording.counts.inherited), (2, 1));
    assert_eq!(recording.tasks[0].prio, 120);
}

#[test]
fn a_switch_that_nobody_recorded_says_nothing_of_priorities() {
    // That b came onto CPU 1 shows when it leaves, with what it has been lent meanwhile.
    let mut trace = trace(
        "0  0 idle R b/97
         0  1 idle wakes z
         5  0 b/97 wakes a/95
         10 0 b/97 R a/95
         20 0 a/95 lends b/97 95
         30 1 b/95 S idle
         40 0 a/95 S idle",
    );
    assert_eq!(trace::infer_missing_switches(&mut trace).switches, 1);
    let recording = Recording::extract(&trace);
    assert_eq!(recording.counts.priority_changes, 0);
}

#[test]
fn a_priority_that_others_set_during_a_sleep_is_there_at_the_wakeup() {
    check(
        "0  0 idle R b
         10 0 b S a
         20 0 a wakes b/89
         30 0 a S b/89
         40 0 b/89 S idle",
        &["b runnable on 0: 10, prio 89, sleep, 10, sleep on", "a runnable on 0: 10, wake b, 10, sleep on"],
    );
}
