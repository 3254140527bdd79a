//! What else there was at a decision.

use super::{sleeper, who};
use crate::why::scene::{BEGIN, Scene, fifo, ms, us};
use lab::machine::Step;
use scheduler::{CpuId, CpuMask, Policy};
use schema::why::{Precedence, WhyAlternative, WhyTask};

/// A victim that is woken while others run on all CPUs that it may use.
#[test]
fn what_else_the_scheduler_could_have_decided_for() {
    let mut scene = Scene::new(4);
    scene.settings.push("search=cpupri");
    let to = |cpus: &[u16]| {
        let mut mask = CpuMask::default();
        cpus.iter().for_each(|cpu| mask.insert(CpuId(*cpu)));
        Some(mask)
    };
    scene.task("victim", fifo(50), sleeper(ms(2)), |task| task.cpus = to(&[0, 1]));
    let until_3 = || [Step::SleepUntil(BEGIN), Step::SpinUntil(ms(3))];
    scene.on(0, "high0", fifo(80), until_3());
    scene.on(1, "high1", fifo(70), until_3());
    scene.on(2, "low2", fifo(10), until_3());
    // It comes behind the victim into its queue.
    scene.task("other", fifo(40), sleeper(us(2_100)), |task| task.cpus = to(&[0]));
    let explained = scene.explain("victim");
    let decisions = explained[0].stretches.iter().flat_map(|stretch| &stretch.decisions);
    let no_lower = decisions.clone().find(|decision| decision.reason == "wake_no_lower");
    let no_lower = no_lower.unwrap_or_else(|| panic!("{:#?}", explained[0]));
    let at = explained[0].woken.queue.expect("in a queue").0;
    let (other, high, prio) =
        if at == 0 { (1, who(2, "high1", 29), 29) } else { (0, who(1, "high0", 19), 19) };
    let cpu = |cpu, allowed, runs: Option<WhyTask>, precedence| WhyAlternative::Cpu {
        cpu: schema::CpuId(cpu),
        allowed,
        runs,
        precedence,
    };
    assert_eq!(high.prio.0, prio);
    let expected = [
        cpu(other, true, Some(high), Some(Precedence::HigherPriority)),
        cpu(3, false, None, None),
        cpu(2, false, Some(who(3, "low2", 89)), None),
    ];
    assert_eq!(no_lower.alternatives, expected, "first those that it may use");
}

/// Two wait in the queue of the victim while it is decided that it does not preempt.
#[test]
fn who_else_waited_while_it_was_decided_who_runs() {
    let mut scene = Scene::new(1);
    scene.settings.push("NO_WAKEUP_PREEMPTION");
    scene.on(0, "victim", Policy::Normal, sleeper(us(2_200)));
    scene.on(0, "first", Policy::Normal, sleeper(us(2_100)));
    scene.on(0, "runs", Policy::Normal, [Step::SpinUntil(us(2_500)), Step::Exit]);
    let explained = scene.explain("victim");
    let mut decisions = explained[0].stretches.iter().flat_map(|stretch| &stretch.decisions);
    let stays = decisions.find(|decision| decision.reason == "no_preempt_off").expect("it does not preempt");
    let first = WhyAlternative::Task { task: who(1, "first", 120), since: schema::Nanos(2_100_000) };
    assert_eq!(stays.alternatives, [first]);
}
