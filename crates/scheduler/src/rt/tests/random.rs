//! Random loads under random rules: whatever happens, the queues and what is told about them agree, every
//! task is where it may be, and in the kernels that promise it the best tasks run (P2 to P11).

use super::super::{push_irq_work, rules_changed};
use super::{check_invariants, sleeper};
use crate::affinity::set_cpus_allowed;
use crate::platform::Ipi;
use crate::registry::RULES;
use crate::schedule::{Entry, sched_yield, schedule};
use crate::stop::migration_cpu_stop;
use crate::testing::sched_setscheduler;
use crate::testing::{Dice, Lab, RacePath, TestPlatform, fifo, rr};
use crate::wakeup::{WakeFlags, sched_ttwu_pending, try_to_wake_up};
use crate::{CpuId, CpuMask, Event, Nanos, Policy, Prio, Reason, TaskId, TaskState, ThisCpu};
use alloc::boxed::Box;
use alloc::vec::Vec;

fn policy(dice: &mut Dice) -> Policy {
    let priority = 1 + dice.below(12) as u8;
    if dice.below(4) == 0 { rr(priority) } else { fifo(priority) }
}

/// All CPUs mostly, else a few of them.
fn mask(dice: &mut Dice, cpus: usize) -> CpuMask {
    if dice.below(3) > 0 {
        return CpuMask::first_n(cpus);
    }
    (0..=dice.below(3)).map(|_| CpuId(dice.below(cpus) as u16)).collect()
}

/// Gives about half of the RT class's rules and features another value.
fn change_rules(lab: &Lab, dice: &mut Dice) {
    for rule in RULES.iter().filter(|rule| rule.source.contains("rt-class")) {
        if dice.below(2) == 0 {
            let value = rule.values[dice.below(rule.values.len())].name;
            lab.k.config.set(&alloc::format!("{}={value}", rule.name)).expect("a legal setting");
        }
    }
    for feature in ["RT_PUSH_IPI", "TTWU_QUEUE"] {
        let no = if dice.below(2) == 0 { "NO_" } else { "" };
        lab.k.config.set(&alloc::format!("{no}{feature}")).expect("a legal setting");
    }
}

fn random_lab(dice: &mut Dice) -> (Lab, Vec<TaskId>) {
    let cpus = 1 + dice.below(6);
    let lab = Lab::new(cpus, "6.1.y", &["sched_rt_runtime_us=-1"]);
    change_rules(&lab, dice);
    let tasks = (0..2 + dice.below(12)).map(|_| sleeper(&lab, policy(dice), 0, CpuMask::first_n(cpus)));
    let tasks = tasks.collect();
    (lab, tasks)
}

/// P3, P8, P10: every runnable task is queued once, where it may be.
fn check_tasks(lab: &Lab, tasks: &[TaskId]) {
    for p in tasks {
        let task = lab.k.task(*p);
        assert_eq!(task.on_rq.get(), task.state.get() == TaskState::Running);
        assert!(!task.on_rq.get() || task.may_run_on(task.cpu.get()));
    }
    check_invariants(lab);
}

/// One random move, as far as it goes without other CPUs.
fn step(lab: &Lab, dice: &mut Dice, tasks: &[TaskId]) {
    let cpus = lab.k.cpus();
    let (cpu, p) = (dice.below(cpus) as u16, tasks[dice.below(tasks.len())]);
    match dice.below(12) {
        0..=4 => _ = lab.wake_unsettled(cpu, p),
        5..=7 if !lab.idle(cpu) && !lab.k.rq(CpuId(cpu)).published.is_asked() => {
            lab.block_unsettled(cpu);
        }
        8 => lab.run(set_cpus_allowed(lab.cpu(cpu), p, mask(dice, cpus))),
        9 => lab.run(sched_setscheduler(lab.cpu(cpu), p, policy(dice))),
        10 if !lab.idle(cpu) => lab.run(sched_yield(lab.cpu(cpu))),
        11 => lab.advance(Nanos::from_micros(dice.below(3000) as u64)),
        _ => {}
    }
}

#[test]
fn invariants_hold_under_every_combination_of_rules() {
    let mut dice = Dice::new(1);
    for _ in 0..300 {
        let (lab, tasks) = random_lab(&mut dice);
        for _ in 0..60 {
            for _ in 0..=dice.below(4) {
                step(&lab, &mut dice, &tasks);
            }
            lab.settle();
            check_tasks(&lab, &tasks);
        }
    }
}

/// What a CPU does in a race: serve interrupts, reschedule when asked, and now and then one of the moves
/// above.
async fn race_cpu(me: ThisCpu<'_, TestPlatform>, mut dice: Dice, tasks: &[TaskId]) {
    let cpus = me.k.cpus();
    for _ in 0..12 {
        match take_ipi(me) {
            // No fair task asks for balancing here.
            None | Some(Ipi::Reschedule | Ipi::Nohz | Ipi::NohzReschedule) => {}
            Some(Ipi::Wakeup) => sched_ttwu_pending(me).await,
            Some(Ipi::Push(source)) => push_irq_work(me, source).await,
            Some(Ipi::Unthrottle) => unreachable!("there are no groups"),
            Some(Ipi::Tick) => unreachable!("all CPUs tick"),
            Some(Ipi::Stop) => drop(migration_cpu_stop(me).await),
        }
        if me.k.rq(me.id).published.is_asked() {
            schedule(me, Entry::Preemption).await;
        }
        let p = tasks[dice.below(tasks.len())];
        let runs = me.curr() != me.k.idle_task(me.id);
        match dice.below(8) {
            0..=3 => _ = try_to_wake_up(me, p, WakeFlags::default()).await,
            4 | 5 if runs => {
                me.task(me.curr()).state.overwrite(TaskState::Interruptible);
                schedule(me, Entry::Call).await;
            }
            6 => set_cpus_allowed(me, p, mask(&mut dice, cpus)).await,
            7 => sched_setscheduler(me, p, policy(&mut dice)).await,
            _ => {}
        }
    }
}

fn take_ipi(me: ThisCpu<'_, TestPlatform>) -> Option<Ipi> {
    let mut ipis = me.k.platform.ipis.borrow_mut();
    let at = ipis.iter().position(|sent| sent.to == me.id)?;
    ipis.remove(at).map(|sent| sent.ipi)
}

/// The same with all CPUs at once, interleaved at every lock, while the rules change between the rounds.
#[test]
fn invariants_hold_when_all_cpus_act_at_once() {
    let mut dice = Dice::new(2);
    let mut outcomes = [0; 4];
    for _ in 0..300 {
        let (lab, tasks) = random_lab(&mut dice);
        for _ in 0..8 {
            let paths = (0..lab.k.cpus() as u16).map(|cpu| -> RacePath<'_> {
                let dice = Dice::new(dice.below(1 << 30) as u64);
                Box::pin(race_cpu(lab.cpu(cpu), dice, &tasks))
            });
            let paths = paths.collect();
            lab.race(&mut dice, paths);
            lab.settle();
            check_tasks(&lab, &tasks);
            change_rules(&lab, &mut dice);
            lab.run(rules_changed(lab.cpu(0)));
            check_tasks(&lab, &tasks);
        }
        let totals = &lab.k.totals;
        outcomes[0] += totals.pushes.get();
        outcomes[1] += totals.pulls.get();
        outcomes[2] += totals.push_ipis.get();
        outcomes[3] += totals.decisions(Reason::PushChanged);
        let migrations =
            lab.k.platform.events.borrow().iter().filter(|e| matches!(e, Event::Migrate { .. })).count();
        assert_eq!(migrations as u64, totals.migrations.get(), "P16");
    }
    assert!(outcomes.iter().all(|n| *n > 20), "the histories exercise what they are about: {outcomes:?}");
}

/// P2: with free affinities and distinct priorities the N best run, in every era that pulls.
#[test]
fn the_best_tasks_run() {
    let kernels = ["2.6.23-rt5", "2.6.23-rt5-gh", "2.6.36", "2.6.36+S0", "2.6.37", "3.3", "4.0", "6.1.y"];
    let mut dice = Dice::new(3);
    for kernel in kernels {
        for _ in 0..40 {
            let cpus = 1 + dice.below(5);
            let lab = Lab::new(cpus, kernel, &["sched_rt_runtime_us=-1"]);
            let all = CpuMask::first_n(cpus);
            let tasks: Vec<_> = (1..=12).map(|priority| sleeper(&lab, fifo(priority), 0, all)).collect();
            for _ in 0..60 {
                let (cpu, p) = (dice.below(cpus) as u16, tasks[dice.below(tasks.len())]);
                if dice.below(2) == 0 {
                    lab.wake(cpu, p);
                } else if !lab.idle(cpu) {
                    lab.block(cpu);
                }
                let prio = |p: &TaskId| lab.k.task(*p).prio.get();
                let runnable = tasks.iter().filter(|p| lab.k.task(**p).on_rq.get()).map(prio);
                let mut best: Vec<Prio> = runnable.collect();
                best.sort();
                best.truncate(cpus);
                let mut run: Vec<Prio> =
                    super::running(&lab).iter().map(prio).filter(|prio| prio.is_rt()).collect();
                run.sort();
                assert_eq!(run, best, "{kernel}");
            }
        }
    }
}
