//! RT_GROUP_SCHED: deadline-groups B9, and A12.

use super::super::{RtLimit, RtThrottleCounts, sched_rt_period_timer};
use crate::check::{Past, violations};
use crate::fair::GroupParams;
use crate::fork::{NewTask, new_task, wake_up_new_task_on};
use crate::testing::{Dice, Lab, cpus, deadline, fifo, plain_group, rr, sched_setscheduler};
use crate::{
    CpuId, CpuMask, Event, GroupId, Nanos, Nice, NotAdmitted, Pid, Policy, Prio, TaskId, Throttled, admits,
};
use alloc::vec::Vec;

const GROUPS: &str = "rt_throttle=groups";
const STRICT: &str = "NO_RT_RUNTIME_SHARE";

fn lab(cpus: usize, settings: &[&str]) -> Lab {
    Lab::new(cpus, "6.18.y", &[&["dl_server=off", "hz=1000", GROUPS, STRICT], settings].concat())
}

/// So many ms in each of these, in ms; `None` for the runtime is -1.
fn limit(runtime: impl Into<Option<u64>>, period: u64) -> Option<RtLimit> {
    let ms = Nanos::from_millis;
    Some(RtLimit { runtime: runtime.into().map(ms), period: ms(period) })
}

fn group(lab: &mut Lab, parent: GroupId, rt: Option<RtLimit>) -> GroupId {
    let params = GroupParams { rt, ..plain_group(parent) };
    lab.k.create_group(params)
}

/// A task of a group that becomes runnable on a CPU.
fn member_on(lab: &Lab, group: GroupId, policy: Policy, cpu: u16, cpus_allowed: CpuMask) -> TaskId {
    let (pid, nice) = (Pid(1_000 + lab.k.tasks.len() as i32), Nice::default());
    let new = NewTask { pid, policy, nice, cpus_allowed, kernel_thread: false, group };
    let p = new_task(&lab.k, new);
    lab.run(wake_up_new_task_on(lab.cpu(cpu), p, Some(CpuId(cpu))));
    lab.settle();
    p
}

/// One of CPU 0.
fn member(lab: &Lab, group: GroupId, policy: Policy) -> TaskId {
    member_on(lab, group, policy, 0, cpus(&[0]))
}

/// `ms` of busy ticks; all timers fire on the way.
fn run_ms(lab: &Lab, ms: u64) {
    for _ in 0..ms {
        lab.pass_until(lab.k.platform.now.get() + Nanos::from_millis(1));
        (0..lab.k.cpus() as u16).filter(|cpu| !lab.idle(*cpu)).for_each(|cpu| lab.tick(cpu));
        let timer = &lab.k.platform.period_timer_at;
        if timer.get().is_some_and(|at| at <= lab.k.platform.now.get()) {
            timer.set(lab.run(sched_rt_period_timer(lab.cpu(0))));
            lab.settle();
        }
    }
}

fn stopped(lab: &Lab, group: GroupId, cpu: u16) -> bool {
    lab.k.rq(CpuId(cpu)).inspect().is_some_and(|rq| rq.rt.is_stopped(group))
}

fn counts(lab: &Lab, group: GroupId) -> RtThrottleCounts {
    lab.k.groups.get(group).rt.as_ref().expect("it has a limit").counts_until(lab.k.platform.now.get())
}

fn ran(lab: &Lab, p: TaskId) -> u64 {
    lab.k.task(p).stats.sum_exec_runtime.get().0 / 1_000_000
}

/// The checkers count what competes themselves: a count that is wrong raises the alarm, also where
/// `nr_running` is wrong by as much.
#[test]
fn a_wrong_count_of_what_competes_is_found() {
    for (rule, contained) in [("throttled_count=left_out", 1), ("throttled_count=counted", 3)] {
        let mut lab = lab(1, &[rule]);
        let g = group(&mut lab, GroupId::ROOT, limit(10, 1000));
        let _both = [50, 40].map(|priority| member(&lab, g, fifo(priority)));
        lab.spawn_allowed(fifo(10), 0, cpus(&[0]));
        run_ms(&lab, 15);
        assert!(stopped(&lab, g, 0));
        let alarms = || -> Vec<&str> {
            let found = violations(&lab.k, &lab.k.online, &Past::of(&lab.k));
            found.iter().map(|violation| violation.invariant).collect()
        };
        let counted = &lab.k.rq(CpuId(0)).published.rt_counted;
        assert_eq!((alarms(), counted.get()), (Vec::new(), contained), "{rule}");
        counted.overwrite(2);
        lab.run(async {
            let mut rq = lab.cpu(0).lock(CpuId(0)).await;
            rq.set_nr_running(2);
        });
        let found = alarms();
        assert!(found.contains(&"deadline-groups B9") && found.contains(&"rt-class P4"), "{rule}: {found:?}");
    }
}

/// A group stands in the queue above with the priority of its best task, whatever the others have.
#[test]
fn a_pick_goes_from_the_root_downwards() {
    let mut lab = lab(1, &[]);
    let g = group(&mut lab, GroupId::ROOT, limit(100, 1000));
    let below = group(&mut lab, g, limit(100, 1000));
    let [high, low] = [60, 40].map(|priority| member(&lab, below, fifo(priority)));
    let between = lab.spawn_allowed(fifo(50), 0, cpus(&[0]));
    let order: Vec<TaskId> = (0..3).map(|_| lab.block(0)).collect();
    assert_eq!(order, [high, between, low]);
}

/// A group's entity is one of the priority's list: it goes behind its equals with each task that comes or
/// goes, and at the end of a slice with the task, though that is alone in the group.
#[test]
fn a_group_takes_turns_with_its_equals() {
    let mut lab = lab(1, &["sched_rr_timeslice_ms=10"]);
    let g = group(&mut lab, GroupId::ROOT, limit(900, 1000));
    let inside = member(&lab, g, rr(50));
    let outside = lab.spawn_allowed(rr(50), 0, cpus(&[0]));
    run_ms(&lab, 100);
    assert_eq!((ran(&lab, inside), ran(&lab, outside)), (50, 50));
    // Behind `inside` now; the group leaves and comes back behind `outside` with who leaves it.
    assert_eq!(lab.running(0), inside);
    member(&lab, g, fifo(30));
    lab.block(0);
    assert_eq!(lab.running(0), outside);
}

/// The measured pattern: 0.1 s of each second.
#[test]
fn a_group_that_used_its_runtime_waits_for_the_next_period() {
    let mut lab = lab(1, &[]);
    let g = group(&mut lab, GroupId::ROOT, limit(100, 1000));
    let p = member(&lab, g, fifo(50));
    run_ms(&lab, 100);
    assert!(!stopped(&lab, g, 0) && lab.running(0) == p);
    run_ms(&lab, 1);
    assert!(stopped(&lab, g, 0) && lab.idle(0), "above 100 ms");
    run_ms(&lab, 898);
    assert!(lab.idle(0));
    run_ms(&lab, 1);
    assert_eq!(lab.running(0), p, "at 1 s");
    run_ms(&lab, 4_000);
    assert_eq!(ran(&lab, p), 501, "the millisecond too many is paid back");
    let counts = counts(&lab, g);
    assert_eq!((counts.nr_throttled, counts.throttled_time), (5, Nanos::from_millis(899 + 4 * 900)));
    let begins = Event::ThrottleBegins { cpu: CpuId(0), whom: Throttled::RtGroup(g) };
    assert_eq!(lab.k.platform.events.borrow().iter().filter(|event| **event == begins).count(), 5);
}

/// Each group has a period and a timer of its own.
#[test]
fn groups_have_periods_of_their_own() {
    let mut lab = lab(1, &[]);
    let [slow, fast] = [limit(100, 1000), limit(10, 100)].map(|rt| group(&mut lab, GroupId::ROOT, rt));
    let [a, b] = [(slow, 50), (fast, 40)].map(|(g, priority)| member(&lab, g, fifo(priority)));
    run_ms(&lab, 1_000);
    // The second waits for the first, then has 10 ms of each 100.
    assert_eq!((ran(&lab, a), ran(&lab, b)), (101, 91));
}

/// The runtime is each CPU's.
#[test]
fn each_cpu_has_the_whole_runtime() {
    let mut lab = lab(2, &[]);
    let g = group(&mut lab, GroupId::ROOT, limit(100, 1000));
    let hogs = [0, 1].map(|cpu| member_on(&lab, g, fifo(50), cpu, cpus(&[cpu])));
    run_ms(&lab, 500);
    assert_eq!(hogs.map(|p| ran(&lab, p)), [101, 101]);
    let mut lab = self::lab(2, &["RT_RUNTIME_SHARE"]);
    let g = group(&mut lab, GroupId::ROOT, limit(100, 1000));
    let p = member(&lab, g, fifo(50));
    run_ms(&lab, 500);
    assert_eq!(ran(&lab, p), 200, "and borrows, half by half, all that the other does not use");
}

/// What a task uses counts at every level of its path.
#[test]
fn run_time_counts_in_all_groups_above() {
    for (above, below, of_child, of_sibling) in [(50, 100, 51, 0), (100, 50, 51, 50), (60, 0, 0, 61)] {
        let mut lab = lab(1, &[]);
        let parent = group(&mut lab, GroupId::ROOT, limit(above, 1000));
        let child = group(&mut lab, parent, limit(below, 1000));
        let [p, sibling] = [(child, 50), (parent, 40)].map(|(g, priority)| match (g, below) {
            (g, 0) if g == child => member(&lab, g, Policy::Normal),
            _ => member(&lab, g, fifo(priority)),
        });
        run_ms(&lab, 500);
        let rt = if below == 0 { 0 } else { ran(&lab, p) };
        assert_eq!((rt, ran(&lab, sibling)), (of_child, of_sibling), "{above} above {below}");
        let used = |g| counts(&lab, g).usage.0 / 1_000_000;
        assert_eq!((used(child), used(parent)), (of_child, of_child + of_sibling));
    }
}

/// The root keeps its limit, sched_rt_runtime_us, whatever the groups have.
#[test]
fn the_root_is_limited_too() {
    let mut lab = lab(1, &["sched_rt_runtime_us=300000"]);
    let g = group(&mut lab, GroupId::ROOT, limit(200, 1000));
    let [inside, outside] = [member(&lab, g, fifo(50)), lab.spawn_allowed(fifo(40), 0, cpus(&[0]))];
    run_ms(&lab, 999);
    assert_eq!((ran(&lab, inside), ran(&lab, outside)), (201, 100));
    assert!(stopped(&lab, GroupId::ROOT, 0) && lab.idle(0));
    run_ms(&lab, 1);
    assert_eq!(lab.running(0), inside);
}

/// A stopped group is seen by nobody but as something to push: cpupri and counts are those of the others,
/// the tasks stay pushable, and the CPU overloaded (rt-class 8.1).
#[test]
fn what_others_see_of_a_stopped_group() {
    for (rule, nr) in [("throttled_count=left_out", 1), ("throttled_count=counted", 3)] {
        let mut lab = lab(2, &[rule]);
        let g = group(&mut lab, GroupId::ROOT, limit(100, 1000));
        let both = cpus(&[0, 1]);
        lab.spawn_allowed(fifo(90), 1, cpus(&[1]));
        let hogs = [50, 45].map(|priority| member_on(&lab, g, fifo(priority), 0, both));
        let fair = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
        let domain = &lab.k.root_domain(CpuId(0)).rt;
        assert_eq!((lab.running(0), domain.cpupri_level(CpuId(0))), (hogs[0], 50));
        run_ms(&lab, 101);
        assert_eq!((lab.running(0), domain.cpupri_level(CpuId(0))), (fair, 0), "{rule}");
        let published = &lab.k.rq(CpuId(0)).published;
        assert_eq!(published.rt_highest.get(), Prio::NO_RT);
        assert_eq!((published.rt_nr_running.get(), published.nr_running.get()), (0, nr), "{rule}");
        assert_eq!(lab.k.nr_fair(CpuId(0)), 1);
        assert!(published.rt_pushable.get() && domain.rto_mask().contains(CpuId(0)));
        assert_eq!(lab.k.rq(CpuId(0)).inspect().expect("free").rt.nr_queued(), 2);
        // Who comes to it changes nothing of that, and goes away with it.
        let late = member_on(&lab, g, fifo(60), 0, cpus(&[0]));
        assert_eq!((lab.running(0), published.rt_nr_running.get()), (fair, 0));
        lab.run(sched_setscheduler(lab.cpu(0), late, Policy::Normal));
        lab.settle();
        run_ms(&lab, 899);
        assert_eq!((lab.running(0), published.rt_nr_running.get()), (hogs[0], 2), "{rule}");
        assert_eq!(domain.cpupri_level(CpuId(0)), 50);
    }
}

/// deadline-groups A12: what deadline tasks use counts against the root's share, but only where there are
/// groups.
#[test]
fn deadline_tasks_use_the_share_of_the_root() {
    for (setting, rest) in [(GROUPS, 101), ("rt_throttle=root", 301)] {
        let lab = lab(1, &["sched_rt_runtime_us=300000", setting]);
        let p = lab.spawn_allowed(fifo(50), 0, cpus(&[0]));
        lab.spawn(deadline(200, 1000, 1000), 0);
        run_ms(&lab, 999);
        assert_eq!(ran(&lab, p), rest, "{setting}");
    }
}

/// EPERM: no real-time tasks in a group without time for them. Deadline tasks may be there, sessions are no
/// groups in this, and no group is without RT_GROUP_SCHED, or a limit.
#[test]
fn a_group_without_runtime_takes_no_real_time_tasks() {
    let asks = |settings: &[&str], rt: Option<RtLimit>, policy| {
        let mut lab = lab(1, settings);
        let g = group(&mut lab, GroupId::ROOT, rt);
        let below = group(&mut lab, g, limit(100, 1000));
        assert_eq!(admits(&lab.k, lab.k.task(member(&lab, below, Policy::Normal)), CpuId(0), policy), Ok(()));
        let p = member(&lab, g, Policy::Normal);
        lab.run(crate::policy::sched_setscheduler(lab.cpu(0), p, policy))
    };
    for policy in [fifo(1), rr(99)] {
        assert_eq!(asks(&[], limit(0, 1000), policy), Err(NotAdmitted::NoRtRuntime));
        assert_eq!(asks(&[], limit(1, 1000), policy), Ok(()));
        assert_eq!(asks(&[], limit(None, 1000), policy), Ok(()));
        assert_eq!(asks(&[], None, policy), Ok(()), "a session");
        assert_eq!(asks(&["sched_rt_runtime_us=-1"], limit(0, 1000), policy), Ok(()));
        assert_eq!(asks(&["rt_throttle=root"], limit(0, 1000), policy), Ok(()));
    }
    for policy in [deadline(10, 100, 100), Policy::Batch] {
        assert_eq!(asks(&[], limit(0, 1000), policy), Ok(()));
    }
}

/// A session's tasks are in the root's queue, beside no entity.
#[test]
fn sessions_are_no_groups_of_real_time_tasks() {
    let mut lab = lab(1, &[]);
    let session = group(&mut lab, GroupId::ROOT, None);
    let p = member(&lab, session, fifo(50));
    assert_eq!(lab.k.rt_group(lab.k.task(p)), GroupId::ROOT);
    let entries: Vec<TaskId> = {
        let rq = lab.k.rq(CpuId(0)).inspect().expect("free");
        rq.rt.entries(&lab.k, GroupId::ROOT).collect()
    };
    assert_eq!(entries, [p]);
}

/// Random hierarchies, tasks and events: the checkers look after each, and no queue runs more than its share
/// and the tick in which it is stopped.
#[test]
fn invariants_hold_in_random_hierarchies() {
    let mut dice = Dice::new(14);
    let (mut stops, mut moves) = (0, 0);
    for _ in 0..60 {
        let n = 1 + dice.below(3);
        let settings: &[&str] = match dice.below(4) {
            0 => &["throttled_count=counted", "push_source=queue_scan", "pull_source=queue_scan"],
            1 => &["next_def=second_best", "overload_rule=depth", "NO_RT_PUSH_IPI"],
            2 => &["overload_rule=pushable"],
            _ => &[],
        };
        let mut lab = lab(n, settings);
        let mut groups: Vec<(GroupId, u64, u64)> = Vec::new();
        for _ in 0..1 + dice.below(6) {
            let parent = match dice.below(groups.len() + 1) {
                0 => GroupId::ROOT,
                above => groups[above - 1].0,
            };
            let (runtime, period) = (1 + dice.below(10) as u64, 20 + dice.below(30) as u64);
            groups.push((group(&mut lab, parent, limit(runtime, period)), runtime, period));
        }
        let (all, fair) = (CpuMask::first_n(n), dice.below(2) == 0);
        let tasks: Vec<TaskId> = (0..2 + dice.below(8))
            .map(|_| {
                let mask = if dice.below(3) == 0 { CpuMask::single(CpuId(0)) } else { all };
                let g = groups[dice.below(groups.len())].0;
                let g = if dice.below(5) == 0 { GroupId::ROOT } else { g };
                let priority = 1 + dice.below(6) as u8;
                member_on(&lab, g, if dice.below(3) == 0 { rr(priority) } else { fifo(priority) }, 0, mask)
            })
            .collect();
        for _ in 0..150 {
            let (cpu, p) = (dice.below(n) as u16, tasks[dice.below(tasks.len())]);
            match dice.below(8) {
                0 | 1 => _ = lab.wake(cpu, p),
                2 if !lab.idle(cpu) => _ = lab.block(cpu),
                3 => {
                    let is_fair = fair && dice.below(2) == 0;
                    let policy = if is_fair { Policy::Normal } else { fifo(1 + dice.below(6) as u8) };
                    lab.run(sched_setscheduler(lab.cpu(cpu), p, policy));
                    lab.settle();
                }
                _ => run_ms(&lab, 1 + dice.below(6) as u64),
            }
        }
        let now = lab.k.platform.now.get().0 / 1_000_000;
        for (g, runtime, period) in &groups {
            stops += counts(&lab, *g).nr_throttled;
            let own = tasks.iter().filter(|p| lab.k.task(**p).se.group.get() == *g);
            let ran: u64 = own.map(|p| ran(&lab, *p)).sum();
            let most = n as u64 * (runtime * (now / period + 2) + 1);
            // What they ran as fair tasks is not counted there.
            assert!(fair || ran <= most, "{g:?} ran {ran} ms of {most} in {now} ms");
        }
        moves += lab.k.totals.migrations.get();
    }
    assert!(stops > 500 && moves > 100, "the histories exercise what they are about: {stops}, {moves}");
}
