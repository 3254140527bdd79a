//! Random loads under random rules: whatever happens, the queues and what is told about them agree, every task is
//! where it may be, and in the kernels that promise it the best tasks run (P2 to P10).

use super::{check_invariants, sleeper};
use crate::affinity::set_cpus_allowed;
use crate::policy::sched_setscheduler;
use crate::registry::RULES;
use crate::testing::{Lab, fifo, rr};
use crate::{CpuId, CpuMask, Nanos, Policy, Prio, TaskId, TaskState};
use alloc::vec::Vec;

/// xorshift64*: the same numbers on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % n
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }

    fn policy(&mut self) -> Policy {
        let priority = 1 + self.below(12) as u8;
        if self.below(4) == 0 { rr(priority) } else { fifo(priority) }
    }

    fn mask(&mut self, cpus: u64) -> CpuMask {
        if self.below(3) > 0 {
            return CpuMask::first_n(cpus as usize);
        }
        let mut mask = CpuMask::single(CpuId(self.below(cpus) as u16));
        (0..self.below(3)).for_each(|_| mask.insert(CpuId(self.below(cpus) as u16)));
        mask
    }
}

/// One random move.
fn step(lab: &Lab, dice: &mut Dice, tasks: &[TaskId], cpus: u64) {
    let cpu = dice.below(cpus) as u16;
    let p = *dice.one_of(tasks);
    match dice.below(12) {
        0..=4 => _ = lab.wake_unsettled(cpu, p),
        5..=7 if !lab.idle(cpu) && !lab.k.rq(CpuId(cpu)).published.need_resched.get() => {
            lab.block_unsettled(cpu);
        }
        8 => lab.run(set_cpus_allowed(lab.cpu(cpu), p, dice.mask(cpus))),
        9 => lab.run(sched_setscheduler(lab.cpu(cpu), p, dice.policy())),
        10 if !lab.idle(cpu) => lab.run(crate::schedule::sched_yield(lab.cpu(cpu))),
        11 => lab.advance(Nanos::from_micros(dice.below(3000))),
        _ => {}
    }
}

/// P3, P8, P10: every runnable task is queued once, where it may be.
fn check_tasks(lab: &Lab, tasks: &[TaskId]) {
    for p in tasks {
        let task = lab.k.task(*p);
        assert_eq!(task.on_rq.get(), task.state.get() == TaskState::Running);
        assert!(!task.on_rq.get() || task.may_run_on(task.cpu.get()));
    }
}

#[test]
fn invariants_hold_under_every_combination_of_rules() {
    let mut dice = Dice(0x5EED);
    for _ in 0..300 {
        let cpus = 1 + dice.below(6);
        let lab = Lab::new(cpus as usize, "6.1", &["sched_rt_runtime_us=-1"]);
        let change_rules = |dice: &mut Dice| {
            for rule in RULES {
                // Rules of the fair class have no business here.
                if rule.source.contains("rt-class") && dice.below(2) == 0 {
                    let value = dice.one_of(rule.values).name;
                    lab.k.config.set(&alloc::format!("{}={value}", rule.name)).expect("a legal setting");
                }
            }
            let no = if dice.below(2) == 0 { "NO_" } else { "" };
            lab.k.config.set(&alloc::format!("{no}RT_PUSH_IPI")).expect("a legal setting");
        };
        change_rules(&mut dice);
        let tasks: Vec<_> = (0..2 + dice.below(12))
            .map(|_| sleeper(&lab, dice.policy(), 0, CpuMask::first_n(cpus as usize)))
            .collect();
        for _ in 0..60 {
            (0..=dice.below(4)).for_each(|_| step(&lab, &mut dice, &tasks, cpus));
            lab.settle();
            check_tasks(&lab, &tasks);
            check_invariants(&lab);
        }
    }
}

/// P2: with free affinities and distinct priorities the N best run, in every era that pulls.
#[test]
fn the_best_tasks_run() {
    let kernels = ["2.6.23-rt5", "2.6.23-rt5-gh", "2.6.36", "2.6.36+S0", "2.6.37", "3.3", "4.0", "6.1"];
    let mut dice = Dice(0xBE57);
    for kernel in kernels {
        for _ in 0..40 {
            let cpus = 1 + dice.below(5);
            let lab = Lab::new(cpus as usize, kernel, &["sched_rt_runtime_us=-1"]);
            let all = CpuMask::first_n(cpus as usize);
            let tasks: Vec<_> = (1..=12).map(|priority| sleeper(&lab, fifo(priority), 0, all)).collect();
            for _ in 0..60 {
                let (cpu, p) = (dice.below(cpus) as u16, *dice.one_of(&tasks));
                if dice.below(2) == 0 {
                    lab.wake(cpu, p);
                } else if !lab.idle(cpu) {
                    lab.block(cpu);
                }
                let prio = |p: &TaskId| lab.k.task(*p).prio.get();
                let runnable = tasks.iter().filter(|p| lab.k.task(**p).on_rq.get()).map(prio);
                let mut best: Vec<Prio> = runnable.collect();
                best.sort();
                best.truncate(cpus as usize);
                let mut run: Vec<Prio> =
                    super::running(&lab).iter().map(prio).filter(|prio| prio.is_rt()).collect();
                run.sort();
                assert_eq!(run, best, "{kernel}");
            }
        }
    }
}
