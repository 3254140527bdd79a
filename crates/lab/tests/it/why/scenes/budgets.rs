//! Budgets that are used up.

use super::{preempted, sleeper};
use crate::why::scene::{Scene, fifo, ms, us};
use lab::machine::{GroupSpec, QuotaSpec, RtLimitSpec, Step};
use scheduler::{DlParams, Nanos, Policy};
use schema::why::{Budget, Cause, Due};
use schema::{LogBudget, LogEvent, LogRecord};

#[test]
fn real_time_tasks_that_have_used_up_their_time() {
    let mut scene = Scene::new(1);
    scene.settings = vec!["sched_rt_period_us=10000", "sched_rt_runtime_us=5000"];
    scene.on(0, "hog", fifo(50), [Step::Compute(ms(8))]);
    scene.on(0, "fair", Policy::Normal, [Step::Compute(ms(50))]);
    scene.on(0, "victim", fifo(60), sleeper(us(7_300)));
    let causes = scene.causes("victim");
    let Cause::Throttled { budget: Budget::RealTime {}, until: Some(until) } = causes[0].0 else {
        panic!("{causes:?}")
    };
    assert_eq!((until.0, causes.len(), causes[0].1), (10_000_000, 1, 2_700_000));
}

/// deadline-groups B9: those of its group have, and not the others of the CPU.
#[test]
fn real_time_tasks_of_a_group_that_have_used_up_their_time() {
    let mut scene = Scene::new(1);
    scene.settings = vec!["rt_throttle=groups"];
    let rt = Some(RtLimitSpec { runtime: Some(ms(5)), period: Some(ms(10)) });
    let audio = scene.setup.group(GroupSpec { rt, ..GroupSpec::new("audio") });
    scene.task("hog", fifo(50), [Step::Compute(ms(8))], |task| task.group = Some(audio));
    scene.on(0, "fair", Policy::Normal, [Step::Compute(ms(50))]);
    scene.task("victim", fifo(60), sleeper(us(7_300)), |task| task.group = Some(audio));
    let causes = scene.causes("victim");
    let Cause::Throttled { budget: Budget::RtGroup { group }, until: Some(until) } = &causes[0].0 else {
        panic!("{causes:?}")
    };
    assert_eq!((&**group, until.0, causes.len(), causes[0].1), ("audio", 10_000_000, 1, 2_700_000));
}

#[test]
fn a_deadline_task_that_comes_behind_its_deadline() {
    let scene = || {
        let mut scene = Scene::new(1);
        let policy = Policy::Deadline(DlParams::new(ms(5), ms(20), ms(50)).expect("legal"));
        let steps = [Step::Compute(ms(3)), Step::SleepUntil(us(30_300)), Step::Compute(ms(1))];
        scene.on(0, "victim", policy, steps);
        scene
    };
    let causes = scene().causes("victim");
    let Cause::Throttled { budget: Budget::Deadline {}, until: Some(until) } = causes[0].0 else {
        panic!("{causes:?}")
    };
    assert_eq!((until.0, causes.len(), causes[0].1), (50_000_000, 1, 19_700_000));
    // From its wakeup to its next period, of which no decision tells the beginning.
    let told: Vec<(u64, bool)> = scene().log().records.iter().filter_map(budget_of_deadline).collect();
    assert_eq!(told, [(30_300_000, true), (50_000_000, false)]);
}

/// It works for 3 of 5 ms, sleeps, and has 2 ms left of a period that ends at 50 ms.
#[test]
fn a_deadline_task_that_uses_its_budget_up() {
    let mut scene = Scene::new(1);
    let policy = Policy::Deadline(DlParams::new(ms(5), ms(50), ms(50)).expect("legal"));
    scene.settings = vec!["HRTICK"];
    let steps = [Step::Compute(ms(3)), Step::SleepUntil(us(4_000)), Step::Compute(ms(3))];
    scene.on(0, "victim", policy, steps);
    let told: Vec<(u64, bool)> = scene.log().records.iter().filter_map(budget_of_deadline).collect();
    assert_eq!(told, [(6_000_000, true), (50_000_000, false)]);
}

/// When a deadline task has to wait for its next period, and when no longer.
fn budget_of_deadline(record: &LogRecord) -> Option<(u64, bool)> {
    let is_own = |budget: &LogBudget| matches!(budget, LogBudget::Deadline { .. });
    match &record.event {
        LogEvent::ThrottleBegins { budget, .. } if is_own(budget) => Some((record.time.0, true)),
        LogEvent::ThrottleEnds { budget, .. } if is_own(budget) => Some((record.time.0, false)),
        _ => None,
    }
}

#[test]
fn a_group_that_has_used_up_its_limit() {
    for kernel in ["6.1", "7.1"] {
        let mut scene = Scene::new(1);
        scene.kernel = kernel;
        let quota = Some(QuotaSpec { quota: ms(5), period: ms(20), burst: Nanos::ZERO });
        let web = scene.setup.group(GroupSpec { quota, ..GroupSpec::new("web") });
        scene.task("hog", Policy::Normal, [Step::Compute(ms(50))], |task| task.group = Some(web));
        scene.task("victim", Policy::Normal, sleeper(us(10_300)), |task| task.group = Some(web));
        let causes = scene.causes("victim");
        let Cause::Throttled { budget: Budget::Group { group: Some(group) }, until: Some(until) } =
            &causes[0].0
        else {
            panic!("{kernel}: {causes:#?}")
        };
        // The period begins at some time; the victim wakes 10.3 ms after the start, and waits for the next.
        assert_eq!((&**group, causes[0].1), ("web", until.0 - 10_300_000), "{kernel}");
        assert!(until.0 < 30_300_000, "{kernel}: {until}");
    }
}

/// One that uses the real-time tasks' time up: nobody preempts it, and it waits until they have time again.
#[test]
fn a_task_that_is_throttled_while_it_runs() {
    let mut scene = Scene::new(1);
    scene.settings = vec!["sched_rt_period_us=10000", "sched_rt_runtime_us=5000"];
    scene.on(0, "hog", fifo(50), [Step::Compute(ms(8))]);
    scene.on(0, "fair", Policy::Normal, [Step::Compute(ms(50))]);
    let waits = preempted(scene, "hog");
    let [(due, causes)] = &waits[..] else { panic!("{waits:#?}") };
    assert_eq!(*due, Due::Throttled { budget: Budget::RealTime {} });
    let [(Cause::Throttled { budget: Budget::RealTime {}, until: Some(until) }, length)] = causes[..] else {
        panic!("{causes:#?}")
    };
    // At the first tick after 5 ms, which is the one behind that of 5 ms itself.
    assert_eq!((until.0, until.0 - length), (10_000_000, 6_000_000));
}
