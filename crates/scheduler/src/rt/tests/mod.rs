//! The class as a whole, in the situations of the spec's tables and edge cases.

mod basics;
mod change;
mod groups;
mod load_route;
mod partitions;
mod pull;
mod push;
mod push_ipi;
mod random;
mod search;
mod throttle;
mod wake;

use crate::Class;
use crate::registry::{NextDef, OverloadRule, PushFail};
use crate::testing::Lab;
use crate::{CpuId, CpuMask, Policy, Prio, TaskId};
use alloc::vec::Vec;

/// A task that slept since it last ran on `cpu`.
fn sleeper(lab: &Lab, policy: Policy, cpu: u16, allowed: CpuMask) -> TaskId {
    // Pinned at first, so that nobody moves it away.
    let p = lab.spawn_unsettled(policy, 0, cpu, CpuMask::single(CpuId(cpu)));
    let me = lab.cpu(cpu);
    lab.run(async {
        let mut rq = me.lock(CpuId(cpu)).await;
        crate::class::deactivate_task(&mut rq, p, crate::class::DequeueKind::Sleep);
    });
    me.task(p).state.overwrite(crate::TaskState::Interruptible);
    me.task(p).set_cpus_allowed(&crate::shared::Unseen, allowed.and(&lab.k.online));
    lab.settle();
    p
}

/// The tasks that run on CPUs 0, 1, …
fn running(lab: &Lab) -> Vec<TaskId> {
    (0..lab.k.cpus() as u16).map(|cpu| lab.running(cpu)).collect()
}

/// P4 to P7 of section 12: the queues, and what is told about them, agree with the tasks.
fn check_invariants(lab: &Lab) {
    let (k, rules) = (&lab.k, &lab.k.config.rules);
    let domain = &k.root_domain(CpuId(0)).rt;
    for rq in k.rqs() {
        let state = rq.inspect().expect("no path is under way");
        let rt = &state.rt;
        let queued: Vec<_> = rt.queued(&k.tasks).collect();
        let mut expected: Vec<_> = k.tasks.iter().filter(|p| queued_here(lab, *p, rq.cpu)).collect();
        let prio = |p: &TaskId| k.task(*p).prio.get();
        assert!(queued.is_sorted_by_key(prio));
        let mut found = queued.clone();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "queue of CPU {}", rq.cpu);
        let movable = |p: &&TaskId| !k.task(**p).is_pinned();
        assert_eq!(rt.nr_running() as usize, queued.len());
        assert_eq!(rt.nr_migratory() as usize, queued.iter().filter(movable).count());

        let highest = queued.first().map_or(Prio::NO_RT, prio);
        assert_eq!((rt.highest(), rq.published.rt_highest.get()), (highest, highest));
        assert_eq!(rt.next(), rq.published.rt_next.get());
        let pushable: Vec<_> = rt.pushable(&k.tasks).collect();
        assert!(pushable.is_sorted_by_key(prio));
        if rules.push_fail.get() != PushFail::DropAndContinue {
            let mut expected: Vec<_> =
                queued.iter().copied().filter(|p| *p != state.curr && movable(&p)).collect();
            let mut found = pushable.clone();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "pushable tasks of CPU {}", rq.cpu);
        }
        if rules.next_def.get() == NextDef::FirstPushable {
            assert_eq!(rt.next(), pushable.first().map_or(Prio::NO_RT, prio));
        }

        let depth = queued.len() > 1;
        let overloaded = match rules.overload_rule.get() {
            OverloadRule::Depth => depth,
            OverloadRule::Pushable => !pushable.is_empty(),
            OverloadRule::Migratory => depth && queued.iter().any(|p| movable(&p)),
        };
        assert_eq!((rt.is_overloaded(), domain.rto_mask().contains(rq.cpu)), (overloaded, overloaded));
        let level = (99 - highest.0).max(0) as u8;
        assert_eq!(domain.cpupri_level(rq.cpu), level);
        assert!(domain.cpupri_cpus(level).cpus.contains(rq.cpu));
    }
    assert_eq!(domain.rto_count(), domain.rto_mask().weight());
    let levels: Vec<_> = (0..=100).map(|level| domain.cpupri_cpus(level)).collect();
    assert!(levels.iter().all(|level| level.count == level.cpus.weight()));
    assert_eq!(levels.iter().map(|level| level.count).sum::<u32>() as usize, k.cpus());
}

fn queued_here(lab: &Lab, p: TaskId, cpu: CpuId) -> bool {
    let task = lab.k.task(p);
    task.on_rq.get() && task.class.get() == Class::Rt && task.cpu.get() == cpu
}
