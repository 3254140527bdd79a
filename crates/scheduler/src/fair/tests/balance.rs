//! fair-class 8.5, 8.6.

use super::q6600;
use crate::testing::{Lab, cpus, fifo};
use crate::{CpuId, CpuMask, Nanos, Policy, RT_LOAD_WEIGHT, Reason, TaskId, Topology};
use alloc::vec::Vec;

fn queued(lab: &Lab) -> Vec<u32> {
    lab.k.rqs().iter().map(|rq| rq.published.nr_running.get()).collect()
}

impl Lab {
    /// Ticks on the CPUs that are busy, every millisecond.
    fn pass(&self, ms: u64) {
        for _ in 0..ms {
            self.advance(Nanos::from_millis(1));
            for cpu in 0..self.k.cpus() as u16 {
                if !self.idle(cpu) {
                    self.tick(cpu);
                }
            }
        }
    }
}

/// A new-idle CPU pulls from the busiest one; the tasks there ran long enough ago to be cold.
fn newly_idle(profile: &str, settings: &[&str], hogs: usize, waited: Nanos) -> (Vec<u32>, Lab) {
    let lab = Lab::new(2, profile, settings);
    let last = lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
    for _ in 0..hogs {
        lab.spawn(Policy::Normal, 0);
    }
    lab.charge(0, 1.0);
    lab.advance(waited);
    assert_eq!(lab.block(1), last);
    (queued(&lab), lab)
}

#[test]
fn a_newly_idle_cpu_pulls_waiting_tasks() {
    let (queued, lab) = newly_idle("4.0", &[], 4, Nanos::from_millis(1));
    assert_eq!(queued, [2, 2]);
    assert!(!lab.idle(1));
    assert_eq!(lab.count(Reason::BalancedNewIdle), 2);
    assert_eq!(newly_idle("4.0", &[], 1, Nanos::from_millis(1)).0, [1, 0], "the running one stays");
}

#[test]
fn newidle_stop_never_leaves_it_idle() {
    assert_eq!(newly_idle("4.0", &["newidle_stop=never"], 4, Nanos::from_millis(1)).0, [4, 0]);
    assert_eq!(newly_idle("2.6.31", &[], 4, Nanos::from_millis(1)).0, [4, 0]);
}

/// 8.6: a fully preemptible kernel stops after one task.
#[test]
fn full_preemption_pulls_one_task() {
    assert_eq!(newly_idle("4.0", &["preempt_model=full"], 6, Nanos::from_millis(1)).0, [5, 1]);
    assert_eq!(newly_idle("4.0", &["preempt_model=voluntary"], 6, Nanos::from_millis(1)).0, [3, 3]);
}

/// fair-class 1.1: up to 2.6.34 RT tasks weigh in the load of their CPU, so fair tasks are pulled from there
/// first.
#[test]
fn fair_tasks_are_pulled_from_behind_rt_tasks() {
    let pulled_from = |profile| {
        let lab = Lab::new(3, profile, &[]);
        lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
        lab.crowd(1, &[0, 0, 0]);
        lab.crowd(2, &[0]);
        lab.spawn_allowed(fifo(50), 2, cpus(&[2]));
        lab.advance(Nanos::from_millis(10));
        lab.block(0);
        queued(&lab)
    };
    assert_eq!(pulled_from("2.6.33"), [1, 3, 1]);
    assert_eq!(pulled_from("2.6.35"), [1, 2, 2]);
}

/// The averages of the load know RT tasks too.
#[test]
fn rt_tasks_weigh_in_the_averages() {
    let average = |profile| {
        let lab = Lab::new(2, profile, &[]);
        lab.spawn_allowed(fifo(50), 0, cpus(&[0]));
        lab.pass(1);
        lab.k.rq(CpuId(0)).published.cpu_load[0].get()
    };
    assert_eq!((average("2.6.33"), average("2.6.35")), (RT_LOAD_WEIGHT, 0));
}

/// 8.6: hotness counts from the last charge; a task that never ran is cold.
#[test]
fn hot_tasks_stay() {
    let pull = |settings: &[&str], waited_us| {
        let lab = Lab::new(2, "2.6.32", settings);
        lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        let hogs = lab.crowd(0, &[0, 0]);
        lab.advance(Nanos::from_millis(100));
        // The first has just run and now waits for the second.
        lab.tick(0);
        assert_eq!(lab.running(0), hogs[1]);
        lab.advance(Nanos::from_micros(waited_us));
        lab.block(1);
        lab.cpu_of(hogs[0])
    };
    assert_eq!(pull(&[], 400), 0, "hot for 0.5 ms");
    assert_eq!(pull(&[], 600), 1);
    assert_eq!(pull(&["sched_migration_cost_ns=0"], 0), 1, "0: never hot");
    assert_eq!(pull(&["sched_migration_cost_ns=-1"], 5000), 0, "-1: always hot");
}

/// 6.8: a SCHED_IDLE task that has just run.
#[test]
fn sched_idle_tasks_are_cache_hot_up_to_2_6_36() {
    let pulled = |rule: &str| {
        let lab = Lab::new(2, "2.6.32", &[rule]);
        lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        let idle = lab.spawn(Policy::Idle, 0);
        lab.advance(Nanos::from_millis(100));
        let other = lab.spawn(Policy::Idle, 0);
        lab.tick(0);
        assert_eq!(lab.running(0), other);
        lab.block(1);
        lab.cpu_of(idle) == 1
    };
    assert!(!pulled("idle_never_hot=off"));
    assert!(pulled("idle_never_hot=on"));
}

/// 8.6: 2.6.33 skips the search while idle times are short.
#[test]
fn short_idle_times_are_not_worth_a_search() {
    let pulls = |profile| {
        let lab = Lab::new(2, profile, &[]);
        let p = lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        for _ in 0..40 {
            lab.block(1);
            lab.advance(Nanos::from_micros(100));
            lab.wake(1, p);
        }
        lab.crowd(0, &[0, 0, 0, 0]);
        lab.advance(Nanos::from_millis(1));
        lab.block(1);
        queued(&lab)[1] > 0
    };
    assert!(!pulls("2.6.33"));
    assert!(pulls("2.6.32"));
}

/// 8.6: worth it are idle times of sched_migration_cost, 0.5 ms, on average.
#[test]
fn an_idle_time_of_migration_cost_is_worth_a_search() {
    let pulls = |average_us| {
        let lab = Lab::new(2, "2.6.33", &[]);
        lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        lab.crowd(0, &[0, 0, 0, 0]);
        lab.advance(Nanos::from_millis(1));
        lab.k.rq(CpuId(1)).published.balance.idle.average.set(Nanos::from_micros(average_us));
        lab.block(1);
        queued(&lab)[1] > 0
    };
    assert_eq!([499, 500, 999].map(pulls), [false, true, true]);
}

/// 8.6: the quirk up to 2.6.32.
#[test]
fn on_busiest_stops_at_a_busiest_queue_that_gives_nothing() {
    let pulls = |rule: &str| {
        let lab = Lab::on(&q6600(), "2.6.32", &[rule]);
        lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
        // The neighbour has pinned tasks only; the other die has movable ones.
        for _ in 0..3 {
            lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        }
        for _ in 0..6 {
            lab.spawn(Policy::Normal, 2);
        }
        lab.charge(2, 1.0);
        lab.advance(Nanos::from_millis(1));
        lab.block(0);
        queued(&lab)[0] > 0
    };
    assert!(pulls("newidle_stop=on_move"));
    assert!(!pulls("newidle_stop=on_busiest"));
}

/// 8.6: newest enqueue first, sched_nr_migrate tasks and one more.
#[test]
fn the_walk_is_newest_first_and_bounded() {
    let moved = |settings: &[&str]| {
        let lab = Lab::new(2, "4.0", settings);
        lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        let old = lab.crowd(0, &[0, 0, 0]);
        for _ in 0..5 {
            lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
        }
        lab.advance(Nanos::from_millis(1));
        lab.block(1);
        old.iter().filter(|p| lab.cpu_of(**p) == 1).copied().collect::<Vec<_>>()
    };
    assert_eq!(moved(&[]).len(), 2, "all but the running one");
    assert_eq!(moved(&["sched_nr_migrate=4"]), [], "five pinned ones are in front");
    assert_eq!(moved(&["sched_nr_migrate=5"]), [TaskId(4 + 2 - 1)], "the sixth is the newest movable");
}

/// 8.6: half the weight must not exceed what is to move.
#[test]
fn too_heavy_tasks_stay() {
    let lab = Lab::new(2, "4.0", &[]);
    lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
    let light = lab.crowd(0, &[5, 5, 5]);
    let heavy = lab.spawn_unsettled(Policy::Normal, -10, 0, CpuMask::ALL);
    lab.advance(Nanos::from_millis(1));
    lab.block(1);
    // Three tasks above the capacity of one CPU: 3072 may move. 9548 / 2 is more, 335 / 2 is not.
    assert_eq!(lab.cpu_of(heavy), 0);
    assert_eq!(light.iter().filter(|p| lab.cpu_of(**p) == 1).count(), 2, "the third runs");
    assert_eq!(lab.count(Reason::NotMovedHeavy), 1);
}

/// 8.5: periodic balancing of busy CPUs, every 64 ms.
#[test]
fn busy_cpus_even_out_at_their_ticks() {
    let lab = Lab::new(2, "4.0", &[]);
    lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
    for _ in 0..7 {
        lab.spawn(Policy::Normal, 0);
    }
    lab.pass(60);
    assert_eq!(queued(&lab), [7, 1], "not due yet");
    lab.pass(500);
    assert_eq!(queued(&lab), [4, 4]);
    assert_eq!(lab.count(Reason::BalancedPeriodic), 3);
}

/// 8.1, 8.5: where nothing is to be done the interval doubles, from 1 to at most 4 ms; times 64 while the CPU
/// is busy.
#[test]
fn the_longest_interval_is_four_times_the_shortest() {
    let lab = Lab::new(2, "4.0", &[]);
    for cpu in [0, 1] {
        lab.spawn_allowed(Policy::Normal, cpu, CpuMask::single(CpuId(cpu)));
    }
    let interval = || lab.k.domains(CpuId(0))[0].balance.balance_interval_ms.get();
    lab.pass(100);
    assert_eq!(interval(), 2);
    lab.pass(128);
    assert_eq!(interval(), 4);
    lab.pass(2000);
    assert_eq!(interval(), 4);
}

#[test]
fn an_even_machine_stays_as_it_is() {
    let lab = Lab::on(&q6600(), "4.0", &[]);
    for cpu in 0..4 {
        for _ in 0..2 {
            lab.spawn_allowed(Policy::Normal, cpu, CpuMask::ALL);
        }
    }
    lab.pass(2000);
    assert_eq!(queued(&lab), [2; 4]);
    assert_eq!(lab.count(Reason::BalancedPeriodic), 0);
}

/// 8.6: idle CPUs take no ticks, a busy one's tick wakes one of them to balance.
#[test]
fn idle_cpus_are_balanced_without_ticks() {
    let lab = Lab::new(4, "4.0", &["newidle_stop=never"]);
    for _ in 0..4 {
        lab.spawn(Policy::Normal, 0);
    }
    lab.pass(20);
    assert_eq!(queued(&lab), [1, 1, 1, 1]);
}

/// 8.5 step 7: two running tasks on one die, the other die idle; only the stopper can move one of them.
fn crowded_die(settings: &[&str]) -> Lab {
    let lab = Lab::on(&q6600(), "4.0", settings);
    for cpu in [0, 1] {
        lab.spawn(Policy::Normal, cpu);
    }
    lab.pass(100);
    lab
}

#[test]
fn active_balance_moves_a_running_task_to_an_idle_die() {
    let lab = crowded_die(&[]);
    let die = |first: u16| u32::from(!lab.idle(first)) + u32::from(!lab.idle(first + 1));
    assert_eq!((die(0), die(2)), (1, 1), "{:?}", queued(&lab));
    assert_eq!(lab.count(Reason::BalancedActive), 1);
}

/// 8.5 steps 3 and 4: up to 2.6.33 one mean task of the busiest group must stay.
#[test]
fn load_per_task_leaves_the_crowded_die_alone() {
    let lab = crowded_die(&["load_balance_amount=load_per_task"]);
    assert_eq!(queued(&lab), [1, 1, 0, 0]);
}

/// 8.5: one CPU per group balances a level: its first idle one, else its first one.
#[test]
fn only_one_cpu_of_a_group_balances_between_groups() {
    let lab = Lab::on(&q6600(), "4.0", &[]);
    for cpu in 0..4 {
        lab.spawn_allowed(Policy::Normal, cpu, CpuMask::single(CpuId(cpu)));
    }
    for _ in 0..4 {
        lab.spawn_allowed(Policy::Normal, 2, cpus(&[1, 2]));
    }
    lab.pass(1000);
    assert_eq!(queued(&lab)[1], 1, "CPU 1 is neither idle nor the first of its die; CPU 0 is not allowed");
}

/// I2, D12: balancing changes neither the sum of weights nor a task's distance from the floor by more than
/// the floor's own advance.
#[test]
fn moving_keeps_weights_and_distances() {
    let lab = Lab::new(2, "4.0", &[]);
    lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
    let hogs = lab.crowd(0, &[0, 5, -5, 3]);
    lab.set_floor(1, 900.0);
    lab.advance(Nanos::from_millis(1));
    let before: Vec<_> = hogs.iter().map(|p| lab.distance(*p)).collect();
    let load = |lab: &Lab| lab.k.rqs().iter().map(|rq| rq.published.load.get()).sum::<u64>();
    let total = load(&lab) - 1024;
    lab.block(1);
    assert_eq!(load(&lab), total);
    let moved: Vec<_> = hogs.iter().zip(before).filter(|(p, _)| lab.cpu_of(**p) == 1).collect();
    assert!(!moved.is_empty());
    for (p, distance) in moved {
        if lab.running(1) != *p {
            assert!(lab.distance(*p).abs_diff(distance) <= 1_000_000, "the source was charged 1 ms");
        }
    }
}

#[test]
fn a_single_cpu_never_balances() {
    let lab = Lab::on(&Topology::flat(1), "4.0", &[]);
    lab.crowd(0, &[0, 0]);
    lab.pass(300);
    assert_eq!(queued(&lab), [2]);
}
