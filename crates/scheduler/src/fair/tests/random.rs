//! Random loads under random switches: whatever happens, the invariants of fair-class 14 hold at every rest
//! ([`Lab::settle`] looks at all of them), alone and with paths of several CPUs interleaved.

use super::q6600;
use crate::affinity::set_cpus_allowed;
use crate::fair::run_rebalance_domains;
use crate::fork::{NewTask, do_exit, new_task, sched_exec, sched_fork, wake_up_new_task};
use crate::policy::set_user_nice;
use crate::registry::{Feature, RULES};
use crate::schedule::{Entry, sched_yield, schedule};
use crate::testing::sched_setscheduler;
use crate::testing::{Dice, Lab, RacePath, cpus, fifo};
use crate::tick::scheduler_tick;
use crate::wakeup::{WakeFlags, try_to_wake_up};
use crate::{
    CpuId, CpuMask, LevelKind, Nanos, Nice, Pid, Policy, Reason, TaskId, TaskState, Topology, TopologyLevel,
};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

const MOST_TASKS: usize = 40;

pub(super) fn machine(dice: &mut Dice) -> Topology {
    let level =
        |kind, spans: &[&[u16]]| TopologyLevel { kind, spans: spans.iter().map(|s| cpus(s)).collect() };
    match dice.below(4) {
        0 => q6600(),
        1 => Topology::of(
            8,
            [
                level(LevelKind::Smt, &[&[0, 4], &[1, 5], &[2, 6], &[3, 7]]),
                level(LevelKind::Mc, &[&[0, 1, 4, 5], &[2, 3, 6, 7]]),
                level(LevelKind::Numa { distance: 32 }, &[&[0, 1, 2, 3, 4, 5, 6, 7]]),
            ]
            .into(),
        ),
        _ => Topology::flat(1 + dice.below(6)),
    }
}

/// Other values for the switches of the fair class.
fn switch(lab: &Lab, dice: &mut Dice) {
    for rule in RULES.iter().filter(|r| r.source.contains("fair-")) {
        if dice.below(3) == 0 {
            let value = rule.values[dice.below(rule.values.len())].name;
            lab.k.config.set(&format!("{}={value}", rule.name)).expect("a legal setting");
        }
    }
    for feature in Feature::ALL.iter().filter(|f| f.source().contains("fair-")) {
        if dice.below(4) == 0 {
            lab.k.config.switch(*feature, dice.below(2) == 0);
        }
    }
    for (tunable, values) in [
        ("sched_latency_ns", ["6000000", "100000", "40000000"]),
        ("sched_min_granularity_ns", ["750000", "100000", "4000000"]),
        ("sched_migration_cost_ns", ["500000", "0", "-1"]),
        ("sched_child_runs_first", ["0", "1", "0"]),
        ("sched_compat_yield", ["0", "1", "0"]),
        ("sched_nr_migrate", ["32", "1", "3"]),
    ] {
        if dice.below(4) == 0 {
            lab.k.config.set(&format!("{tunable}={}", values[dice.below(3)])).expect("a legal setting");
        }
    }
}

fn mask(lab: &Lab, dice: &mut Dice) -> CpuMask {
    let n = lab.k.cpus();
    if dice.below(3) > 0 {
        return lab.k.online;
    }
    (0..=dice.below(3)).map(|_| CpuId(dice.below(n) as u16)).collect()
}

fn policy(dice: &mut Dice) -> Policy {
    match dice.below(8) {
        0 => Policy::Batch,
        1 => Policy::Idle,
        2 => fifo(1 + dice.below(5) as u8),
        _ => Policy::Normal,
    }
}

/// Something that CPU `cpu` does now.
fn path<'a>(lab: &'a Lab, dice: &mut Dice, tasks: &[TaskId], cpu: u16) -> RacePath<'a> {
    let me = lab.cpu(cpu);
    let p = tasks[dice.below(tasks.len())];
    let nice = Nice::new(dice.below(40) as i8 - 20).expect("-20 to 19");
    let alive = !matches!(lab.k.task(p).state.get(), TaskState::Dead | TaskState::New);
    let runs = !lab.idle(cpu) && !lab.k.rq(CpuId(cpu)).published.is_asked();
    match dice.below(20) {
        0..=4 if alive => {
            let flags = WakeFlags { sync: dice.below(2) == 0, interrupt: dice.below(4) == 0, exiting: false };
            Box::pin(async move { _ = try_to_wake_up(me, p, flags).await })
        }
        5..=7 if runs => {
            let sleep = [TaskState::Interruptible, TaskState::Uninterruptible][dice.below(2)];
            me.task(me.curr()).state.overwrite(sleep);
            Box::pin(schedule(me, Entry::Call))
        }
        8 | 9 if runs && lab.k.tasks.len() < MOST_TASKS => {
            let new = NewTask {
                pid: Pid(lab.k.tasks.len() as i32),
                policy: policy(dice),
                nice,
                cpus_allowed: mask(lab, dice),
                kernel_thread: false,
                group: crate::GroupId::ROOT,
            };
            Box::pin(async move {
                let child = new_task(me.k, new);
                sched_fork(me, child).await;
                wake_up_new_task(me, child).await;
            })
        }
        10 if runs => Box::pin(sched_exec(me)),
        11 if runs => Box::pin(sched_yield(me)),
        12 if runs && dice.below(8) == 0 => Box::pin(do_exit(me)),
        13 if alive => Box::pin(set_user_nice(me, p, nice)),
        14 if alive => Box::pin(sched_setscheduler(me, p, policy(dice))),
        15 if alive => Box::pin(set_cpus_allowed(me, p, mask(lab, dice))),
        _ => Box::pin(async move {
            // Where a thread is to balance, it does so at once.
            if let Some(balancing) = scheduler_tick(me).await {
                run_rebalance_domains(me, balancing).await;
            }
        }),
    }
}

/// The CPU's turn: its next interrupt, a reschedule, or something new.
fn turn<'a>(lab: &'a Lab, dice: &mut Dice, tasks: &[TaskId], cpu: u16) -> RacePath<'a> {
    if let Some(sent) = lab.take_ipi(CpuId(cpu)) {
        return Box::pin(lab.handle(sent));
    }
    if lab.k.rq(CpuId(cpu)).published.is_asked() {
        return Box::pin(schedule(lab.cpu(cpu), Entry::Preemption));
    }
    path(lab, dice, tasks, cpu)
}

fn tasks(lab: &Lab) -> Vec<TaskId> {
    lab.k.tasks.iter().skip(lab.k.cpus()).collect()
}

pub(super) fn load(lab: &Lab, dice: &mut Dice) {
    for _ in 0..3 + dice.below(8) {
        let cpu = dice.below(lab.k.cpus()) as u16;
        let p = lab.spawn_allowed(policy(dice), cpu, CpuMask::ALL);
        lab.run(set_cpus_allowed(lab.cpu(cpu), p, mask(lab, dice)));
        lab.settle();
    }
}

/// Everything runnable is where it may run, and a CPU with runnable tasks does not idle (I12).
fn check_tasks(lab: &Lab) {
    for p in tasks(lab) {
        let task = lab.k.task(p);
        assert!(!task.on_rq.get() || task.may_run_on(task.cpu.get()), "{p:?}");
    }
    for rq in lab.k.rqs() {
        let published = &rq.published;
        assert_eq!(published.nr_running.get() == 0, lab.k.idle_task(rq.cpu) == published.curr.get());
    }
}

/// CPUs act one after the other, and settings change on the way. `look` looks at a CPU after its turn, when
/// all has come to rest.
pub(super) fn take_turns(lab: &Lab, dice: &mut Dice, switch: fn(&Lab, &mut Dice), look: impl Fn(u16)) {
    for _ in 0..200 {
        let cpu = dice.below(lab.k.cpus()) as u16;
        lab.run(turn(lab, dice, &tasks(lab), cpu));
        if dice.below(3) > 0 {
            lab.settle();
            check_tasks(lab);
            look(cpu);
        }
        lab.advance(Nanos::from_micros(dice.below(3000) as u64));
        if dice.below(60) == 0 {
            switch(lab, dice);
            lab.settle();
        }
    }
}

/// All CPUs act at once, in any order.
pub(super) fn race(lab: &Lab, dice: &mut Dice) {
    for _ in 0..60 {
        let tasks = tasks(lab);
        let all: Vec<_> = (0..lab.k.cpus()).map(|c| turn(lab, dice, &tasks, c as u16)).collect();
        lab.race(dice, all);
        lab.advance(Nanos::from_micros(dice.below(3000) as u64));
        if dice.below(4) == 0 {
            lab.settle();
            check_tasks(lab);
        }
    }
    lab.settle();
}

/// What the random courses must have met, or they prove little.
const MET: [Reason; 19] = [
    Reason::BalancedPeriodic,
    Reason::BalancedNewIdle,
    Reason::BalancedActive,
    Reason::NotMovedHot,
    Reason::NotMovedBuddy,
    Reason::BuddyLast,
    Reason::BuddyNext,
    Reason::NicePenalty,
    Reason::ForkChildFirst,
    Reason::WakeIdleSibling,
    Reason::TickLatency,
    Reason::AffinityMove,
    Reason::SisCpu,
    Reason::OtherIdle,
    Reason::LbMove,
    Reason::LbWithinPct,
    Reason::LbRedirected,
    Reason::NiNoOverload,
    Reason::KickOverload,
];

fn count(lab: &Lab, met: &mut [u64; MET.len()]) {
    met.iter_mut().zip(MET).for_each(|(n, reason)| *n += lab.count(reason));
}

#[test]
fn invariants_hold_under_every_combination_of_switches() {
    let mut met = [0; MET.len()];
    for seed in 0..300 {
        let mut dice = Dice::new(seed);
        let lab = Lab::on(&machine(&mut dice), "6.1.y", &["sched_rt_runtime_us=-1"]);
        switch(&lab, &mut dice);
        load(&lab, &mut dice);
        take_turns(&lab, &mut dice, switch, |_| {});
        count(&lab, &mut met);
    }
    assert!(met.iter().all(|n| *n > 20), "{met:?}");
}

#[test]
fn invariants_hold_when_cpus_race() {
    let mut met = [0; MET.len()];
    for seed in 0..600 {
        let mut dice = Dice::new(1000 + seed);
        let lab = Lab::on(&machine(&mut dice), "6.1.y", &["sched_rt_runtime_us=-1"]);
        switch(&lab, &mut dice);
        load(&lab, &mut dice);
        race(&lab, &mut dice);
        count(&lab, &mut met);
    }
    assert!(met.iter().all(|n| *n > 20), "{met:?}");
}
