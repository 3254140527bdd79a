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
            "a runnable on 0: 1, wake b, wake c elsewhere, until 40000, exit",
            "b asleep: sleep, until 35000, exit",
            "c asleep: sleep, 998, sleep till irq at 25000 on 0, until 26000, exit"
        ]
    );
}
