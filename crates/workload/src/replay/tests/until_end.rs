//! Tasks that ran until a certain time, and are to do so in the replay.

use super::super::overrides::apply;
use super::super::{Changed, Override, Recording, Replay};
use super::play::{Run, replay};
use super::{programs, trace};
use schema::LogEvent;

/// Two hogs share a CPU by turns of 10 ms until both end at 40 ms; `c` sleeps in between, and works 1 ms
/// more.
const TWO_HOGS: &str = "0     0 idle R a
                        1     0 ?@a wakes b
                        1     0 ?@a wakes c on 1
                        2     1 idle R c
                        1000  1 c S idle
                        10000 0 a R b
                        20000 0 b R a
                        25000 0 irq@a wakes c on 1
                        25001 1 idle R c
                        26000 1 c X idle
                        30000 0 a R b
                        35000 0 b X a
                        40000 0 a X idle";

fn until_end(whom: &str) -> Override {
    Override { whom: whom.parse().expect("a task"), what: Changed::UntilEnd }
}

fn changed(whom: &str) -> Replay {
    replay(TWO_HOGS).with_overrides(&[until_end(whom)])
}

/// When the task ends, us of the recording.
fn exit_us(run: &Run, comm: &str) -> u64 {
    let pid = run.pid(comm);
    let exits =
        |event: &LogEvent| matches!(event, LogEvent::SchedProcessExit { task, .. } if task.pid == pid);
    let exit = run.records.iter().find(|record| exits(&record.event));
    run.us(exit.unwrap_or_else(|| panic!("{comm} does not end")))
}

/// As recorded they have 25 and 15 ms of work; on two CPUs that is done sooner, also with a millisecond of
/// `c`.
#[test]
fn a_task_computes_until_it_ended_however_much_cpu_time_it_gets() {
    let as_recorded = Run::of(&replay(TWO_HOGS), 2);
    assert_eq!(["a", "b"].map(|comm| exit_us(&as_recorded, comm).div_ceil(1000)), [25, 16]);
    for cpus in [1, 2] {
        let run = Run::of(&changed("?"), cpus);
        assert_eq!(["a", "b"].map(|comm| exit_us(&run, comm)), [40_000, 35_000], "{cpus} CPUs");
    }
}

/// What a task did before its last sleep stays its work; what it does then is one stretch.
#[test]
fn it_counts_from_the_last_sleep_on() {
    let recording = Recording::extract(&trace(TWO_HOGS));
    let changed = apply(&recording, &[until_end("?")]);
    assert_eq!(
        programs(&changed),
        [
            "a runnable on 0: 1, wake b, wake c elsewhere too, until 40000, exit",
            "b asleep: sleep, until 35000, exit",
            "c asleep: sleep, 998, sleep till irq at 25000 on 0, until 26000, exit"
        ]
    );
}

/// On one CPU the hogs of two, with four times the work, stop when they stopped; the wakeup at the end stays.
#[test]
fn a_task_that_gets_less_cpu_time_does_less() {
    let both = "0     0 idle R a
                1     0 ?@a wakes b on 1
                2     1 idle R b
                30000 1 b X idle
                39000 0 a wakes c
                39050 0 a R c
                39060 0 c S a
                40000 0 a X idle";
    let run = Run::of(&replay(both).with_overrides(&[until_end("[ab]")]), 1);
    assert_eq!(exit_us(&run, "b"), 30_000);
    assert!((40_000..=41_000).contains(&exit_us(&run, "a")), "{}", exit_us(&run, "a"));
    assert_eq!(run.wakeups("c").last().map(|us| us.abs_diff(39_000) <= 1_000), Some(true));
}

/// Who slept when the recording ended did not run until then.
#[test]
fn who_sleeps_at_the_end_stays_as_it_is() {
    let sleeper = "0     0 idle R a
                   1000  0 a S idle
                   2000  0 irq@idle wakes a
                   2001  0 idle R a
                   3000  0 a S idle
                   9000  0 idle R b
                   9500  0 b X idle";
    let recording = Recording::extract(&trace(sleeper));
    assert_eq!(programs(&apply(&recording, &[until_end("a")])), programs(&recording));
}
