use super::*;
use crate::testing::Lab;
use crate::{Partitions, Policy, Topology};

/// 4.10: a CPU of a cache asks for balancing where another one there is busy, too.
#[test]
fn the_only_busy_cpu_of_a_cache_asks_nobody() {
    let lab = Lab::on(&Topology::flat(4), "6.1.y", &[]);
    lab.spawn(Policy::Normal, 0);
    let reason = |idle| {
        shared_cache(lab.cpu(0), lab.cpu(0).id).nr_idle.set(idle);
        let reason = kick_reason(lab.cpu(0));
        shared_cache(lab.cpu(0), lab.cpu(0).id).nr_idle.set(0);
        reason
    };
    assert_eq!([3, 2].map(reason), [None, Some(Reason::KickBusyLlc)]);
    lab.k.config.set("nohz_balance=balance_only").expect("legal");
    assert_eq!(reason(2), None, "8.5: up to 4.16 nobody is outside its cache to take anything");
}

/// 4.10: what is asked for twice is asked for.
#[test]
fn requests_add_up() {
    let all = Request { stats: true, balance: true, next: true };
    let none = Request::default();
    let one =
        [Request { stats: true, ..none }, Request { balance: true, ..none }, Request { next: true, ..none }];
    for request in one {
        assert_eq!([request.with(none), none.with(request)], [request; 2]);
        assert_eq!(request.with(all), all);
    }
}

/// A machine of four CPUs of which CPU 0 has so many tasks and the others idle, in its hundredth tick, in
/// which nothing is due.
fn in_tick_100(tasks: usize, rule: &str) -> Lab {
    let lab = Lab::on(&Topology::flat(4), "6.1.y", &["hz=1000", rule]);
    (0..tasks).for_each(|_| _ = lab.spawn_allowed(Policy::Normal, 0, CpuMask::single(CpuId(0))));
    lab.advance(Nanos::from_millis(100));
    let root = &lab.k.fair_root.nohz;
    root.has_blocked.set(false);
    root.needs_update.set(false);
    root.next_balance.set(101);
    root.next_blocked.set(99);
    lab
}

/// 4.10, at the tick of a busy CPU: averages where some still fade and the tick for that has passed; when
/// the next CPU is due where one has joined; balancing from its tick on where there is a reason.
#[test]
fn what_a_busy_cpu_asks_for() {
    let asked = |tasks, rule: &str, change: fn(&NohzRoot)| {
        let lab = in_tick_100(tasks, rule);
        change(&lab.k.fair_root.nohz);
        nohz_balancer_kick(lab.cpu(0), false);
        let Request { stats, balance, next } = lab.k.rq(CpuId(1)).published.balance.nohz_request.get();
        [stats, balance, next]
    };
    let newest = "nohz_balance=next_due";
    assert_eq!(asked(1, newest, |_| ()), [false; 3]);
    assert_eq!(asked(1, newest, |root| root.has_blocked.set(true)), [true, false, false]);
    let not_yet = |root: &NohzRoot| {
        root.has_blocked.set(true);
        root.next_blocked.set(100);
    };
    assert_eq!(asked(1, newest, not_yet), [false; 3]);
    assert_eq!(asked(1, newest, |root| root.needs_update.set(true)), [false, false, true]);
    assert_eq!(asked(1, "nohz_balance=behind", |root| root.needs_update.set(true)), [false; 3]);
    assert_eq!(asked(2, newest, |root| root.next_balance.set(100)), [true, true, false]);
    assert_eq!(asked(2, newest, |_| ()), [false; 3], "a tick too early");
    assert_eq!(asked(1, newest, |root| root.next_balance.set(100)), [false; 3], "no reason");
}

/// 4.9, 4.10: a CPU that found no work sees to the averages of others if it idles for long enough, some
/// fade, and it is time.
#[test]
fn who_brings_averages_up_to_date() {
    let wants = |rule: &str, avg_idle, blocked, next| {
        let lab = in_tick_100(1, rule);
        let root = &lab.k.fair_root.nohz;
        root.has_blocked.set(blocked);
        root.next_blocked.set(next);
        lab.k.rq(CpuId(1)).published.balance.idle.average.set(Nanos(avg_idle));
        wants_stats(&lab.run(lab.cpu(1).lock(CpuId(1))))
    };
    let newest = "nohz_balance=next_due";
    assert_eq!([500_000, 499_999].map(|idle| wants(newest, idle, true, 100)), [true, false]);
    assert_eq!([100, 101].map(|next| wants(newest, 500_000, true, next)), [true, false]);
    assert!(!wants(newest, 500_000, false, 100));
    assert!(!wants("nohz_balance=balance_only", 500_000, true, 100));
}

/// 4.10: real-time tasks take a CPU from its fair tasks; without any that is no reason.
#[test]
fn a_cpu_that_is_worth_less_asks_for_its_fair_tasks() {
    let reason = |policy| {
        let lab = Lab::on(&Topology::flat(4), "6.1.y", &[]);
        lab.spawn_allowed(policy, 0, CpuMask::single(CpuId(0)));
        lab.k.rq(CpuId(0)).published.pelt.capacity.left.set(51);
        shared_cache(lab.cpu(0), CpuId(0)).nr_idle.set(3);
        let reason = kick_reason(lab.cpu(0));
        shared_cache(lab.cpu(0), CpuId(0)).nr_idle.set(4);
        reason
    };
    assert_eq!(reason(Policy::Normal), Some(Reason::KickCapacity));
    assert_eq!(reason(crate::testing::fifo(50)), None);
}

/// 4.10: who enters: not where balancing knows of no such CPUs, nor a CPU that is balanced with no other.
#[test]
fn who_is_noted_as_idle_without_a_tick() {
    let noted = |partitions: &Partitions, rule: &str| {
        let lab = Lab::divided(&Topology::flat(4), partitions, "6.1.y", &[rule]);
        *lab.k.fair_root.nohz.idle.borrow_mut() = CpuMask::EMPTY;
        tick_stopped(lab.cpu(0));
        lab.k.fair_root.idle_cpus().contains(CpuId(0))
    };
    let whole = Partitions::whole(4);
    assert!(noted(&whole, "lb=group_type") && !noted(&whole, "lb=group_load"));
    let of_the_others = Partitions::new([(1..4).map(CpuId).collect()]);
    assert!(!noted(&of_the_others, "lb=group_type"));
}

/// 4.10, up to 4.16: balancing is asked for from its tick on.
#[test]
fn when_an_idle_cpu_was_asked_up_to_4_16() {
    let asked = |next: u64| {
        let lab = in_tick_100(2, "nohz_balance=balance_only");
        lab.k.fair_root.nohz.next_balance.set(next);
        nohz_balancer_kick(lab.cpu(0), false);
        lab.k.rq(CpuId(1)).published.balance.nohz_request.get().balance
    };
    assert_eq!([99, 100, 101].map(asked), [true, true, false]);
}

/// 4.10, kick: the lowest that idles; one that has got a task since its tick stopped is passed over.
#[test]
fn who_is_asked() {
    let lab = in_tick_100(2, "nohz_balance=next_due");
    lab.spawn_unsettled(Policy::Normal, 0, 1, CpuMask::single(CpuId(1)));
    assert!(lab.k.fair_root.idle_cpus().contains(CpuId(1)));
    lab.k.fair_root.nohz.next_balance.set(100);
    nohz_balancer_kick(lab.cpu(0), false);
    let asked = |cpu| !lab.k.rq(CpuId(cpu)).published.balance.nohz_request.get().is_empty();
    assert_eq!([1, 2, 3].map(asked), [false, true, false]);
}

/// How often the only domain of these CPUs was balanced for them.
fn attempts(lab: &Lab) -> [u64; 4] {
    let idle = Situation::Idle.index();
    [0, 1, 2, 3].map(|cpu| lab.k.domains(CpuId(cpu))[0].balance.counts[idle].attempts.get())
}

/// All are due in such a tick, but this one.
fn all_but_one_due(lab: &Lab, late: u16) {
    for cpu in 0..4 {
        let due = lab.k.platform.now.get() + Nanos(u64::from(cpu == late));
        lab.k.rq(CpuId(cpu)).published.balance.next_balance.set(due);
    }
}

/// 4.10: the interrupt finds a CPU that idles and is asked for something; else nothing happens.
#[test]
fn what_the_interrupt_finds() {
    for rule in ["nohz_balance=next_due", "nohz_balance=balance_only"] {
        let served = |request: Request, busy: bool| {
            let lab = in_tick_100(1, rule);
            all_but_one_due(&lab, 3);
            if busy {
                lab.spawn_unsettled(Policy::Normal, 0, 1, CpuMask::single(CpuId(1)));
            }
            lab.k.rq(CpuId(1)).published.balance.nohz_request.set(request);
            lab.run(nohz_csd_func(lab.cpu(1)));
            assert!(lab.k.rq(CpuId(1)).published.balance.nohz_request.get().is_empty());
            attempts(&lab)
        };
        let balance = Request { balance: true, ..Request::default() };
        assert_eq!(served(balance, false), [0, 1, 1, 0], "{rule}: those that idle, and are due");
        assert_eq!(served(balance, true), [0; 4], "{rule}: it is busy again");
        assert_eq!(served(Request::default(), false), [0; 4], "{rule}: nobody asked");
    }
}

/// 4.10, serving: without BALANCE nobody is balanced, but it is found out when the next one is due.
#[test]
fn what_is_not_asked_for_is_not_done() {
    let lab = in_tick_100(1, "nohz_balance=next_due");
    all_but_one_due(&lab, 3);
    lab.k.rq(CpuId(2)).published.balance.next_balance.set(Nanos::from_millis(90));
    lab.run(serve(lab.cpu(1), Request { next: true, ..Request::default() }));
    assert_eq!((attempts(&lab), lab.k.fair_root.nohz.next_balance.get()), ([0; 4], 90));
}

/// 4.10, serving: where the server has something better to do, what it was to find out is put back.
#[test]
fn an_interrupted_server_puts_its_work_back() {
    let left = |request: Request, busy: bool, asked: bool, needs: bool| {
        let lab = in_tick_100(1, "nohz_balance=next_due");
        if busy {
            lab.spawn_allowed(Policy::Normal, 1, CpuMask::single(CpuId(1)));
        }
        let resched = if asked { crate::rq::Resched::Full } else { crate::rq::Resched::No };
        lab.k.rq(CpuId(1)).published.resched.overwrite(resched);
        all_but_one_due(&lab, 3);
        let root = &lab.k.fair_root.nohz;
        root.needs_update.set(needs);
        for cpu in 2..4 {
            lab.k.rq(CpuId(cpu)).published.balance.has_blocked_load.set(false);
        }
        lab.k.rq(CpuId(1)).published.balance.nohz_request.set(request);
        lab.run(nohz_idle_balance(lab.cpu(1)));
        (root.has_blocked.get(), root.needs_update.get(), attempts(&lab)[2] > 0)
    };
    let all = Request { stats: true, balance: true, next: true };
    assert_eq!(left(all, true, true, true), (true, true, false), "put back");
    assert_eq!(left(all, true, false, true), (false, false, true), "busy, but nobody asks for it");
    assert_eq!(left(all, false, true, true), (false, false, true), "it idles");
    let balance = Request { balance: true, ..Request::default() };
    assert_eq!(left(balance, true, true, false), (false, false, false), "nothing to put back");
    assert_eq!(left(balance, true, true, true), (false, true, false), "somebody else joined");
    let next = Request { next: true, ..Request::default() };
    assert_eq!(left(next, true, true, false), (false, true, false));
}

/// 8.5: up to 5.12 a CPU that was balanced idle brings the tick forward from which all may be asked for, and
/// never puts it off; nor does a busy one, or a later kernel.
#[test]
fn who_brings_the_next_kick_forward() {
    let next = |rule: &str, due| {
        let lab = in_tick_100(1, rule);
        balanced_idle(lab.cpu(1), due);
        lab.k.fair_root.nohz.next_balance.get()
    };
    let ascending = "nohz_balance=ascending";
    assert_eq!([100, 101, 102].map(|due| next(ascending, due)), [100, 101, 101]);
    assert_eq!(next("nohz_balance=behind", 100), 101);
    let after_a_pass = |situation| {
        let lab = in_tick_100(1, ascending);
        lab.k.fair_root.nohz.next_balance.set(100_000);
        lab.run(rebalance_domains(lab.cpu(1), CpuId(1), situation));
        lab.k.fair_root.nohz.next_balance.get() < 100_000
    };
    assert_eq!([Situation::Idle, Situation::Busy].map(after_a_pass), [true, false]);
}
