//! Why interrupts wake tasks, from the events of devices, timers and the network.

use super::super::{Changed, Override};
use super::check;
use super::play::{Run, replay};
use scheduler::Nanos;

/// Two processes write at once: a's request is done within 30 µs, that of b, which a worker finishes,
/// within 60.
const TWO_WRITES: &str = "0   0 idle R a
     3   1 idle R kworker/0:1
     5   1 kworker/0:1 I b
     20  0 a issues WS:64
     25  0 a D idle
     30  1 b issues WS:128
     40  1 b D idle
     49  0 irq@idle handles
     50  0 irq@idle handled
     50  0 softirq@idle enters BLOCK
     50  0 softirq@idle completes WS:64
     51  0 softirq@idle wakes a
     52  0 softirq@idle leaves BLOCK
     55  0 idle R a
     60  0 a S idle
     89  0 irq@idle handles
     90  0 irq@idle handled
     90  0 softirq@idle enters BLOCK
     90  0 softirq@idle completes WS:128
     95  0 softirq@idle wakes kworker/0:1
     96  0 softirq@idle leaves BLOCK
     98  0 idle R kworker/0:1
     100 0 kworker/0:1 wakes b
     105 0 kworker/0:1 I b
     110 0 b S idle";

#[test]
fn a_request_takes_the_time_from_its_issue_to_its_completion() {
    let recording = check(
        TWO_WRITES,
        &[
            "a runnable on 0: 20, ask 254,0 for 30 for a, 5, sleep till served, 5, sleep on",
            "kworker/0:1 runnable on 1: 2, work 0 when served, 2, wake b, 5, sleep on",
            "b runnable on 1: 25, ask 254,0 for 60 for kworker/0:1 for 0, 10, sleep, 5, sleep on",
        ],
    );
    assert_eq!((recording.counts.by_named_device, recording.counts.by_device), (2, 0));
    assert_eq!(recording.objects.devices[0].at_once, 2, "it had both at once");
    // Without these events the wait begins when the task sleeps.
    let sched: String = TWO_WRITES
        .lines()
        .filter(|l| !l.contains("issues") && !l.contains("completes"))
        .fold(String::new(), |mut text, line| {
            text += line;
            text.push('\n');
            text
        });
    let nameless = check(
        &sched,
        &[
            "a runnable on 0: 25, ask for 26 for a, sleep till served, 5, sleep on",
            "kworker/0:1 runnable on 1: 2, work 0 when served, 2, wake b, 5, sleep on",
            "b runnable on 1: 35, ask for 55 for kworker/0:1 for 0, sleep, 5, sleep on",
        ],
    );
    assert_eq!((nameless.counts.by_named_device, nameless.counts.by_device), (0, 1));
}

#[test]
fn a_device_serves_no_more_at_once_than_it_did() {
    // b asks long after a has been answered.
    let one_after_the_other = "0    0 idle R a
         0    1 idle R b
         1000 0 a issues WS:64
         1000 0 a D idle
         1300 0 softirq@idle enters BLOCK
         1300 0 softirq@idle completes WS:64
         1300 0 softirq@idle wakes a
         1300 0 softirq@idle leaves BLOCK
         1300 0 idle R a
         1400 0 a S idle
         2000 1 b issues WS:128
         2000 1 b D idle
         2300 1 softirq@idle enters BLOCK
         2300 1 softirq@idle completes WS:128
         2300 1 softirq@idle wakes b
         2300 1 softirq@idle leaves BLOCK
         2300 1 idle R b
         2400 1 b S idle";
    // Where a is late, b finds the device at work.
    let late = Nanos::from_micros(950);
    let named = Run::delayed(&replay(one_after_the_other), 2, late);
    assert_eq!((named.wakeups("a"), named.wakeups("b")), (vec![2250], vec![2550]));
    let sched: Vec<&str> =
        one_after_the_other.lines().filter(|l| !l.contains("issues") && !l.contains("completes")).collect();
    let nameless = Run::delayed(&replay(&sched.join("\n")), 2, late);
    assert_eq!((nameless.wakeups("a"), nameless.wakeups("b")), (vec![2250], vec![2300]));
}

/// A sleep in state D, from 100 to 400 µs, that ends in this kind of interrupt between these two events.
fn asleep(by: &str, before: &str, after: &str) -> String {
    format!(
        "0   0 idle R a
         100 0 a D idle
         400 0 {by}@idle {before}
         400 0 {by}@idle wakes a
         401 0 {by}@idle {after}
         402 0 idle R a
         500 0 a S idle"
    )
}

#[test]
fn a_sleep_that_a_timer_ends_waits_for_no_device() {
    let timer = ["a runnable on 0: 100, sleep for 300, 98, sleep on"];
    let recording = check(&asleep("irq", "expires hrtimer_wakeup", "expired"), &timer);
    assert_eq!((recording.counts.by_shown_timer, recording.counts.by_device), (1, 0));
    check(&asleep("softirq", "wheel process_timeout", "turned"), &timer);
    // A timer that calls something else is not the task's own.
    check(
        &asleep("irq", "expires timerfd_tmrproc", "expired"),
        &["a runnable on 0: 100, sleep till irq at 400, 98, sleep on"],
    );
    let device = ["a runnable on 0: 100, ask for 300 for a, sleep till served, 98, sleep on"];
    check(&asleep("irq", "handles", "handled"), &device);
    check(&asleep("softirq", "enters BLOCK", "leaves BLOCK"), &device);
}

/// A thread of the kernel that sleeps ten times in state D, for so many µs.
fn poller(slept: impl Fn(u64) -> u64) -> (u64, u64) {
    let mut script = String::from("0 0 idle R a\n");
    let mut now = 100;
    for n in 0..10 {
        let woken = now + slept(n);
        script += &format!("{now} 0 a D idle\n{woken} 0 irq@idle wakes a\n{woken} 0 idle R a\n");
        now = woken + 20 + n * n * 37 % 90;
    }
    let counts = replay(&script).recording().counts;
    (counts.by_relative_timer, counts.by_device)
}

#[test]
fn equal_sleeps_in_state_d_are_a_timers_unless_a_device_is_as_fast() {
    assert_eq!(poller(|n| 5_000 + n % 3 * 10), (10, 0));
    assert_eq!(poller(|n| 5_000 + n * 700), (0, 10));
    assert_eq!(poller(|n| 90 + n % 3), (0, 10));
}

#[test]
fn a_packet_over_the_loopback_device_wakes_its_receiver_when_it_is_sent() {
    let inline = "0  0 idle R a
         1  1 idle R b
         2  1 b S idle
         50 0 a sends lo
         51 0 softirq@a enters NET_RX
         52 0 softirq@a receives lo
         53 0 softirq@a wakes b on 1
         54 0 softirq@a leaves NET_RX
         60 0 a S idle
         70 1 idle R b
         80 1 b S idle";
    let recording = check(
        inline,
        &["a runnable on 0: 53, wake b elsewhere, 7, sleep on", "b runnable on 1: 1, sleep, 10, sleep on"],
    );
    assert_eq!((recording.counts.by_loopback, recording.counts.by_network), (1, 0));
    // The kernel may leave it to its own thread to receive it.
    let later = "0  0 idle R a
         1  1 idle R b
         2  1 b S idle
         50 0 a sends lo
         60 0 a S ksoftirqd/0
         61 0 softirq@ksoftirqd/0 enters NET_RX
         62 0 softirq@ksoftirqd/0 receives lo
         63 0 softirq@ksoftirqd/0 wakes b on 1
         64 0 softirq@ksoftirqd/0 leaves NET_RX
         65 0 ksoftirqd/0 S idle
         70 1 idle R b
         80 1 b S idle";
    check(
        later,
        &[
            "a runnable on 0: 50, wake b elsewhere, 10, sleep on",
            "b runnable on 1: 1, sleep, 10, sleep on",
            "ksoftirqd/0 runnable on 0: 5, sleep on",
        ],
    );
    // Nothing shows the sender.
    let silent: Vec<&str> = inline.lines().filter(|line| !line.contains(" lo")).collect();
    let recording = check(
        &silent.join("\n"),
        &["a runnable on 0: 60, sleep on", "b runnable on 1: 1, sleep till irq at 53 on 0, 10, sleep on"],
    );
    assert_eq!((recording.counts.by_loopback, recording.counts.by_network), (0, 1));
}

#[test]
fn a_system_call_shows_the_sender_where_no_packet_does() {
    let script = "0  0 idle R a
         1  1 idle R b
         2  1 b S idle
         50 0 a calls sendto
         51 0 softirq@a enters NET_RX
         53 0 softirq@a wakes b on 1
         54 0 softirq@a leaves NET_RX
         55 0 a returns sendto
         60 0 a S idle
         70 1 idle R b
         80 1 b S idle";
    check(
        script,
        &["a runnable on 0: 53, wake b elsewhere, 7, sleep on", "b runnable on 1: 1, sleep, 10, sleep on"],
    );
    // A device interrupts the call: the packet is another machine's.
    let device = "50 0 irq@a handles\n 50 0 irq@a handled\n 51 0 softirq@a enters";
    check(
        &script.replace("51 0 softirq@a enters", device),
        &["a runnable on 0: 60, sleep on", "b runnable on 1: 1, sleep till irq at 53 on 0, 10, sleep on"],
    );
}

const ASKED_AND_UNASKED: &str = "0   0 idle R a
     50  0 a sends eth0
     60  0 a S idle
     250 0 irq@idle handles
     251 0 irq@idle handled
     252 0 softirq@idle enters NET_RX
     253 0 softirq@idle receives eth0
     260 0 softirq@idle wakes a
     261 0 softirq@idle leaves NET_RX
     265 0 idle R a
     270 0 a S idle
     852 0 softirq@idle enters NET_RX
     853 0 softirq@idle receives eth0
     860 0 softirq@idle wakes a
     861 0 softirq@idle leaves NET_RX
     865 0 idle R a
     870 0 a S idle";

#[test]
fn what_comes_after_a_task_has_sent_something_is_the_answer() {
    let recording = check(
        ASKED_AND_UNASKED,
        &["a runnable on 0: 50, ask eth0 for 210 for a, 10, sleep till served, 5, sleep till irq at 860, \
             5, sleep on"],
    );
    assert_eq!((recording.counts.by_response, recording.counts.by_network), (1, 1));
    // The answer comes so long after the question, whenever that is asked.
    let late = Run::delayed(&replay(ASKED_AND_UNASKED), 1, Nanos::from_micros(300));
    assert_eq!(late.wakeups("a"), [560, 860]);
    let other_way = ASKED_AND_UNASKED.replace("sends eth0", "sends eth1");
    check(&other_way, &["a runnable on 0: 60, sleep till irq at 260, 5, sleep till irq at 860, 5, sleep on"]);
}

#[test]
fn a_thread_may_hear_the_answer_to_another_ones_question() {
    let script = "0   0 idle R b
         5   0 b S a
         50  0 a sends eth0
         60  0 a S idle
         250 0 irq@idle handles
         252 0 softirq@idle enters NET_RX
         253 0 softirq@idle receives eth0
         260 0 softirq@idle wakes b
         265 0 idle R b
         270 0 b S idle";
    let mut trace = super::trace(script);
    let programs = |trace: &trace::Trace| super::programs(&super::Recording::extract(trace));
    let strangers = programs(&trace);
    assert_eq!(strangers[0], "b runnable on 0: 5, sleep till irq at 260, 5, sleep on");
    for (pid, thread) in &mut trace.threads {
        thread.tgid = Some(if *pid == trace::Pid::IDLE { *pid } else { trace::Pid(97) });
    }
    assert_eq!(
        programs(&trace),
        [
            "b runnable on 0: 5, sleep till served, 5, sleep on",
            "a runnable on 0: 45, ask eth0 for 210 for b, 10, sleep on",
        ]
    );
}

#[test]
fn interrupts_are_known_by_their_events_where_an_event_does_not_say_where_it_happened() {
    let script = "0  0 idle R a
         1  1 idle R b
         2  1 b S idle
         50 0 ?@a handles
         51 0 ?@a wakes b on 1
         52 0 ?@a handled
         55 1 idle R b
         57 1 b S idle
         60 0 a S idle";
    check(
        script,
        &[
            "a runnable on 0: 51, irq, 9, sleep on",
            "b runnable on 1: 1, sleep till irq at 51 on 0, 2, sleep on",
        ],
    );
    let silent: Vec<&str> = script.lines().filter(|line| !line.contains("handle")).collect();
    let recording = check(
        &silent.join("\n"),
        &["a runnable on 0: 51, wake b elsewhere, 9, sleep on", "b runnable on 1: 1, sleep, 2, sleep on"],
    );
    assert_eq!(recording.counts.context_guessed, 1);
}

#[test]
fn a_worker_that_asks_for_others_runs_on_a_machine_without_its_cpu_too() {
    let script = "0  0 idle R a
         0  1 idle R kworker/1:1H
         5  1 kworker/1:1H I idle
         20 0 a wakes kworker/1:1H on 1
         25 0 a D idle
         30 1 idle R kworker/1:1H
         40 1 kworker/1:1H issues WS:64
         50 1 kworker/1:1H I idle
         80 0 softirq@idle enters BLOCK
         80 0 softirq@idle completes WS:64
         81 0 softirq@idle wakes a
         82 0 softirq@idle leaves BLOCK
         85 0 idle R a
         90 0 a S idle";
    let recording = check(
        script,
        &[
            "a runnable on 0: 20, wake kworker/1:1H for 0 elsewhere, 5, sleep till served, 5, sleep on",
            "kworker/1:1H runnable on 1: 5, work 0, 10, ask 254,0 for 40 for a, 10, sleep on",
        ],
    );
    assert_eq!(recording.counts.by_named_device, 1);
    // One after the other: 5 µs of the worker, 25 of a, 10 of the worker; then the device's 40.
    assert_eq!(Run::of(&replay(script), 1).wakeups("a"), [80]);
    // Without its own work it asks at once, when a wakes it.
    let without = Override { whom: "kworker*".parse().expect("a task"), what: Changed::Without };
    assert_eq!(Run::of(&replay(script).with_overrides(&[without]), 2).wakeups("a"), [60]);
}

#[test]
fn the_ticks_own_timer_shows_the_ticks_and_timers_of_the_wheel_expire_in_them() {
    let mut script = String::from("0 0 idle R a\n 10 0 a S idle\n");
    for n in 0..40 {
        let tick = 1_000 + 4_000 * n;
        script += &format!("{tick} 0 irq@idle expires tick_nohz_handler\n{tick} 0 irq@idle expired\n");
        let function = match n {
            5 => "delayed_work_timer_fn",
            9 => "process_timeout",
            _ => continue,
        };
        // So late that without its event nothing would make it the tick's.
        let late = tick + 900;
        script += &format!(
            "{late} 0 softirq@idle enters TIMER
             {late} 0 softirq@idle wheel {function}
             {late} 0 softirq@idle wakes a
             {late} 0 softirq@idle turned
             {late} 0 softirq@idle leaves TIMER
             {late} 0 idle R a
             {} 0 a D idle\n",
            late + 20
        );
    }
    let recording = check(
        &script,
        &["a runnable on 0: 10, sleep till tick at 21000, 20, sleep till tick at 37000, 20, sleep on"],
    );
    assert_eq!((recording.hz, recording.ticks_at), (Some(250), vec![Nanos::from_micros(1_000); 2]));
}

/// All that is known of b is that it asks: it is not replayed, so its request cannot end a's wait.
#[test]
fn nobody_waits_for_a_request_that_is_not_replayed() {
    let script = "0   0 idle R a
         5   0 a waking b on 1
         10  1 b issues WS:64
         20  0 a D idle
         50  0 softirq@idle enters BLOCK
         50  0 softirq@idle completes WS:64
         50  0 softirq@idle wakes a
         50  0 softirq@idle leaves BLOCK
         55  0 idle R a
         60  0 a S idle";
    assert_eq!(Run::of(&replay(script), 2).wakeups("a"), [50]);
}
