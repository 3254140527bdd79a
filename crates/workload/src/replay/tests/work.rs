//! Work that threads of the kernel do for others, in another order than in the recording.

use super::super::{Changed, Override, Recording, TaskSelector, WorkFactor};
use super::play::{Run, replay};
use super::{check, trace};

/// For `x` the worker does one thing; for `y` another, in the midst of which it waits for `x`.
const WAITS_IN_THE_MIDST: &str = "
    0    0 idle R x
    100  0 x wakes kworker/0:1
    110  0 x S kworker/0:1
    150  0 kworker/0:1 wakes x
    160  0 kworker/0:1 I x
    200  1 idle R y
    300  1 y wakes kworker/0:1
    310  1 y S kworker/0:1
    340  1 kworker/0:1 D idle
    400  0 x wakes kworker/0:1
    410  0 x S kworker/0:1
    450  0 kworker/0:1 wakes y
    460  0 kworker/0:1 I y
    500  0 y S idle";

#[test]
fn what_waits_in_the_midst_has_a_rest() {
    let recording = check(
        WAITS_IN_THE_MIDST,
        &[
            "x runnable on 0: 100, wake kworker/0:1 for 0, 10, sleep, 240, wake kworker/0:1 for 2, 10, sleep \
             on",
            "kworker/0:1 asleep: work 0, 40, wake x, 10, work 1, 30, rest 2, 40, wake y, 10, sleep on",
            "y runnable on 1: 100, wake kworker/0:1 for 1, 10, sleep, 40, sleep on",
        ],
    );
    let read = Recording::from_text(&recording.to_text(crate::replay::Origin::default()))
        .expect("our own text")
        .recording;
    assert_eq!(read.tasks, recording.tasks);
}

/// Here `y` comes first. If the worker did nothing else while it waits for `x`, `x` would wait for it in
/// turn.
#[test]
fn a_piece_that_waits_does_not_keep_others_waiting() {
    let late = Override {
        whom: TaskSelector::Comm("x".into()),
        what: Changed::Scale(WorkFactor { millionths: 3_000_000 }),
    };
    // Of four CPUs one is free for whoever is woken.
    let run = Run::of(&replay(WAITS_IN_THE_MIDST).with_overrides(&[late]), 4);
    // `x` asks at 300, is answered after 40, and wakes the worker 720 later.
    assert_eq!(run.wakeups("y"), [300 + 40 + 720 + 40]);
    assert_eq!(run.result.bursts_completed, run.result.bursts);
}

/// The last piece of the recording, with which it ends, comes before the first here.
#[test]
fn who_ends_with_the_recording_still_does_what_comes_later() {
    let script = "
        0    0 idle R x
        0    1 idle R y
        100  0 x wakes kworker/0:1
        110  0 x S kworker/0:1
        150  0 kworker/0:1 wakes x
        160  0 kworker/0:1 I x
        200  0 x S idle
        300  1 y wakes kworker/0:1 on 0
        310  1 y S idle";
    let late = Override {
        whom: TaskSelector::Comm("x".into()),
        what: Changed::Scale(WorkFactor { millionths: 5_000_000 }),
    };
    let run = Run::of(&replay(script).with_overrides(&[late]), 2);
    // `x` leaves the worker's CPU 50 after it has asked.
    assert_eq!(run.wakeups("x"), [500 + 50 + 40]);
    assert_eq!(run.result.bursts_completed, run.result.bursts);
}

/// A disk answers before the piece of work gets to where it would wait for it.
#[test]
fn what_has_come_already_is_not_waited_for() {
    let script = "
        0    0 idle R x
        10   0 x wakes kworker/0:1
        20   0 x S kworker/0:1
        50   0 kworker/0:1 issues WS:64
        90   0 kworker/0:1 D idle
        150  0 irq@idle handles
        150  0 irq@idle completes WS:64
        150  0 irq@idle wakes kworker/0:1
        151  0 irq@idle handled
        160  0 idle R kworker/0:1
        170  0 kworker/0:1 wakes x
        180  0 kworker/0:1 I x
        190  0 x S idle";
    let programs = super::programs(&Recording::extract(&trace(script)));
    assert_eq!(
        programs[1],
        "kworker/0:1 asleep: work 0, 30, ask 254,0 for 100 for kworker/0:1 for 1, 40, rest 1 when served, \
         10, wake x, 10, sleep on"
    );
    let times = |factor| {
        let work = Override {
            whom: TaskSelector::Comm("kworker/0:1".into()),
            what: Changed::Scale(WorkFactor { millionths: factor }),
        };
        Run::of(&replay(script).with_overrides(&[work]), 1).wakeups("x")
    };
    assert_eq!(times(1_000_000), [160]);
    // It asks at 10 + 10 + 90 µs, and after 120 more it has not to wait for what was there after 100: 30
    // more.
    assert_eq!(times(3_000_000), [260]);
}

/// The disk answers `x`, and while the worker is busy with that, `y`.
fn two_answers(starts: &str) -> String {
    format!(
        "0    0 idle R x
         0    1 idle R y
         10   0 x issues WS:64
         11   0 x D idle
         20   1 y issues WS:128
         30   1 y D idle
         100  0 irq@idle handles
         100  0 irq@idle completes WS:64
         100  0 irq@idle wakes kworker/u4:1
         101  0 irq@idle handled
         110  0 idle R kworker/u4:1
         120  1 irq@idle handles
         120  1 irq@idle completes WS:128
         121  1 irq@idle handled
         150  0 kworker/u4:1 wakes x
         {starts}
         170  0 kworker/u4:1 wakes y on 1
         175  1 idle R y
         180  0 kworker/u4:1 I x
         195  1 y S idle
         200  0 x S idle"
    )
}

#[test]
fn a_worker_that_is_awake_takes_what_comes_without_being_woken() {
    let [x, y] = [
        "x runnable on 0: 10, ask 254,0 for 90 for kworker/u4:1 for 0, 1, sleep, 20, sleep on",
        "y runnable on 1: 20, ask 254,0 for 100 for kworker/u4:1 for 1, 10, sleep, 20, sleep on",
    ];
    let of_worker =
        |rest| format!("kworker/u4:1 asleep: work 0 when served, 40, wake x, {rest}, 10, sleep on");
    check(&two_answers(""), &[x, y, &of_worker("20, work 1 when served, wake y elsewhere")]);
    let starts = two_answers("155  0 kworker/u4:1 starts");
    check(&starts, &[x, y, &of_worker("5, work 1 when served, 15, wake y elsewhere")]);
}

/// Here `x` asks later.
#[test]
fn nobody_waits_for_what_only_came_first_in_the_recording() {
    let late = Override {
        whom: TaskSelector::Comm("x".into()),
        what: Changed::Scale(WorkFactor { millionths: 30_000_000 }),
    };
    let run = Run::of(&replay(&two_answers("155  0 kworker/u4:1 starts")).with_overrides(&[late]), 2);
    assert_eq!((run.wakeups("y"), run.wakeups("x")), (vec![20 + 100 + 15], vec![300 + 90 + 40]));
}
