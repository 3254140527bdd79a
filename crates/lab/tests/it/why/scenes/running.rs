//! Somebody else runs, and why the task has to wait for that.

use super::{preempted, sleeper, who};
use crate::why::scene::{BEGIN, Scene, fifo, ms, us};
use lab::machine::{ChannelSpec, Step};
use scheduler::{CpuMask, DlParams, Nanos, Policy};
use schema::why::{Cause, Due, Precedence, WhyAlternative};

/// A victim that should run after a millisecond of one that runs for two.
fn behind(policy: Policy, victim: Policy) -> Vec<(Cause, u64)> {
    let mut scene = Scene::new(1);
    scene.on(0, "victim", victim, sleeper(us(2_300)));
    scene.on(0, "runs", policy, [Step::SleepUntil(BEGIN), Step::SpinUntil(us(3_300))]);
    scene.causes("victim")
}

fn deadline(runtime: Nanos, deadline: Nanos) -> Policy {
    Policy::Deadline(DlParams::new(runtime, deadline, ms(50)).expect("legal"))
}

#[test]
fn a_running_task_goes_before() {
    let running = |prio, precedence| Cause::Running {
        task: who(1, "runs", prio),
        since: schema::Nanos(1_300_000),
        precedence,
    };
    let cases = [
        (fifo(60), fifo(50), 39, Precedence::HigherPriority),
        (fifo(50), fifo(50), 49, Precedence::SamePriority),
        (fifo(50), Policy::Normal, 49, Precedence::Class),
        (deadline(ms(10), ms(20)), fifo(99), -1, Precedence::Class),
        (deadline(ms(10), ms(20)), deadline(ms(10), ms(40)), -1, Precedence::EarlierDeadline),
    ];
    for (runs, victim, prio, precedence) in cases {
        assert_eq!(behind(runs, victim), [(running(prio, precedence), 1_000_000)], "{precedence:?}");
    }
    assert_eq!(behind(fifo(50), fifo(60)), [], "it is preempted");
}

#[test]
fn a_fair_task_that_is_not_to_be_preempted() {
    let mut scene = Scene::new(1);
    scene.settings.push("NO_WAKEUP_PREEMPTION");
    scene.on(0, "victim", Policy::Normal, sleeper(us(2_200)));
    scene.on(0, "hog", Policy::Normal, [Step::SpinUntil(us(2_500)), Step::Exit]);
    let causes = scene.causes("victim");
    let Cause::Running { task, precedence: Precedence::Fair, .. } = &causes[0].0 else {
        panic!("{causes:?}")
    };
    assert_eq!((&*task.comm, causes.len(), causes[0].1), ("hog", 1, 300_000));
}

/// A task woken from afar, between two ticks of the CPU whose task is to make room for it.
fn woken_beside_an_idle_one(model: &'static str) -> Vec<(Cause, u64)> {
    let mut scene = Scene::new(2);
    scene.kernel = "7.1";
    scene.settings.extend([model, "skew_tick=off"]);
    let channel = scene.setup.channel(ChannelSpec::new(1));
    scene.on(0, "victim", Policy::Normal, [Step::Receive(channel)]);
    scene.on(0, "idle", Policy::Idle, [Step::Compute(ms(20))]);
    scene.on(1, "waker", fifo(10), [Step::SpinUntil(BEGIN), Step::Send(channel)]);
    scene.causes("victim")
}

/// eevdf-class 5.1: nothing tells the other CPU of a lazy request before its tick, at 2 ms.
#[test]
fn a_fair_task_that_is_asked_lazily() {
    let causes = woken_beside_an_idle_one("preempt_model=lazy");
    let Cause::Running { task, precedence: Precedence::AskedLazily, .. } = &causes[0].0 else {
        panic!("{causes:?}")
    };
    assert_eq!((&*task.comm, causes.len(), causes[0].1), ("idle", 1, 700_000));
    assert_eq!(woken_beside_an_idle_one("preempt_model=full"), [], "it is asked at once");
}

#[test]
fn a_task_in_the_kernel_that_does_not_make_room() {
    let mut scene = Scene::new(1);
    scene.on(0, "victim", fifo(50), sleeper(ms(2)));
    scene.on(0, "syscall", Policy::Normal, [Step::KernelCompute(ms(5))]);
    let causes = scene.causes("victim");
    let Cause::Running { task, precedence: Precedence::NotPreempted, .. } = &causes[0].0 else {
        panic!("{causes:?}")
    };
    assert_eq!((&*task.comm, causes.len(), causes[0].1), ("syscall", 1, 3_000_000));
}

#[test]
fn a_task_that_is_pulled_away_from_a_higher_one() {
    let mut scene = Scene::new(2);
    scene.spec.costs.enqueue = us(10);
    // Both CPUs are taken by higher ones when it wakes; that of CPU 0 sleeps first, and CPU 0 pulls.
    let everywhere = |task: &mut lab::machine::TaskSpec| task.cpus = Some(CpuMask::first_n(2));
    scene.task("victim", fifo(50), sleeper(ms(3)), everywhere);
    let sleeps_first = [Step::SleepUntil(ms(2)), Step::SpinUntil(ms(5)), Step::SleepUntil(ms(20))];
    scene.on(0, "high0", fifo(80), sleeps_first);
    scene.on(1, "high1", fifo(80), [Step::SleepUntil(ms(2)), Step::SpinUntil(ms(9))]);
    let explained = scene.explain("victim");
    let [one] = &explained[..] else { panic!("{explained:#?}") };
    let causes: Vec<_> = one.stretches.iter().map(|one| (one.cause.clone(), one.length().0)).collect();
    let high1 = Cause::Running {
        task: who(2, "high1", 19),
        since: schema::Nanos(2_010_000),
        precedence: Precedence::HigherPriority,
    };
    let moved = Cause::HandOver { from: schema::CpuId(1), to: schema::CpuId(0) };
    // It takes 10 us to queue it, here and there.
    let expected = [(Cause::WakePath {}, 10_000), (high1, 1_990_000), (moved, 10_000)];
    assert_eq!((&causes[..], one.cpu), (&expected[..], schema::CpuId(0)));
    let mut decisions = one.stretches.iter().flat_map(|stretch| &stretch.decisions);
    // CPU 0 has asked CPU 1 for it.
    let pushed = decisions.find(|decision| decision.reason == "pushed").unwrap_or_else(|| panic!("{one:#?}"));
    let stays = WhyAlternative::Cpu {
        cpu: schema::CpuId(1),
        allowed: true,
        runs: Some(who(2, "high1", 19)),
        precedence: Some(Precedence::HigherPriority),
    };
    assert_eq!(pushed.alternatives, [stays], "where it was");
}

#[test]
fn a_waker_that_waits_for_a_cpu() {
    let mut scene = Scene::new(2);
    let channel = scene.setup.channel(ChannelSpec { send_cost: us(200), ..ChannelSpec::new(1) });
    scene.on(0, "reader", fifo(50), [Step::Receive(channel)]);
    scene.on(1, "waker", fifo(10), [Step::SpinUntil(BEGIN), Step::Send(channel)]);
    scene.on(1, "high", fifo(80), [Step::SleepUntil(BEGIN + us(50)), Step::SpinUntil(ms(2))]);
    scene.settings.push("preempt_model=full");
    let causes = scene.causes("reader");
    let waits = Cause::WakerWaits { waker: who(1, "waker", 89) };
    // 50 us of the call, then the high one until 2 ms, then the rest of the call.
    assert_eq!(causes, [(Cause::WakePath {}, 50_000), (waits, 650_000), (Cause::WakePath {}, 150_000)]);
}

/// A FIFO task is preempted for a millisecond, twice; without the question it has no wait at all.
#[test]
fn a_task_that_is_preempted() {
    let scene = || {
        let mut scene = Scene::new(1);
        scene.on(0, "victim", fifo(50), [Step::Compute(ms(5))]);
        let again =
            [Step::SleepUntil(BEGIN), Step::Compute(ms(1)), Step::SleepFor(ms(1)), Step::Compute(ms(1))];
        scene.on(0, "higher", fifo(60), again);
        scene
    };
    let higher = who(1, "higher", 39);
    let runs = |since| Cause::Running { task: higher.clone(), since, precedence: Precedence::HigherPriority };
    let due = Due::Preempted { by: higher.clone() };
    let waits = preempted(scene(), "victim");
    let [first, second] = &waits[..] else { panic!("{waits:#?}") };
    assert_eq!(*first, (due.clone(), vec![(runs(schema::Nanos(1_300_000)), 1_000_000)]));
    assert_eq!(*second, (due, vec![(runs(schema::Nanos(3_300_000)), 1_000_000)]));
    assert!(scene().explain("victim").is_empty());
}
