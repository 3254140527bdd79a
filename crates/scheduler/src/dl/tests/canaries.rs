//! One thing of the class is broken on purpose, and the alarm with the right number must go off
//! (deadline-groups A15).

use super::ms;
use crate::check::tests::{Watched, state_alarms};
use crate::dl::cbs::Budget;
use crate::rq::Resched;
use crate::testing::{Lab, deadline};
use crate::{CpuId, CpuMask, Event, Nanos, Policy, Reason, TaskId};

const CPU0: CpuId = CpuId(0);

/// Of two deadline tasks of one CPU, the later one, which waits.
fn waiting() -> (Lab, TaskId) {
    let lab = Lab::new(1, "6.1.y", &[]);
    lab.spawn(deadline(10, 50, 100), 0);
    let later = lab.spawn(deadline(10, 80, 100), 0);
    assert_eq!(state_alarms(&lab), [""; 0]);
    (lab, later)
}

/// The checker is told that a task has run for `ran` again and again, without ever being throttled: the
/// number of the time at which it raises the alarm.
fn told_to_run(policy: Policy, ran: Nanos, settings: &[&str]) -> Option<u64> {
    let lab = Lab::new(1, "6.1.y", settings);
    let mut watched = Watched::new(&lab);
    let p = lab.spawn(policy, 0);
    watched.tell(Event::WakeupNew { task: p, target: CPU0 });
    (1..1_000).find(|_| {
        lab.advance(ran);
        watched.raises(Event::StatRuntime { task: p, runtime: ran, vruntime: 0 }, "deadline-groups DA1")
    })
}

/// One step of 4 ms may overrun. Of time t 10/100 may have had 14 + t/10 ms before the latest, 10/50/100
/// 14 ms in its first 100 ms, and by the first wakeup rule 10 + 4 × 2 + t/5. Who reclaims is charged 0.42 of
/// 4 ms at least (104857 × 269 / 2^28 of them), and may have 10.42 + t/10.
#[test]
fn da1_a_budget_that_does_not_end() {
    let told = |policy, settings| told_to_run(policy, ms(4), settings);
    assert_eq!(told(deadline(10, 100, 100), &[]), Some(6), "20 ms of 24, which allow 16.4");
    assert_eq!(told(deadline(10, 50, 100), &[]), Some(5), "16 ms of 20, which allow 14");
    assert_eq!(told(deadline(10, 50, 100), &["dl_wakeup=cbs"]), Some(7), "24 ms of 28, which allow 23.6");
    let Policy::Deadline(params) = deadline(10, 100, 100) else { panic!("a deadline task") };
    assert_eq!(
        told(Policy::Deadline(params.reclaiming()), &[]),
        Some(534),
        "224.024 ms, which 224.020 allow"
    );
}

/// A task that is on its way out of the kernel, throttled, owes what it runs for there: 12 ms in three steps
/// are one overrun, and what the next budget is charged with.
#[test]
fn da1_what_was_run_for_on_the_way_out_is_overrun() {
    let lab = Lab::new(1, "6.1.y", &[]);
    let mut watched = Watched::new(&lab);
    let p = lab.spawn(deadline(10, 100, 100), 0);
    watched.tell(Event::WakeupNew { task: p, target: CPU0 });
    let ran = || {
        lab.advance(ms(4));
        Event::StatRuntime { task: p, runtime: ms(4), vruntime: 0 }
    };
    (0..3).for_each(|_| watched.tell(ran()));
    lab.k.task(p).dl.throttled.set(true);
    (0..2).for_each(|_| watched.tell(ran()));
    lab.k.task(p).dl.throttled.set(false);
    let mut raises = || watched.raises(ran(), "deadline-groups DA1");
    // 12 ms were overrun in all: 20 of 24 ms, and 24 of 28, which allow 24.4 and 24.8; 28 of 32 are too many.
    assert!(!raises() && !raises() && raises());
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
