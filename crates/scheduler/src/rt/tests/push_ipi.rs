//! RT_PUSH_IPI: rt-class 6, E10, E11, P14, P18.

use super::{check_invariants, running};
use crate::RootId;
use crate::platform::RootLine;
use crate::platform::{Ipi, Line, Lock};
use crate::schedule::{Entry, schedule};
use crate::testing::{Lab, Sent, cpus, fifo};
use crate::{CpuId, CpuMask, Policy, TaskId};
use alloc::vec::Vec;

fn lab(n: usize, walker: &str, settings: &[&str]) -> Lab {
    let lab = Lab::new(n, "6.1-rt", settings);
    lab.k.config.set(&alloc::format!("push_ipi_walker={walker}")).expect("a legal setting");
    lab
}

/// CPU `cpu` runs a pinned task of priority 60, and one that `allowed` lets move waits behind it.
fn overload(lab: &Lab, cpu: u16, priority: u8, allowed: CpuMask) -> TaskId {
    let own = CpuMask::single(CpuId(cpu));
    lab.spawn_allowed(fifo(60), cpu, own);
    let p = lab.spawn_unsettled(fifo(priority), 0, cpu, own);
    lab.run(crate::affinity::set_cpus_allowed(lab.cpu(cpu), p, allowed));
    p
}

/// Where push interrupts are on their way to.
fn hops(lab: &Lab) -> Vec<u16> {
    let ipis = lab.k.platform.ipis.borrow();
    ipis.iter().filter(|sent| matches!(sent.ipi, Ipi::Push(_))).map(|sent| sent.to.0).collect()
}

fn deliver_next(lab: &Lab) -> Sent {
    let sent = lab.k.platform.ipis.borrow_mut().pop_front().expect("an interrupt is on its way");
    lab.deliver(sent);
    sent
}

/// E10: K CPUs lower their priority at once, one overloaded CPU, one task to push. Nobody takes a remote
/// lock, and the overloaded CPU pushes once.
#[test]
fn e10_the_herd_asks_instead() {
    for (walker, interrupts) in [("root_domain", 1), ("per_source", 3), ("broadcast", 3)] {
        let lab = lab(4, walker, &[]);
        for cpu in [0, 1, 2] {
            lab.spawn_allowed(fifo(70), cpu, cpus(&[cpu]));
        }
        let p = overload(&lab, 3, 20, CpuMask::ALL);
        lab.forget();
        for cpu in [0, 1, 2] {
            lab.block_unsettled(cpu);
        }
        let remote = lab.k.platform.locks.borrow().contains(&Lock::Rq(CpuId(3)));
        assert!(!remote, "{walker}: only asked");
        assert_eq!(hops(&lab), [3].repeat(interrupts), "{walker}");
        lab.settle();
        assert_eq!((lab.k.totals.pushes.get(), lab.k.totals.pulls.get()), (1, 0), "{walker}");
        assert_eq!(lab.k.totals.push_ipis.get() as usize, interrupts, "{walker}");
        assert!(running(&lab).contains(&p), "{walker}");
        check_invariants(&lab);
    }
}

/// E11: several overloaded CPUs, one lowers. 2015 visits those with something better than what the source has
/// left, 2017 and the draft visit all. The walker of 2017 goes around once more: at its first end it has not
/// yet accounted for the request that started it.
#[test]
fn e11_who_is_visited() {
    for (walker, visited) in
        [("root_domain", &[1, 2, 3, 1, 2, 3][..]), ("per_source", &[1, 3]), ("broadcast", &[1, 2, 3])]
    {
        let lab = lab(4, walker, &[]);
        lab.spawn_allowed(fifo(70), 0, cpus(&[0]));
        lab.spawn_allowed(fifo(25), 0, cpus(&[0]));
        // Pinned away from CPU 0: every push fails, so that no hop changes another.
        overload(&lab, 1, 30, cpus(&[1, 2]));
        overload(&lab, 2, 20, cpus(&[1, 2]));
        overload(&lab, 3, 40, cpus(&[2, 3]));
        lab.block_unsettled(0);
        let mut seen = Vec::new();
        while !hops(&lab).is_empty() {
            let sent = deliver_next(&lab);
            seen.push(sent.to.0);
        }
        assert_eq!(seen, visited, "{walker}");
        assert!(
            !lab.k.root_domain(CpuId(0)).rt.root_walker_active()
                && !lab.k.root_domain(CpuId(0)).rt.source_walker_active(CpuId(0))
        );
    }
}

/// 6.3: the walk goes around the source and ends there; 6.4: from the start to the end.
#[test]
fn order_of_the_hops() {
    for (walker, order) in [("per_source", [3, 0, 1]), ("root_domain", [0, 1, 3])] {
        let lab = lab(4, walker, &[]);
        lab.spawn_allowed(fifo(70), 2, cpus(&[2]));
        overload(&lab, 0, 30, cpus(&[0, 1]));
        overload(&lab, 1, 30, cpus(&[0, 1]));
        overload(&lab, 3, 30, cpus(&[0, 3]));
        lab.block_unsettled(2);
        let visited = order.map(|_| deliver_next(&lab).to.0);
        assert_eq!(visited, order, "{walker}");
        assert_eq!(hops(&lab).first(), if walker == "root_domain" { Some(&0) } else { None }, "{walker}");
    }
}

/// 6.3: one push for each visit; 6.4: until nothing more can be pushed.
#[test]
fn pushes_per_visit() {
    for (walker, pushes) in [("per_source", 1), ("root_domain", 2), ("broadcast", 2)] {
        let lab = lab(3, walker, &[]);
        let pinned = [1, 2].map(|cpu| lab.spawn_allowed(fifo(70), cpu, CpuMask::single(CpuId(cpu))));
        overload(&lab, 0, 30, CpuMask::ALL);
        let second = lab.spawn_unsettled(fifo(20), 0, 0, cpus(&[0]));
        lab.run(crate::affinity::set_cpus_allowed(lab.cpu(0), second, CpuMask::ALL));
        lab.block_unsettled(1);
        // CPU 2 becomes free without asking anybody.
        lab.k.config.set("NO_RT_PUSH_IPI").expect("a legal setting");
        lab.k.config.set("pull_filter=next_prio").expect("a legal setting");
        lab.k.rq(CpuId(0)).published.rt_next.overwrite(crate::Prio::NO_RT);
        lab.block_unsettled(2);
        lab.k.config.set("RT_PUSH_IPI").expect("a legal setting");
        lab.k.rq(CpuId(0)).published.rt_next.overwrite(lab.k.task(second).prio.get());
        assert_eq!(pinned.len(), 2);
        deliver_next(&lab);
        assert_eq!(lab.k.totals.pushes.get(), pushes, "{walker}");
    }
}

/// 6.4: while a walker is under way a request only counts itself, and the walker then starts over.
#[test]
fn a_request_during_the_walk_makes_it_start_over() {
    let lab = lab(4, "root_domain", &[]);
    for cpu in [0, 1] {
        lab.spawn_allowed(fifo(70), cpu, cpus(&[cpu]));
    }
    overload(&lab, 2, 30, cpus(&[2, 3]));
    overload(&lab, 3, 30, cpus(&[2, 3]));
    lab.block_unsettled(0);
    assert_eq!(hops(&lab), [2]);
    deliver_next(&lab);
    assert_eq!(hops(&lab), [3]);
    lab.forget();
    lab.block_unsettled(1);
    assert_eq!(hops(&lab), [3], "P14: one interrupt in flight for the whole root domain");
    assert_eq!(
        lab.lines_touched(|line| line == Line::Root(RootId(0), RootLine::PushRequest)),
        2,
        "count, and the gate"
    );
    deliver_next(&lab);
    assert_eq!(hops(&lab), [2], "over again");
    deliver_next(&lab);
    deliver_next(&lab);
    assert!(hops(&lab).is_empty() && !lab.k.root_domain(CpuId(0)).rt.root_walker_active());
}

/// 6.4: while one requester tries to start a walker, another does not even wait for the lock.
#[test]
fn the_gate_lets_one_requester_in() {
    let lab = lab(3, "root_domain", &[]);
    for cpu in [0, 1] {
        lab.spawn_allowed(fifo(70), cpu, cpus(&[cpu]));
    }
    overload(&lab, 2, 30, CpuMask::ALL);
    lab.k.task(lab.running(0)).state.overwrite(crate::TaskState::Interruptible);
    let first = crate::schedule::schedule(lab.cpu(0), crate::schedule::Entry::Call);
    lab.forget();
    lab.meanwhile(
        |lock| lock == Lock::Rto(RootId(0)),
        first,
        |_| {
            lab.block_unsettled(1);
        },
    );
    let waits = lab.k.platform.locks.borrow().iter().filter(|lock| **lock == Lock::Rto(RootId(0))).count();
    assert_eq!((waits, hops(&lab).len()), (1, 1));
}

/// 6.3: a request while the source's walker is under way makes it start over.
#[test]
fn a_second_request_restarts_the_source_walker() {
    let lab = lab(3, "per_source", &[]);
    let first = lab.spawn_allowed(fifo(70), 0, cpus(&[0]));
    lab.spawn_allowed(fifo(25), 0, cpus(&[0]));
    overload(&lab, 1, 30, cpus(&[1, 2]));
    overload(&lab, 2, 30, cpus(&[1, 2]));
    lab.block_unsettled(0);
    deliver_next(&lab);
    assert_eq!(hops(&lab), [2]);
    lab.block_unsettled(0);
    assert_eq!(hops(&lab), [2], "P14: one for each source");
    deliver_next(&lab);
    assert_eq!(hops(&lab), [1], "over again");
    deliver_next(&lab);
    deliver_next(&lab);
    assert!(hops(&lab).is_empty() && !lab.k.root_domain(CpuId(0)).rt.source_walker_active(CpuId(0)));
    assert!(!running(&lab).contains(&first));
}

/// 6.3: after a restart the only hop may be the CPU that the walker is on: it pushes again without an
/// interrupt.
#[test]
fn a_restart_on_the_same_cpu_needs_no_interrupt() {
    let lab = lab(2, "per_source", &[]);
    lab.spawn_allowed(fifo(70), 0, cpus(&[0]));
    lab.spawn_allowed(fifo(40), 0, cpus(&[0]));
    let p = overload(&lab, 1, 50, cpus(&[0, 1]));
    lab.block_unsettled(0);
    let sent = lab.k.platform.ipis.borrow_mut().pop_front().expect("an interrupt is on its way");
    // By the time it is handled the source lowers its priority once more.
    lab.block_unsettled(0);
    lab.forget();
    lab.deliver(sent);
    let locks = lab.k.platform.locks.borrow().iter().filter(|l| **l == Lock::PushWalker(CpuId(0))).count();
    assert_eq!(
        (lab.cpu_of(p), hops(&lab).len(), locks),
        (0, 0, 1),
        "pushed, and nobody is overloaded any more"
    );

    // The first push goes to CPU 2, which nobody else serves; the second task is still better than what the
    // source runs.
    let lab = self::lab(3, "per_source", &[]);
    for priority in [70, 40, 25] {
        lab.spawn_allowed(fifo(priority), 0, cpus(&[0]));
    }
    lab.spawn_allowed(fifo(70), 2, cpus(&[2]));
    let first = overload(&lab, 1, 55, cpus(&[1, 2]));
    let second = lab.spawn_unsettled(fifo(45), 0, 1, cpus(&[1]));
    lab.run(crate::affinity::set_cpus_allowed(lab.cpu(1), second, cpus(&[0, 1])));
    lab.block_unsettled(0);
    lab.block_unsettled(0);
    lab.block_unsettled(2);
    let sent = lab.k.platform.ipis.borrow_mut().pop_front();
    assert_eq!(sent.map(|sent| sent.ipi), Some(Ipi::Push(CpuId(0))));
    let before = lab.k.totals.push_ipis.get();
    lab.deliver(sent.expect("it was sent"));
    assert_eq!((lab.cpu_of(first), lab.cpu_of(second)), (2, 0), "two pushes");
    assert_eq!(lab.k.totals.push_ipis.get(), before, "and no interrupt for the second");
}

/// 6.2: the requester does not interrupt itself, though it may be overloaded.
#[test]
fn broadcast_leaves_the_requester_out() {
    let lab = lab(3, "broadcast", &[]);
    lab.spawn_allowed(fifo(70), 0, cpus(&[0]));
    overload(&lab, 0, 10, cpus(&[0, 1]));
    overload(&lab, 1, 30, CpuMask::ALL);
    lab.spawn_allowed(fifo(70), 2, cpus(&[2]));
    lab.block_unsettled(0);
    assert_eq!(hops(&lab), [1]);
}

/// 6.4, the 2026 fix: one overloaded CPU that cannot push, asked again and again, does not interrupt itself.
#[test]
fn rto_skip_self() {
    for (rule, to_itself) in [("on", 0), ("off", 1)] {
        let lab = lab(3, "root_domain", &[&alloc::format!("rto_skip_self={rule}")]);
        for cpu in [0, 1] {
            lab.spawn_allowed(fifo(70), cpu, cpus(&[cpu]));
        }
        // Its waiter may go to CPU 1 only, which stays busy with something as high.
        overload(&lab, 2, 30, cpus(&[1, 2]));
        lab.spawn_allowed(fifo(65), 1, cpus(&[1]));
        lab.block_unsettled(0);
        lab.block_unsettled(1);
        deliver_next(&lab);
        assert_eq!(hops(&lab).len(), to_itself, "{rule}");
        lab.settle();
        assert!(!lab.k.root_domain(CpuId(0)).rt.root_walker_active(), "P18: it ends when requests stop");
    }
}

/// deadline-groups E7.2: the only overloaded CPU cannot push, and a hundred requests come while it is asked:
/// before the fix of 2026 it asks itself once more for each that comes while it looks; since then never.
#[test]
fn a_hundred_requests_while_it_looks() {
    for (rule, at_a_time, visits) in [("off", 1, 101), ("on", 100, 1)] {
        let lab = lab(3, "root_domain", &[&alloc::format!("rto_skip_self={rule}")]);
        lab.spawn_allowed(fifo(65), 1, cpus(&[1]));
        overload(&lab, 2, 30, cpus(&[1, 2]));
        let lowers = || {
            lab.spawn_unsettled(fifo(70), 0, 0, cpus(&[0]));
            lab.run(schedule(lab.cpu(0), Entry::Preemption));
            lab.block_unsettled(0);
        };
        lowers();
        let (mut left, mut visited) = (100, 0);
        while let Some(asked) = lab.take_ipi(CpuId(2)) {
            visited += 1;
            let in_the_end = |lock| matches!(lock, Lock::Rto(_));
            lab.meanwhile(in_the_end, lab.handle(asked), |_| {
                let now = at_a_time.min(left);
                left -= now;
                (0..now).for_each(|_| lowers());
            });
        }
        assert_eq!((visited, left), (visits, 0), "{rule}");
    }
}

/// deadline-groups E7.1, E7.3: a CPU whose soft interrupt goes on runs a fair task, and two real-time tasks
/// wait there that could run elsewhere. Asked to push, it only asks itself to reschedule; as was proposed in
/// May 2026, it pushes at once, or the sixteenth time.
#[test]
fn a_cpu_that_cannot_reschedule_pushes_as_push_ipi_bail_says() {
    for (rule, pushes_at) in [("on", None), ("limited", Some(16)), ("off", Some(1))] {
        let lab = lab(2, "root_domain", &[&alloc::format!("push_ipi_bail={rule}")]);
        lab.spawn(Policy::Normal, 0);
        let blocks = lab.spawn_allowed(fifo(70), 1, cpus(&[1]));
        let waiters = [30, 20].map(|priority| lab.spawn_unsettled(fifo(priority), 0, 0, cpus(&[0])));
        for waiter in waiters {
            lab.run(crate::affinity::set_cpus_allowed(lab.cpu(0), waiter, CpuMask::ALL));
        }
        lab.block_unsettled(1);
        let asked = deliver_next(&lab);
        assert_eq!((asked.to, lab.running(1) == blocks), (CpuId(0), false));
        let mut visits = 1;
        while lab.cpu_of(waiters[0]) == 0 && visits < 100 {
            visits += 1;
            lab.deliver(Sent { ..asked });
        }
        assert_eq!((lab.cpu_of(waiters[0]) == 1).then_some(visits), pushes_at, "{rule}");
        assert!(lab.k.rq(CpuId(0)).published.is_asked(), "{rule}: CPU 0 is still to reschedule");
        assert_eq!(lab.k.totals.pushes.get(), u64::from(pushes_at.is_some()), "{rule}");
    }
}

/// A walker that is under way when the rule changes ends as what it was, and none is left behind.
#[test]
fn a_walker_survives_a_change_of_the_rule() {
    for (before, after, visits) in [("root_domain", "per_source", 4), ("per_source", "root_domain", 2)] {
        let lab = lab(4, before, &[]);
        lab.spawn_allowed(fifo(70), 0, cpus(&[0]));
        overload(&lab, 1, 30, cpus(&[1, 2]));
        overload(&lab, 2, 30, cpus(&[1, 2]));
        lab.block_unsettled(0);
        lab.k.config.set(&alloc::format!("push_ipi_walker={after}")).expect("a legal setting");
        lab.settle();
        assert_eq!(lab.k.totals.push_ipis.get(), visits, "{before}: it visited both");
        assert!(
            !lab.k.root_domain(CpuId(0)).rt.root_walker_active()
                && !lab.k.root_domain(CpuId(0)).rt.source_walker_active(CpuId(0))
        );
    }
}

/// The rule changes while a source's walker is on its way to CPU 2, and the same source makes the root
/// domain's walker go to CPU 1: each interrupt goes on with its own walk.
#[test]
fn two_walkers_of_one_source_are_told_apart() {
    let lab = lab(4, "per_source", &[]);
    for priority in [80, 70] {
        lab.spawn_allowed(fifo(priority), 0, cpus(&[0]));
    }
    let waiter = overload(&lab, 1, 30, cpus(&[1]));
    overload(&lab, 2, 30, cpus(&[2, 3]));
    overload(&lab, 3, 75, cpus(&[2, 3]));
    lab.block_unsettled(0);
    assert_eq!(hops(&lab), [3]);
    lab.k.config.set("push_ipi_walker=root_domain").expect("a legal setting");
    lab.run(crate::affinity::set_cpus_allowed(lab.cpu(1), waiter, cpus(&[1, 2])));
    lab.block_unsettled(0);
    assert_eq!(hops(&lab), [3, 1]);
    let root = lab.k.platform.ipis.borrow_mut().pop_back().expect("the second one");
    lab.deliver(root);
    assert_eq!(hops(&lab), [3, 2], "on through the root domain");
    lab.settle();
    let rt = &lab.k.root_domain(CpuId(0)).rt;
    assert!(!rt.root_walker_active() && !rt.source_walker_active(CpuId(0)));
}
