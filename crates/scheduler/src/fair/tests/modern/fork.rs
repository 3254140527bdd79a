//! fair-placement 2.9.

use super::{modern, two_sockets};
use crate::class::SelectFor;
use crate::testing::{Lab, cpus, level};
use crate::{Class, CpuId, CpuMask, LevelKind, Nanos, Policy, Reason, TaskId, Topology};

/// Where a child of the task on CPU 0 goes, and why.
fn forked(lab: &Lab) -> (u16, Reason) {
    let child = lab.fork_start(0, 0);
    lab.forget();
    let cpu = Class::Fair.select_task_rq(lab.cpu(0), child, SelectFor::Fork);
    (cpu.0, lab.first_decision())
}

/// Two CPUs of one cache with so many hogs, converged.
fn two_cpus(hogs: [usize; 2]) -> Lab {
    let lab = modern(&Topology::flat(2), &[]);
    for (cpu, n) in hogs.iter().enumerate() {
        for _ in 0..*n {
            lab.hogs_of_load(&[cpu as u16], 1024);
        }
        // Together they use no more than the CPU.
        let average = &lab.k.rq(CpuId(cpu as u16)).published.pelt.average;
        average.util_avg.set(1024.min(1024 * *n as u64));
    }
    lab
}

#[test]
fn e58_exec_of_the_only_task_of_a_cpu_stays() {
    let lab = modern(&Topology::flat(2), &[]);
    let p = lab.spawn(Policy::Normal, 0);
    lab.set_averages(p, 1024, 1024);
    lab.forget();
    lab.run(crate::fork::sched_exec(lab.cpu(0)));
    assert_eq!((lab.cpu_of(p), lab.first_decision()), (0, Reason::LocalIdle));
    lab.k.config.set("fork_balance=cpu_load").expect("legal");
    lab.run(crate::fork::sched_exec(lab.cpu(0)));
    assert_eq!(lab.cpu_of(p), 1, "2.6.36 counts the caller itself");
}

#[test]
fn e59_to_e62_fork_on_two_cpus() {
    assert_eq!(forked(&two_cpus([1, 0])), (1, Reason::OtherType), "one is full, the other has spare");
    assert_eq!(forked(&two_cpus([1, 1])), (0, Reason::LocalMargin));
    assert_eq!(forked(&two_cpus([3, 2])), (1, Reason::OtherLoad));
    assert_eq!(forked(&two_cpus([8, 7])), (0, Reason::LocalMargin));
}

/// Two nodes of eight, so many light tasks on the local one.
fn two_nodes(local: u16, imb_numa_nr: u64, more: &[&str]) -> (u16, Reason) {
    let lab = modern(&two_sockets(), more);
    for cpu in (0..local).map(|n| 2 * n) {
        lab.spawn_allowed(Policy::Normal, cpu, cpus(&[cpu]));
    }
    assert_eq!(lab.k.domains(CpuId(0))[2].imb_numa_nr, 1, "4.12: one cache a node");
    let forked = if imb_numa_nr == 1 { forked(&lab) } else { with_allowance(&lab, imb_numa_nr) };
    (forked.0 / 8, forked.1)
}

/// The same decision on a machine whose nodes have more caches.
fn with_allowance(lab: &Lab, imb_numa_nr: u64) -> (u16, Reason) {
    let mut levels = two_sockets().levels;
    // So many caches a node.
    levels[1] = level(16, LevelKind::Mc, 8 / imb_numa_nr as u16);
    levels.insert(2, level(16, LevelKind::Package, 8));
    let other = modern(&Topology::of(16, levels), &[]);
    let top = other.k.domains(CpuId(0)).last().expect("a domain");
    assert_eq!(top.imb_numa_nr, imb_numa_nr);
    for cpu in lab.k.online.iter().filter(|c| !lab.idle(c.0)) {
        other.spawn_allowed(Policy::Normal, cpu.0, CpuMask::single(cpu));
    }
    forked(&other)
}

#[test]
fn e63_e64_a_few_tasks_stay_on_their_node() {
    assert_eq!(two_nodes(1, 1, &[]), (1, Reason::OtherIdle));
    assert_eq!(two_nodes(1, 4, &[]), (0, Reason::NumaAllowance));
    assert_eq!(two_nodes(2, 4, &[]), (0, Reason::NumaAllowance));
    assert_eq!(two_nodes(3, 4, &[]), (1, Reason::OtherIdle), "no more than two apart");
}

/// find_idlest_group_cpu: the CPU that went idle last.
#[test]
fn of_idle_cpus_the_one_that_went_idle_last() {
    let lab = modern(&Topology::flat(4), &[]);
    lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    let tasks: [TaskId; 3] = [1, 2, 3].map(|cpu| lab.spawn_allowed(Policy::Normal, cpu, cpus(&[cpu])));
    for cpu in [3, 1, 2] {
        lab.advance(Nanos::from_millis(1));
        lab.block(cpu);
    }
    assert_eq!(tasks.len(), 3);
    // Groups of one CPU: of equals the first stays. So ask a level above.
    let mut topology = two_sockets();
    topology.levels.remove(0);
    let lab = modern(&topology, &[]);
    lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    for cpu in 8..16 {
        lab.spawn_allowed(Policy::Normal, cpu, cpus(&[cpu]));
    }
    for cpu in [15, 8, 12, 10] {
        lab.advance(Nanos::from_millis(1));
        lab.block(cpu);
    }
    for cpu in 1..8 {
        lab.spawn_allowed(Policy::Normal, cpu, cpus(&[cpu]));
    }
    assert_eq!(forked(&lab).0, 10);
}

#[test]
fn a_child_stays_within_its_affinity() {
    let lab = two_cpus([3, 0]);
    let child = lab.fork_start(0, 0);
    super::allow(&lab, child, cpus(&[0]));
    assert_eq!(Class::Fair.select_task_rq(lab.cpu(0), child, SelectFor::Fork), CpuId(0));
}

/// 8.7: the child may use one busy CPU of this node, which has idle ones, and the only idle one of the other.
#[test]
fn up_to_6_1_177_cpus_counted_that_a_new_task_may_not_use() {
    let goes_to = |rule: &str| {
        let lab = modern(&two_sockets(), &[rule]);
        for cpu in [0, 1, 8, 10, 11, 12, 13, 14, 15] {
            lab.spawn_allowed(Policy::Normal, cpu, cpus(&[cpu]));
        }
        let child = lab.fork_start(0, 0);
        super::allow(&lab, child, cpus(&[1, 9]));
        Class::Fair.select_task_rq(lab.cpu(0), child, SelectFor::Fork).0
    };
    assert_eq!(goes_to("fork_counts=allowed"), 9);
    assert_eq!(goes_to("fork_counts=all"), 1);
}
