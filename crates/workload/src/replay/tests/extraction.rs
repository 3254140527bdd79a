//! One rule each.

use super::super::{Begin, Recording};
use super::{check, trace};
use crate::replay::{Evidence, FairPolicy, Pinned};
use scheduler::CpuMask;

#[test]
fn a_wakes_b_at_2_ms_of_its_own_progress() {
    check(
        "0    0 idle R a
         500  0 a    R+ c
         900  0 c    S a
         2400 0 a    wakes b on 1
         2410 1 idle R b
         2500 0 a    S idle
         2700 1 b    S idle",
        &[
            // 500 before the preemption and 1500 after it.
            "a runnable on 0: 2000, wake b elsewhere, 100, sleep on",
            "c runnable on 0: 400, sleep on",
            "b asleep: sleep, 290, sleep on",
        ],
    );
}

#[test]
fn who_wakes_on_although_it_is_to_be_preempted_is_still_in_the_same_call() {
    check(
        "0    0 idle R a/98
         2000 0 a/98 wakes b/96
         2001 0 resched@a/98 wakes c/97
         2002 0 a/98 R b/96
         2500 0 b/96 S c/97
         2900 0 c/97 S a/98
         2950 0 a/98 wakes b/96
         2960 0 a/98 wakes c/97
         3000 0 a/98 S idle",
        &[
            "a runnable on 0: 2000, wake b, 1, wake c too, 51, wake b, 10, wake c, 40, sleep on",
            "b asleep: sleep, 498, sleep",
            "c asleep: sleep, 400, sleep",
        ],
    );
}

#[test]
fn who_was_preempted_in_between_made_two_calls() {
    check(
        "0    0 idle R a/98
         2000 0 a/98 wakes b/96
         2001 0 a/98 R b/96
         2500 0 b/96 S a/98
         2510 0 resched@a/98 wakes c/97
         2511 0 a/98 R c/97
         2900 0 c/97 S a/98
         3000 0 a/98 S idle",
        &[
            "a runnable on 0: 2000, wake b, 11, wake c, 101, sleep on",
            "b asleep: sleep, 499, sleep on",
            "c asleep: sleep, 389, sleep on",
        ],
    );
}

#[test]
fn an_interrupts_wakeup_is_not_the_doing_of_the_task_below_it() {
    let recording = check(
        "0   0 idle R a
         100 0 irq@a wakes b
         110 0 a R b
         150 0 b S a
         200 0 softirq@a wakes c
         210 0 a S c",
        &[
            "a runnable on 0: 100, irq, 70, sleep on",
            "b asleep: sleep till irq at 100, 40, sleep on",
            "c asleep: sleep till irq at 200",
        ],
    );
    assert_eq!((recording.counts.by_interrupt, recording.counts.by_softirq), (1, 1));
}

#[test]
fn the_cpu_of_an_interrupt_counts_where_the_sleeper_was_elsewhere() {
    check(
        "0   1 idle R b
         10  1 b S idle
         50  0 irq@idle waking b on 1
         60  1 idle wakeup b
         70  1 idle R b
         80  1 b S idle",
        &["b runnable on 1: 10, sleep till irq at 50 on 0, 10, sleep on"],
    );
}

#[test]
fn preempted_twice_is_one_burst() {
    check(
        "0   0 idle R a
         100 0 a R+ b
         140 0 irq@b wakes c
         140 0 irq@b wakes c
         150 0 b R c
         160 0 c S a
         300 0 a R b
         310 0 b S a
         400 0 a S idle",
        &[
            "a runnable on 0: 330, sleep on",
            "b runnable on 0: 40, irq, 20, sleep on",
            "c asleep: sleep till irq at 140, 10, sleep on",
        ],
    );
}

#[test]
fn a_fork_is_a_step_of_the_parent_and_the_child_ends_by_waking_it() {
    let recording = check(
        "0   0 a R+ z
         5   0 z S a
         100 0 a forks b on 1
         120 0 a S idle
         130 1 idle R b
         200 1 b execs /usr/bin/cc1
         300 1 b exits
         320 1 b wakes a on 0
         330 0 idle R a
         340 1 b X idle
         350 0 a S idle",
        &[
            "a runnable on 0: 95, fork a, 20, sleep, 20, sleep on",
            "z runnable on 0: 5, sleep on",
            "a forked: 70, exec cc1, 120, wake a elsewhere, 20, exit",
        ],
    );
    assert_eq!(recording.counts.forks, 1);
}

#[test]
fn a_fork_without_its_event_is_known_by_the_first_wakeup() {
    check(
        "0  0 idle R a
         10 0 a forks b
         20 0 a S b
         30 0 b S idle",
        &["a runnable on 0: 10, fork b, 10, sleep on", "b forked: 10, sleep on"],
    );
    let text = "0 0 idle R a\n 20 0 a S b\n 30 0 b S idle";
    check(text, &["a runnable on 0: 20, sleep on", "b runnable on 0: 10, sleep on"]);
}

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
fn a_task_that_leaves_soon_and_undisturbed_yields() {
    let recording = check(
        "0  0 idle R a
         7  0 a R b
         12 0 b R a
         15 0 a S b
         99 0 b S idle",
        &["a runnable on 0: 7, yield, 3, sleep on", "b runnable on 0: 5, yield, 84, sleep on"],
    );
    assert_eq!(recording.counts.yields, 2);
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
fn idle_cpus_poll_if_the_recorder_saw_it_or_cyclictest_runs() {
    let polls = |comm: &str, marker: &str| {
        let text = format!(
            "{comm}-97 [000] .... 0.000000: tracing_mark_write: {marker}\n\
            {comm}-97 [000] d..2. 0.000009: sched_switch: prev_comm={comm} prev_pid=97 prev_prio=125 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n"
        );
        let recording = Recording::extract(&trace::read(text.as_bytes()).expect("a trace"));
        let read = Recording::from_text(&recording.to_text(crate::replay::Origin::default()))
            .expect("our own text")
            .recording;
        assert_eq!(read.idle_polls, recording.idle_polls);
        (recording.idle_polls, recording.counts.latency_holders)
    };
    assert_eq!(polls("a", "none"), (false, 0));
    assert_eq!(polls("cyclictest", "none"), (true, 1));
    assert_eq!(polls("a", "schedlab: machine idle=polls"), (true, 0));
    assert_eq!(polls("cyclictest", "schedlab: machine idle=halts"), (false, 0));
}

#[test]
fn a_wakeup_that_comes_before_its_sleeper_has_left_ends_the_sleep() {
    // The waker's CPU spins until b is off its CPU, then queues it.
    check(
        "0  0 idle R a
         0  1 idle R b
         50 0 a waking b on 1
         55 1 b S idle
         60 0 a wakeup b on 1
         70 1 idle R b
         80 1 b S idle
         90 0 a S idle",
        &["a runnable on 0: 50, wake b elsewhere, 40, sleep on", "b runnable on 1: 55, sleep, 10, sleep on"],
    );
    // b was on its way to sleep, and the wakeup made it turn back: no sleep, no wakeup.
    let recording = check(
        "0  0 idle R a
         0  1 idle R b
         50 0 a wakes b on 1
         80 1 b S idle
         90 0 a S idle",
        &["a runnable on 0: 90, sleep on", "b runnable on 1: 80, sleep on"],
    );
    assert_eq!(recording.counts.without_effect, 1);
}

#[test]
fn a_sleeper_that_runs_again_was_woken_even_if_no_event_shows_it() {
    let recording = check(
        "0  0 idle R a
         0  1 idle R b
         10 1 b S idle
         40 1 idle R b
         50 1 b S idle
         60 0 a wakes c on 0
         90 0 a S c",
        &[
            "a runnable on 0: 60, wake c, 30, sleep on",
            "b runnable on 1: 10, sleep till irq at 40, 10, sleep on",
            "c asleep: sleep",
        ],
    );
    assert_eq!(recording.counts.unseen, 1);
}

#[test]
fn waiting_for_the_stopper_is_an_affinity_that_the_task_sets_or_its_exec() {
    const MOVED: &str = "0  0 idle R a
                         10 0 a wakes migration/0
                         20 0 a D migration/0
                         25 0 migration/0 wakes a on 1
                         30 0 migration/0 S idle
                         40 1 idle R a";
    let recording = check(
        &format!("{MOVED}\n 50 1 a S idle\n 60 1 b wakes a\n 70 0 idle R a"),
        &[
            "a runnable on 0: 10, wake migration/0, 10, bind to 1, 10, unbind, sleep",
            "migration/0 asleep: sleep, 10, sleep on",
            "b runnable on 1: wake a, 10",
        ],
    );
    assert!(recording.tasks[1].is_stopper());
    assert_eq!((recording.counts.bound, recording.counts.by_stopper), (1, 0));
    // An exec moves a task to an idle CPU in the same way; the simulated one does, too.
    let recording = check(
        &format!("{MOVED}\n 45 1 a execs /bin/x\n 50 1 a S idle"),
        &[
            "a runnable on 0: 10, wake migration/0, 15, exec x, 5, sleep on",
            "migration/0 asleep: sleep, 10, sleep on",
        ],
    );
    assert_eq!((recording.counts.bound, recording.counts.by_stopper), (0, 1));
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

#[test]
fn an_id_that_is_given_out_again_is_another_task() {
    const SCRIPT: &str = "0  0 idle R b
         10 0 b exits
         20 0 b X a
         30 0 a forks b
         40 0 a S b
         50 0 b S idle";
    // perf sched record has no sched_process_exit.
    for script in [SCRIPT, &SCRIPT.replace("10 0 b exits", "")] {
        let recording = check(
            script,
            &[
                "b runnable on 0: 20, exit",
                "a runnable on 0: 10, fork b, 10, sleep on",
                "b forked: 10, sleep on",
            ],
        );
        let numbers: Vec<_> = recording.tasks.iter().map(|task| (task.pid.0, task.incarnation)).collect();
        assert_eq!(numbers[1..], [(98, 0), (97, 0), (98, 1)]);
    }
}

#[test]
fn markers_are_steps() {
    check(
        "0  0 idle R a
         10 0 a marks start
         30 0 a S idle",
        &["a runnable on 0: 10, mark start, 20, sleep on"],
    );
}

#[test]
fn wakeups_by_ksoftirqd_are_its_own_doing() {
    check(
        "0  0 idle R ksoftirqd/0
         10 0 softirq@ksoftirqd/0 wakes b
         20 0 ksoftirqd/0 S b
         30 0 b S idle",
        &["ksoftirqd/0 runnable on 0: 10, wake b, 10, sleep on", "b asleep: sleep, 10, sleep on"],
    );
}

#[test]
fn where_events_were_lost_the_proven_part_counts() {
    let mut trace = trace(
        "0  0 idle R a
         10 0 a marks x
         50 0 b marks y
         60 0 b S idle",
    );
    trace.meta.gaps.push(trace::Gap { cpu: trace::Cpu(0), before_ns: 50_000, events: Some(3) });
    let recording = Recording::extract(&trace);
    assert_eq!(
        super::programs(&recording),
        ["a appears at 0 on 0: 10, mark x", "b appears at 50 on 0: mark y, 10, sleep on"]
    );
    assert_eq!(recording.counts.lost_stays, 2);
}

#[test]
fn a_parent_whose_children_all_stay_is_pinned_with_the_first_that_shows_it() {
    let recording = Recording::extract(&trace(
        "0     0 idle R z
         1000  0 z S idle
         5000  0 idle R a
         5500  0 a R+ z
         5600  0 z S idle
         6000  1 idle R a
         7000  1 a forks b on 1
         7100  1 a forks c on 1
         8000  1 a S b
         8500  1 b R+ c
         30000 1 c R+ b
         30100 1 b X c
         30200 1 c X idle",
    ));
    let evidence = |comm: &str| {
        let task = recording.tasks.iter().find(|task| &*task.comm == comm).expect("it is there");
        task.placement.pinned.map(|pinned| pinned.evidence)
    };
    // Only b waited for c beside the idle CPU 0; a came to CPU 1 and forked both there.
    assert!(matches!(evidence("b"), Some(Evidence::Waited(_))), "{:?}", evidence("b"));
    assert_eq!(evidence("a"), Some(Evidence::Children));
    assert_eq!(evidence("c"), Some(Evidence::Parent));
    assert_eq!(evidence("z"), None);
}

#[test]
fn tasks_that_stay_beside_an_idle_cpu_are_pinned_and_so_are_their_children() {
    let recording = Recording::extract(&trace(
        "0     1 idle R a
         10000 1 a R+ b
         30000 1 b S a
         31000 1 a forks c on 1
         40000 1 a S c
         41000 1 c X idle
         42000 0 irq@idle wakes d
         42010 0 idle R d
         42020 0 d S idle",
    ));
    let pinned: Vec<_> = recording.tasks.iter().map(|task| (&*task.comm, task.placement.pinned)).collect();
    let on_1 = |evidence| Some(Pinned { cpu: 1, evidence });
    let waited = Evidence::Waited(scheduler::Nanos::from_millis(20));
    assert_eq!(pinned, [("a", on_1(waited)), ("b", None), ("c", on_1(Evidence::Parent)), ("d", None)]);
    let text = recording.to_text(crate::replay::Origin::default());
    assert!(
        text.contains(
            "  # taken to be pinned: it waited there for 0.020000000 s while another CPU was idle\n"
        ),
        "{text}"
    );
    let read = Recording::from_text(&text).expect("our own text").recording;
    assert_eq!(read.tasks[0].placement.pinned, on_1(Evidence::File));
}

/// Waiting for the only CPU there is shows nothing, however long it seems to have been idle meanwhile: from
/// wakeup to run a virtual machine may take its time.
#[test]
fn a_recording_of_one_cpu_shows_no_affinities_but_those_of_kernel_threads() {
    let mut script = String::from("0 0 idle R ksoftirqd/0\n10 0 ksoftirqd/0 S idle\n");
    for n in 1..=20 {
        let t = n * 2_000;
        script += &format!("{t} 0 irq@idle wakes a\n{} 0 idle R a\n{} 0 a S idle\n", t + 1_000, t + 1_500);
    }
    let pinned = |cpus: u32| -> Vec<_> {
        let mut trace = trace(&script);
        trace.cpus = cpus;
        let tasks = Recording::extract(&trace).tasks;
        tasks.into_iter().map(|task| task.placement.pinned.map(|pinned| pinned.cpu)).collect()
    };
    assert_eq!(pinned(1), [Some(0), None]);
    assert_eq!(pinned(2), [Some(0), Some(0)], "the same beside an idle CPU");
}

#[test]
fn a_task_that_moves_and_then_stays_is_pinned_from_there_on() {
    check(
        "0     0 idle R a
         100   0 a R+ c
         120   1 idle R a
         5000  1 a R+ b
         5100  0 c S idle
         16000 1 b S a
         17000 1 a S idle
         17010 0 irq@idle wakes c",
        &[
            "a runnable on 0: 100, pin, 5880, sleep on",
            "c runnable on 0: 5000, sleep till irq at 17010",
            "b runnable on 1: 11000, sleep on",
        ],
    );
}

#[test]
fn a_real_time_task_that_waits_behind_its_equals_beside_an_idle_cpu_is_pinned() {
    let script = |waker: &str| {
        let mut script = format!("0 1 idle R {waker}\n");
        for n in 1..=500 {
            let t = n * 100;
            script += &format!(
                "{t} 1 {waker} wakes b/90\n{} 1 {waker} S b/90\n{} 1 b/90 S {waker}\n",
                t + 3,
                t + 50
            );
        }
        script + "60000 0 irq@idle wakes z\n"
    };
    let pinned = |script: String| {
        let tasks = Recording::extract(&trace(&script)).tasks;
        tasks
            .into_iter()
            .find(|task| &*task.comm == "b")
            .expect("it ran")
            .placement
            .pinned
            .map(|pinned| pinned.cpu)
    };
    assert_eq!(pinned(script("a/90")), Some(1));
    assert_eq!(pinned(script("a/95")), None, "it preempts a: that it does not wait for long says nothing");
}

#[test]
fn a_real_time_task_that_stays_where_a_pinned_one_runs_is_pinned_too() {
    // rt-class 3.1: a wakeup beside a running real-time task that cannot leave looks for another CPU.
    let pinned = |name_of_the_other: &str| {
        let other = format!("{name_of_the_other}/95");
        let mut script = String::new();
        for n in 0..20 {
            let t = n * 100;
            script += &format!("{t} 1 idle R {other}\n{} 1 {other} wakes b/90\n", t + 10);
            script += &format!("{} 1 {other} R b/90\n{} 1 b/90 S {other}\n", t + 11, t + 20);
            // The other one waits behind its equal beside idle CPU 0, if it is to be pinned.
            if name_of_the_other == "p" {
                script += &format!("{} 1 {other} R e/95\n{} 1 e/95 S {other}\n", t + 21, t + 89);
            }
            script += &format!("{} 1 {other} S idle\n", t + 90);
        }
        let recording = Recording::extract(&trace(&(script + "60000 0 irq@idle wakes z\n")));
        let b = recording.tasks.iter().find(|task| &*task.comm == "b").expect("it ran");
        b.placement.pinned.map(|pinned| (pinned.cpu, pinned.evidence))
    };
    // By the first time neither had settled.
    assert_eq!(pinned("p"), Some((1, Evidence::Stayed(19))));
    assert_eq!(pinned("f"), None);
}

#[test]
fn tasks_that_are_only_mentioned_are_not_replayed() {
    let recording = Recording::extract(&trace("0 0 idle R a\n 10 0 a waking b\n 20 0 a S idle"));
    assert_eq!(recording.tasks[1].begin, Begin::Never);
}

#[test]
fn a_tick_rate_that_the_recorder_wrote_down_is_believed() {
    let mut trace = trace("0 0 idle R a\n90 0 a S idle");
    let hz = |trace: &trace::Trace| Recording::extract(trace).hz;
    assert_eq!(hz(&trace), None, "nothing shows it");
    trace.host.facts.insert("hz".into(), "1000".into());
    assert_eq!(hz(&trace), Some(1000));
    for nonsense in ["0", "-1", "many", "99999999"] {
        trace.host.facts.insert("hz".into(), nonsense.into());
        assert_eq!(hz(&trace), None);
    }
}

/// One bit of a recorded CPU time is damaged.
#[test]
fn nobody_runs_longer_than_the_time_that_has_passed() {
    let text = |runtime: u64| {
        format!(
            " <idle>-0 [000] d... 1.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=7 next_prio=120\n\
             a-7 [000] d... 1.001000: sched_stat_runtime: comm=a pid=7 runtime=1000000 [ns] vruntime=1 [ns]\n\
             a-7 [000] d... 1.003000: sched_stat_runtime: comm=a pid=7 runtime={runtime} [ns] vruntime=1 [ns]\n\
             a-7 [000] d... 1.003001: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n"
        )
    };
    let replayed = |runtime| {
        let trace = trace::read(text(runtime).as_bytes()).expect("a trace");
        let recording = Recording::extract(&trace);
        let task = recording.tasks.iter().find(|task| task.pid.0 == 7).expect("the task");
        let run = |step: &super::ReplayStep| {
            if let super::ReplayStep::Run(time) = step { time.0 / 1_000 } else { 0 }
        };
        (task.steps.iter().map(run).sum::<u64>(), recording.counts.impossible_runtimes)
    };
    assert_eq!(replayed(1_200_000), (2_201, 0), "the kernel is believed, and a microsecond to the switch");
    assert_eq!(replayed(2_000_000 | 1 << 50), (3_001, 1), "not that it ran for 13 days");
}
