use super::*;
use crate::platform::Lock;
use crate::testing::{Lab, cpus, level};
use crate::{CpuMask, LevelKind, Policy, TaskId, Topology};

const BY_LOAD: Imbalance = Imbalance { kind: Kind::Load, amount: 1 };
const BY_TASKS: Imbalance = Imbalance { kind: Kind::Task, amount: 1 };

/// A pass for `dest` over its largest domain.
fn pass(lab: &Lab, dest: u16, situation: Situation) -> Search<'_> {
    let domain = lab.k.domains(CpuId(dest)).last().expect("a domain");
    Search { dest: CpuId(dest), domain, situation, cpus: domain.span }
}

/// A hog that runs on a CPU, and may run on these.
fn hog(lab: &Lab, cpu: u16, allowed: CpuMask) -> TaskId {
    let p = lab.spawn_allowed(Policy::Normal, cpu, CpuMask::single(CpuId(cpu)));
    lab.run(crate::affinity::set_cpus_allowed(lab.cpu(cpu), p, allowed));
    p
}

/// What real-time tasks leave of a CPU.
fn leave(lab: &Lab, cpu: u16, of_1024: u64) {
    lab.k.rq(CpuId(cpu)).published.pelt.capacity.left.set(of_1024);
}

/// Whether CPU 1 is to be asked for a task that `dest` could have, as nothing has failed so far.
fn is_wanted(lab: &Lab, dest: u16, from: u16, situation: Situation) -> bool {
    let search = pass(lab, dest, situation);
    needs_active_balance(lab.cpu(dest), &search, CpuId(dest), CpuId(from), BY_LOAD)
}

/// fair-placement E54: real-time tasks leave the source 51 of 1024 for its only fair task.
#[test]
fn e54_a_cpu_that_is_worth_less_gives_its_running_task_away() {
    let wanted = |left: [u64; 2], tasks: usize, situation| {
        let lab = Lab::on(&Topology::flat(2), "6.1.y", &[]);
        (0..tasks).for_each(|_| _ = hog(&lab, 1, cpus(&[1])));
        [0, 1].into_iter().zip(left).for_each(|(cpu, left)| leave(&lab, cpu, left));
        is_wanted(&lab, 0, 1, situation)
    };
    assert!(wanted([1024, 51], 1, Situation::Idle) && wanted([1024, 51], 1, Situation::NewlyIdle));
    assert!(!wanted([1024, 51], 1, Situation::Busy), "a busy CPU does not ask");
    assert!(!wanted([1024, 51], 2, Situation::Idle), "one waits there, and can be pulled");
    assert!(!wanted([1024, 1024], 1, Situation::Idle));
    assert!(!wanted([1024, 876], 1, Situation::Idle), "876 · 117 > 102400");
    // 100 · 117 = 117 · 100
    assert!(!wanted([117, 100], 1, Situation::Idle) && wanted([118, 100], 1, Situation::Idle));
}

/// 4.9 row 3: a small CPU that real-time tasks leave alone is worth what it always is.
#[test]
fn a_small_cpu_is_not_one_that_is_worth_less() {
    let topology = Topology::flat(2).with_capacities([1024, 446].into());
    let lab = Lab::on(&topology, "6.1.y", &[]);
    hog(&lab, 1, cpus(&[1]));
    assert!(!is_wanted(&lab, 0, 1, Situation::Idle));
    leave(&lab, 1, 300);
    assert!(is_wanted(&lab, 0, 1, Situation::Idle));
}

/// 4.9 row 1, deadline-groups C9: an idle CPU that is preferred asks at once, whatever is counted.
#[test]
fn a_cpu_that_is_preferred_asks_for_the_running_task() {
    let wanted = |dest: u16, situation| {
        let topology = Topology::flat(2).with_priorities([60, 35].into());
        let lab = Lab::on(&topology, "6.1.y", &["asym_packing=by_priority"]);
        hog(&lab, 1 - dest, cpus(&[1 - dest]));
        is_wanted(&lab, dest, 1 - dest, situation)
    };
    assert!(wanted(0, Situation::Idle) && wanted(0, Situation::NewlyIdle));
    assert!(!wanted(0, Situation::Busy) && !wanted(1, Situation::Idle));
}

/// 4.9 row 4: a task that does not fit its CPU is asked for at once.
#[test]
fn a_misfit_is_asked_for() {
    let lab = Lab::on(&Topology::flat(2), "6.1.y", &[]);
    hog(&lab, 1, cpus(&[1]));
    let wanted = |kind| {
        let search = pass(&lab, 0, Situation::Idle);
        needs_active_balance(lab.cpu(0), &search, CpuId(0), CpuId(1), Imbalance { kind, amount: 1 })
    };
    assert_eq!([wanted(Kind::Misfit), wanted(Kind::Task)], [true, false]);
}

/// What a failure leaves of the count of failures and of the interval (4 to 8 ms on this machine), and
/// whether the busy CPU is asked.
#[derive(PartialEq, Eq, Debug)]
struct Left {
    failures: u32,
    interval_ms: u64,
    asked: bool,
}

fn left(failures: u32, interval_ms: u64, asked: bool) -> Left {
    Left { failures, interval_ms, asked }
}

/// CPU 0 could have the task that runs on CPU 1; so many attempts have failed, and this one does too.
fn fails(
    lab: &Lab,
    before: u32,
    interval_ms: u64,
    imbalance: Imbalance,
    meanwhile: impl FnMut(Lock),
) -> Left {
    hog(lab, 1, CpuMask::first_n(4));
    let search = pass(lab, 0, Situation::Idle);
    let state = &search.domain.balance;
    state.nr_balance_failed.set(before);
    state.balance_interval_ms.set(interval_ms);
    let mut pull = Pull::default();
    let path = failed(lab.cpu(0), &search, &mut pull, CpuId(0), CpuId(1), imbalance);
    lab.meanwhile(|lock| lock == Lock::Rq(CpuId(1)), path, meanwhile);
    let asked = state.other_counts.active.get() > 0;
    left(state.nr_balance_failed.get(), state.balance_interval_ms.get(), asked)
}

fn four_cpus(rule: &str, priorities: &[u16]) -> Lab {
    let topology = Topology::flat(4).with_priorities(priorities.into());
    Lab::on(&topology, "6.1.y", &[rule, "asym_packing=by_priority"])
}

/// 4.4 steps 7 and 8: more than cache_nice_tries + 2 = 3 failures of passes that count tasks. The interval is
/// the shortest afterwards, unless the busy CPU was asked and need not be any more.
#[test]
fn after_a_failure_in_5_13_and_later() {
    let after =
        |before, imbalance| fails(&four_cpus("lb_active=task_counts", &[]), before, 5, imbalance, |_| ());
    assert_eq!(after(2, BY_TASKS), left(3, 4, false));
    assert_eq!(after(3, BY_TASKS), left(4, 4, true));
    assert_eq!(after(3, BY_LOAD), left(4, 4, false));
    let lab = four_cpus("lb_active=task_counts", &[]);
    leave(&lab, 1, 51);
    let sleeps = |_| {
        if !lab.idle(1) {
            lab.block_unsettled(1);
        }
    };
    assert_eq!(fails(&lab, 0, 5, BY_LOAD, sleeps), left(1, 5, true));
}

/// 4.9, 8.5: up to 5.12 all failures counted, one less than enough was left of them, and the interval doubled
/// up to the longest, but not for a CPU that is worth less, or is preferred less.
#[test]
fn after_a_failure_up_to_5_12() {
    let rule = "lb_active=any_failure";
    let after = |before, interval| fails(&four_cpus(rule, &[]), before, interval, BY_LOAD, |_| ());
    assert_eq!(after(2, 5), left(3, 4, false));
    assert_eq!(after(3, 5), left(2, 10, true));
    assert_eq!([after(3, 7), after(3, 8)], [left(2, 14, true), left(2, 8, true)]);
    let lab = four_cpus(rule, &[]);
    leave(&lab, 1, 51);
    assert_eq!(fails(&lab, 0, 5, BY_LOAD, |_| ()), left(2, 4, true));
    let lab = four_cpus(rule, &[60, 35, 35, 35]);
    assert_eq!(fails(&lab, 0, 5, BY_LOAD, |_| ()), left(2, 4, true));
}

/// 4.4 step 7: what moved ends the failures, and balancing is tried again soon.
#[test]
fn after_a_success() {
    let lab = Lab::on(&Topology::flat(4), "6.1.y", &[]);
    let domain = pass(&lab, 1, Situation::Idle).domain;
    (0..3).for_each(|_| _ = hog(&lab, 0, cpus(&[0, 1])));
    lab.advance(crate::Nanos::from_millis(1));
    domain.balance.nr_balance_failed.set(1);
    domain.balance.balance_interval_ms.set(8);
    let outcome = lab.run(load_balance(lab.cpu(1), CpuId(1), domain, Situation::Idle));
    assert!(matches!(outcome, Outcome::Moved(1..)));
    let state = &domain.balance;
    assert_eq!((state.nr_balance_failed.get(), state.balance_interval_ms.get()), (0, 4));
    assert_eq!(state.counts[Situation::Idle.index()].failed.get(), 0);
}

/// 4.4 step 2: a CPU to which somebody comes is not about to idle.
#[test]
fn who_balances_as_newly_idle() {
    let balances = |queued: bool, on_the_way: bool| {
        let lab = Lab::on(&Topology::flat(2), "6.1.y", &[]);
        let p = hog(&lab, 0, cpus(&[0]));
        if !queued {
            lab.block(0);
        }
        if on_the_way {
            lab.k.rq(CpuId(0)).wake_list.push(p);
        }
        should_we_balance(lab.cpu(0), &pass(&lab, 0, Situation::NewlyIdle))
    };
    assert!(balances(false, false));
    assert!(!balances(true, false) && !balances(false, true));
}

/// Two caches of four CPUs; on CPU 0 run and wait tasks that may run on these.
fn two_caches(allowed: &[&[u16]]) -> Lab {
    let levels = [level(8, LevelKind::Mc, 4), level(8, LevelKind::Package, 8)].into();
    let lab = Lab::on(&Topology::of(8, levels), "6.1.y", &[]);
    for allowed in allowed {
        lab.spawn_unsettled(Policy::Normal, 0, 0, cpus(allowed));
        lab.settle();
    }
    lab.advance(crate::Nanos::from_millis(1));
    lab
}

/// 4.4 step 6b: a task that may run beside the destination is for that only if something is still to move.
#[test]
fn when_another_cpu_gets_the_tasks() {
    for (amount, redirected, beside) in [(1, 0, 0), (2, 1, 1)] {
        let lab = two_caches(&[&[0], &[0, 6], &[0, 4]]);
        let mut search = pass(&lab, 4, Situation::Idle);
        let mut pull = Pull::default();
        pull.begin(lab.cpu(4), CpuId(0), Imbalance { kind: Kind::Task, amount });
        lab.run(pull_tasks(lab.cpu(4), &mut search, &mut pull));
        assert_eq!(lab.count(Reason::LbRedirected), redirected, "{amount}");
        let nr = |cpu| lab.k.rq(CpuId(cpu)).published.nr_running.get();
        assert_eq!([nr(4), nr(6)], [1, beside], "{amount}");
    }
}

/// 4.4 step 6c: the level above is told of tasks that may not come, if something was still to move.
#[test]
fn who_is_told_of_bound_tasks() {
    let told = |some_pinned, remaining| {
        let lab = two_caches(&[]);
        let domains = lab.k.domains(CpuId(4));
        let mut pull = Pull::default();
        pull.some_pinned = some_pinned;
        pull.remaining = remaining;
        note_pinned(lab.cpu(4), CpuId(4), &domains[0], &pull);
        domains[1].own_group().imbalanced.get()
    };
    assert_eq!([told(true, 1), told(true, 0), told(true, -1), told(false, 1)], [true, false, false, false]);
}
