//! One thing of the class is broken on purpose, and the alarm with the right number must go off
//! (deadline-groups A15).

use super::ms;
use crate::check::tests::{Watched, state_alarms};
use crate::dl::cbs::Budget;
use crate::rq::Resched;
use crate::testing::{Lab, deadline};
use crate::{CpuId, CpuMask, Event, Reason, TaskId};

const CPU0: CpuId = CpuId(0);

/// Of two deadline tasks of one CPU, the later one, which waits.
fn waiting() -> (Lab, TaskId) {
    let lab = Lab::new(1, "6.1.y", &[]);
    lab.spawn(deadline(10, 50, 100), 0);
    let later = lab.spawn(deadline(10, 80, 100), 0);
    assert_eq!(state_alarms(&lab), [""; 0]);
    (lab, later)
}

#[test]
fn da1_a_throttled_task_that_runs_on() {
    let lab = Lab::new(1, "6.1.y", &[]);
    let p = lab.spawn(deadline(10, 50, 100), 0);
    lab.advance(ms(11));
    lab.tick(0);
    assert!(lab.idle(0) && lab.k.task(p).dl.is_throttled());
    assert_eq!(state_alarms(&lab), [""; 0]);
    lab.run(lab.cpu(0).lock(CPU0)).curr = p;
    assert!(state_alarms(&lab).contains(&"deadline-groups DA1"));
}

#[test]
fn da2_a_task_whose_deadline_the_tree_does_not_know() {
    let (lab, later) = waiting();
    let e = &lab.k.task(later).dl;
    let budget = e.budget();
    e.set_budget(Budget { deadline: budget.deadline + ms(1), ..budget });
    assert_eq!(state_alarms(&lab), ["deadline-groups DA2"]);
    e.set_budget(Budget { runtime: 10_000_001, ..budget });
    assert_eq!(state_alarms(&lab), ["deadline-groups DA2"], "more than its run time");
}

#[test]
fn da2_a_throttled_task_in_the_tree() {
    let (lab, later) = waiting();
    lab.k.task(later).dl.throttled.set(true);
    assert!(state_alarms(&lab).contains(&"deadline-groups DA2"));
}

#[test]
fn da3_a_promise_to_nobody() {
    let (lab, later) = waiting();
    lab.k.root_domain(CPU0).dl.total.set(104_857);
    assert_eq!(state_alarms(&lab), ["deadline-groups DA3"], "two tasks of 104857 are assigned to it");
    lab.k.root_domain(CPU0).dl.total.set(2 * 104_857);
    lab.k.task(later).dl.own.set(None);
    assert_eq!(state_alarms(&lab), [""; 0], "less than is assigned may be asked for: it fades");
}

#[test]
fn da5_a_deadline_task_that_others_do_not_see() {
    let (lab, _) = waiting();
    lab.k.rq(CPU0).published.dl_nr_running.overwrite(1);
    assert_eq!(state_alarms(&lab), ["deadline-groups DA5"]);
}

#[test]
fn da6_the_later_deadline_runs() {
    let lab = Lab::new(1, "6.1.y", &[]);
    lab.spawn(deadline(10, 80, 100), 0);
    lab.spawn_unsettled(deadline(10, 50, 100), 0, 0, CpuMask::single(CPU0));
    lab.k.rq(CPU0).published.resched.overwrite(Resched::No);
    assert!(state_alarms(&lab).contains(&"deadline-groups DA6"));
}

/// A push or a pull to where an earlier deadline is queued, or an equal one.
#[test]
fn da7_a_move_to_an_earlier_deadline() {
    let lab = Lab::new(2, "6.1.y", &[]);
    lab.spawn(deadline(10, 50, 100), 0);
    lab.spawn(deadline(10, 60, 100), 1);
    let p = lab.spawn(deadline(10, 80, 100), 0);
    let mut watched = Watched::new(&lab);
    for reason in [Reason::DlPushed, Reason::DlPulled] {
        for (deadline, is_late) in [(ms(59), false), (ms(60), true), (ms(80), true)] {
            let e = &lab.k.task(p).dl;
            e.set_budget(Budget { deadline, ..e.budget() });
            watched.tell(Event::Migrate { task: p, orig: CPU0, dest: CpuId(1) });
            let raised = watched.raises(Event::Decision { task: p, reason }, "deadline-groups DA7");
            assert_eq!(raised, is_late, "{reason:?} {deadline}");
        }
    }
}

#[test]
fn da8_who_is_lent_a_deadline_is_not_throttled() {
    let (lab, later) = waiting();
    let e = &lab.k.task(later).dl;
    e.donor.set(e.own_params());
    assert_eq!(state_alarms(&lab), [""; 0]);
    e.throttled.set(true);
    assert!(state_alarms(&lab).contains(&"deadline-groups DA8"));
}
