//! One rule each.

use super::{check, trace};
use crate::replay::{Begin, Recording};

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
fn a_lazy_request_acts_on_the_way_out_of_the_kernel() {
    check(
        "0    0 idle R a
         2000 0 a wakes b
         2010 0 lazy@a wakes c
         2100 0 a S b
         2200 0 b S c
         2300 0 c S idle",
        &[
            "a runnable on 0: 2000, wake b, 10, wake c too, 90, sleep on",
            "b asleep: sleep, 100, sleep on",
            "c asleep: sleep, 100, sleep on",
        ],
    );
}

/// What a tells of itself in a script in which it wakes so many, so many µs after each other.
fn wakes(flags: &str, number: u64, apart_us: u64) -> String {
    let names = ["b", "c", "d", "e", "f"];
    let mut script = "0 0 idle R a\n".to_owned();
    let (mut at, mut runs) = (1000, "a");
    for name in &names[..number as usize] {
        script += &format!("{at} 0 {flags}a wakes {name}\n");
        at += apart_us;
    }
    for (n, name) in (0..).zip(&names[..number as usize]) {
        script += &format!("{} 0 {runs} S {name}\n", 2000 + n);
        runs = name;
    }
    script += &format!("3000 0 {runs} S idle");
    super::programs(&super::super::Recording::extract(&super::trace(&script))).swap_remove(0)
}

#[test]
fn wakeups_close_together_are_one_call_where_no_flags_tell() {
    let apart = |us| wakes("?@", 3, us);
    assert_eq!(apart(4), "a runnable on 0: 1000, wake b, 4, wake c too, 4, wake d too, 992, sleep on");
    assert_eq!(apart(5), "a runnable on 0: 1000, wake b, 5, wake c, 5, wake d, 990, sleep on");
}

#[test]
fn many_wakeups_close_together_are_one_call_although_none_asks_for_a_preemption() {
    assert_eq!(
        wakes("", 4, 1),
        "a runnable on 0: 1000, wake b, 1, wake c too, 1, wake d too, 1, wake e too, 997, sleep on"
    );
    assert_eq!(
        wakes("", 4, 2),
        "a runnable on 0: 1000, wake b, 2, wake c, 2, wake d, 2, wake e, 994, sleep on"
    );
    assert_eq!(wakes("", 3, 1), "a runnable on 0: 1000, wake b, 1, wake c, 1, wake d, 998, sleep on");
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

/// Two hogs by turns: at the ticks of 250 Hz, as far as the recording can tell.
#[test]
fn without_wakeups_nobody_knows_who_left_at_a_tick() {
    let turn = |n: u64| {
        let [from, to] = if n.is_multiple_of(2) { ["a", "b"] } else { ["b", "a"] };
        format!("{} 0 {from} R+ {to}\n", 4_000 * (n * n % 977 + n * 1_000))
    };
    let turns: String = (1..=120).map(turn).collect();
    let mut recorded = trace(&format!("0 0 idle R a\n{turns}"));
    assert!(recorded.events.iter().any(|event| event.kind.is_wakeup()));
    assert_eq!(Recording::extract(&recorded).hz, Some(250));
    let all = std::mem::take(&mut recorded.events);
    for event in all.into_iter().filter(|event| !event.kind.is_wakeup()) {
        recorded.events.push(event);
    }
    assert_eq!(Recording::extract(&recorded).hz, None);
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
