//! fair-placement 2.4 to 2.8.

use super::{all_but, allow, modern, two_sockets};
use crate::testing::{Lab, cpus, fifo};
use crate::wakeup::{WakeFlags, try_to_wake_up};
use crate::{CpuId, Nanos, Policy, Reason, TaskId, Topology};
use alloc::vec::Vec;

/// A wakeup by CPU `t` of a task that ran on CPU `p`.
pub(super) struct Wake {
    pub lab: Lab,
    pub woken: TaskId,
    t: u16,
}

impl Wake {
    /// Of the machine's first example settings: everything idle, eight CPUs may be searched.
    pub fn new(t: u16, p: u16, more: &[&str]) -> Wake {
        Wake::on(&two_sockets(), t, p, more)
    }

    /// The same on another machine.
    pub fn on(topology: &Topology, t: u16, p: u16, more: &[&str]) -> Wake {
        let lab = modern(topology, more);
        let woken = lab.spawn(Policy::Normal, p);
        lab.block(p);
        lab.allow_scans(8);
        lab.know_idle_core(false);
        Wake { lab, woken, t }
    }

    pub fn busy(self, on: &[u16]) -> Wake {
        self.lab.hogs_of_load(on, 1024);
        self.lab.know_idle_core(false);
        self
    }

    pub fn load(self, cpu: u16, load: u64) -> Wake {
        self.lab.k.rq(CpuId(cpu)).published.pelt.average.load_avg.set(load);
        self
    }

    pub fn own_load(self, load: u64) -> Wake {
        self.lab.k.task(self.woken).se.pelt.average.load_avg.set(load);
        self
    }

    pub fn recent(self, cpu: u16) -> Wake {
        self.lab.k.task(self.woken).se.habits.set_recent_used_cpu(CpuId(cpu));
        self
    }

    pub fn core_known(self) -> Wake {
        self.lab.know_idle_core(true);
        self
    }

    fn allowed(self, on: &[u16]) -> Wake {
        allow(&self.lab, self.woken, cpus(on));
        self
    }

    pub fn wakes(&self, sync: bool, interrupt: bool) -> (u16, Vec<Reason>) {
        self.wakes_with(WakeFlags { sync, interrupt, exiting: false })
    }

    pub fn goes_to(&self, flags: WakeFlags) -> u16 {
        self.wakes_with(flags).0
    }

    fn wakes_with(&self, flags: WakeFlags) -> (u16, Vec<Reason>) {
        self.lab.forget();
        let cpu = crate::fair::select_task_rq_wake(self.lab.cpu(self.t), self.woken, flags).0;
        (cpu, self.lab.decisions())
    }

    /// Where it goes, and the first reason told.
    pub fn first(&self, sync: bool) -> (u16, Reason) {
        let (cpu, reasons) = self.wakes(sync, false);
        (cpu, reasons[0])
    }

    pub fn last(&self) -> (u16, Reason) {
        let (cpu, reasons) = self.wakes(false, false);
        (cpu, *reasons.last().expect("a reason"))
    }
}

#[test]
fn e15_e16_an_interrupt_on_an_idle_cpu() {
    assert_eq!(Wake::new(0, 2, &[]).busy(&[2]).first(false), (0, Reason::WaThisIdle));
    assert_eq!(Wake::new(0, 4, &[]).first(false), (4, Reason::WaPrevIdle));
}

/// 2.6 row 1 is for the CPUs of one cache. An interrupt on an idle CPU of another one draws nobody by itself.
#[test]
fn an_interrupt_in_another_cache_draws_nobody() {
    let reason = |t| Wake::new(t, 4, &["NO_WA_WEIGHT"]).busy(&[4]).first(false).1;
    assert_eq!([reason(0), reason(12)], [Reason::WaThisIdle, Reason::WaNo]);
}

/// 2.4: nodes that are more than 30 apart are no reason to move.
#[test]
fn nobody_is_drawn_to_a_distant_node() {
    let wake = |distance| {
        let mut topology = two_sockets();
        topology.levels[2].kind = crate::LevelKind::Numa { distance };
        Wake::on(&topology, 2, 12, &[]).busy(&[2]).wakes(true, false)
    };
    assert_eq!(wake(30).1[0], Reason::WaSync);
    assert_eq!(wake(31), (12, [Reason::SisTarget].into()));
}

/// 8.7, 6.1.28 on: who was drawn counts as affine, and no one else.
#[test]
fn who_is_drawn_counts_as_affine() {
    let counted = |t, sync| {
        let wake = Wake::new(t, 4, &["NO_WA_WEIGHT"]).busy(&[2, 4]);
        _ = wake.wakes(sync, false);
        let woken = &wake.lab.k.task(wake.woken).stats.woken;
        (woken.affine_attempts.get(), woken.affine.get())
    };
    assert_eq!([counted(2, true), counted(2, false), counted(4, false)], [(1, 1), (1, 0), (0, 0)]);
}

#[test]
fn e17_e18_a_waker_that_is_about_to_sleep() {
    assert_eq!(Wake::new(2, 12, &[]).busy(&[2]).first(true).1, Reason::WaSync);
    assert_eq!(Wake::new(2, 12, &[]).busy(&[2]).first(false), (12, Reason::WaPrevIdle));
    let no_idle = Wake::new(2, 12, &["NO_WA_IDLE"]).busy(&[2]);
    assert_ne!(no_idle.first(true).1, Reason::WaSync, "only with WA_IDLE");
}

/// 2.4: a waker that exits makes no room, whatever its wakeup says.
#[test]
fn a_waker_that_exits_does_not_draw_anybody() {
    let sync = WakeFlags { sync: true, interrupt: false, exiting: false };
    let exits = WakeFlags { exiting: true, ..sync };
    let first = |wake: Wake, flags| wake.wakes_with(flags).1[0];
    let alone = || Wake::new(2, 12, &[]).busy(&[2]);
    assert_eq!([first(alone(), sync), first(alone(), exits)], [Reason::WaSync, Reason::WaPrevIdle]);
    // 5764 with the waker's 1024, 1024 more for the woken one, against 1.08 times 7174 less 1024.
    let by_weight = |flags| first(by_load(5764, 7174, 1024, &["NO_WA_IDLE"]), flags);
    assert_eq!([by_weight(sync), by_weight(exits)], [Reason::WaWeight, Reason::WaNo]);
    // 8.5: not so up to 4.13.
    let close = |flags| first(by_load(7000, 7174, 1024, &["wake_placement=load_only"]), flags);
    assert_eq!([close(sync), close(exits)], [Reason::WaWeight; 2]);
    assert_eq!(close(WakeFlags::default()), Reason::WaNo);
}

/// The affine test alone: nothing is idle.
pub(super) fn by_load(t_load: u64, p_load: u64, own: u64, more: &[&str]) -> Wake {
    let wake = Wake::new(2, 4, more).busy(&(0..16).collect::<Vec<_>>());
    wake.load(2, t_load).load(4, p_load).own_load(own)
}

#[test]
fn e19_e20_loads_decide_where_nothing_is_idle() {
    assert_eq!(by_load(1024, 2048, 300, &[]).first(false), (2, Reason::WaWeight));
    assert_eq!(by_load(1024, 1500, 300, &[]).first(false), (4, Reason::WaNo));
    // 1324 × 100 = 132400 against 1230 × 108 = 132840, or 1324 against 1230: the tolerance decides.
    assert_eq!(by_load(1024, 1530, 300, &[]).first(false).1, Reason::WaWeight);
    assert_eq!(by_load(1024, 1530, 300, &["NO_WA_BIAS"]).first(false).1, Reason::WaNo);
    assert_eq!(by_load(1024, 2048, 300, &["NO_WA_WEIGHT"]).first(false).1, Reason::WaNo);
}

/// The same, but the waker, which brings so much of its queue's load, has another task beside it.
fn beside_another(wake: Wake, load: u64, of_waker: u64) -> Wake {
    wake.lab.spawn_allowed(Policy::Normal, 2, cpus(&[2]));
    let wake = wake.load(2, load);
    wake.lab.k.task(wake.lab.running(2)).se.pelt.average.load_avg.set(of_waker);
    wake
}

#[test]
fn e21_e22_the_load_of_a_waker_that_leaves_is_discounted() {
    let sync = |waker| beside_another(by_load(1400, 700, 100, &[]), 1400, waker).first(true);
    assert_eq!(sync(900), (2, Reason::WaWeight));
    assert_eq!(sync(1500), (2, Reason::WaWeight), "it has more than all of the queue");
    assert_eq!(sync(850).1, Reason::WaNo, "65000 against 64800");
}

/// 2.6: less than the last CPU without the task, under the sync hint as much is enough; a waker with more
/// than all the load of its queue always draws.
#[test]
fn equal_loads_draw_only_under_the_sync_hint() {
    let first = |here, sync| beside_another(by_load(here, 1200, 100, &["NO_WA_BIAS"]), here, 0).first(sync).1;
    assert_eq!([first(1000, false), first(999, false)], [Reason::WaNo, Reason::WaWeight]);
    assert_eq!([first(1000, true), first(1001, true)], [Reason::WaWeight, Reason::WaNo]);
    let leaves = |waker| beside_another(by_load(500, 350, 300, &[]), 500, waker).first(true).1;
    assert_eq!([leaves(500), leaves(501)], [Reason::WaNo, Reason::WaWeight]);
}

#[test]
fn e23_a_cpu_that_real_time_tasks_use_is_worth_less() {
    let wake = by_load(1024, 1500, 300, &[]);
    wake.lab.k.rq(CpuId(4)).published.pelt.capacity.left.set(512);
    assert_eq!(wake.first(false), (2, Reason::WaWeight));
}

#[test]
fn e24_to_e26_target_previous_then_the_scan() {
    assert_eq!(Wake::new(4, 4, &[]).last(), (4, Reason::SisTarget));
    // Drawn to 4, which is busy; the previous CPU is idle.
    let drawn = Wake::new(4, 0, &[]).busy(&[4]);
    assert_eq!(drawn.wakes(true, false).0, 0);
    assert_eq!(drawn.wakes(true, false).1, [Reason::WaSync, Reason::SisPrev]);
    let other = Wake::new(4, 12, &[]).busy(&all_but(&[6], 8));
    assert_eq!(other.wakes(true, false), (6, [Reason::WaSync, Reason::SisCpu].into()));
}

#[test]
fn e27_e28_a_core_if_one_is_known_else_the_thread_beside() {
    let wake = || Wake::new(4, 4, &[]).busy(&[0, 1, 2, 3, 4]);
    assert_eq!(wake().core_known().last(), (6, Reason::SisCore));
    assert_eq!(wake().last(), (5, Reason::SisSmt));
}

#[test]
fn e29_the_cpu_before_the_last_one() {
    let wake = |more: &[&str]| Wake::new(2, 4, more).busy(&[2, 4]).load(4, 8000).recent(1);
    let first = wake(&["NO_WA_IDLE"]);
    assert_eq!(first.last(), (1, Reason::SisRecent));
    // It is noted each time: the last one is the recent one from now on.
    assert_ne!(first.last().1, Reason::SisRecent);
    assert_ne!(wake(&["NO_WA_IDLE", "recent_used=off"]).last().1, Reason::SisRecent);
    assert_ne!(wake(&["NO_WA_IDLE"]).allowed(&all_but(&[1], 16)).last().0, 1, "not allowed there");
    // Also where it is not taken, as it is busy.
    let busy = wake(&["NO_WA_IDLE"]).busy(&[1]);
    assert_ne!(busy.last().1, Reason::SisRecent);
    assert_eq!(busy.lab.k.task(busy.woken).se.habits.recent_used_cpu(), CpuId(4));
}

/// 8.7, until 6.1.41: the last CPU is asked in place of R, which is taken although the task may not run
/// there; then the fallback of 2.1 repairs it. Where only the last CPU is forbidden, R is refused.
#[test]
fn the_recent_cpu_was_taken_although_it_is_not_allowed() {
    let wake = |rule: &str, forbidden: u16| {
        let wake = Wake::new(2, 4, &["NO_WA_IDLE", rule]).busy(&[2, 4]).load(4, 8000).recent(1);
        wake.allowed(&all_but(&[forbidden], 16))
    };
    let last = |rule, forbidden| wake(rule, forbidden).last();
    assert_eq!(last("recent_used=overwritten", 1), (1, Reason::SisRecent));
    assert_ne!(last("recent_used=prev", 1).1, Reason::SisRecent);
    assert_ne!(last("recent_used=overwritten", 4).1, Reason::SisRecent);
    assert_eq!(last("recent_used=prev", 4), (1, Reason::SisRecent));

    let repaired = wake("recent_used=overwritten", 1);
    repaired.lab.forget();
    _ = repaired.lab.run(try_to_wake_up(repaired.lab.cpu(2), repaired.woken, WakeFlags::default()));
    assert!(repaired.lab.decisions().contains(&Reason::WakeFallback));
    assert_ne!(repaired.lab.k.task(repaired.woken).cpu.get(), CpuId(1));
}

#[test]
fn e30_no_core_found_means_none_is_known() {
    let wake = Wake::new(2, 2, &[]).busy(&[0, 2, 4, 6]).core_known();
    assert_eq!(wake.last(), (3, Reason::SisCpu));
    assert!(wake.lab.k.fair_root.caches.first().is_some_and(|c| !c.has_idle_cores.get()));
}

/// 2.7 row 7: where no core idles, the first idle thread that was seen and is allowed is as good; a thread
/// that runs SCHED_IDLE tasks too, if it is allowed.
#[test]
fn the_first_idle_thread_of_those_seen() {
    let busy = |more: &[u16]| {
        let wake = Wake::new(3, 3, &[]).busy(&[&[1, 3, 5, 7], more].concat()).recent(3);
        wake.core_known()
    };
    assert_eq!(busy(&[]).last(), (4, Reason::SisCpu));
    assert_eq!(busy(&[]).allowed(&[0, 2, 3, 5, 6]).last(), (6, Reason::SisCpu), "4 is forbidden");
    let sched_idle = |allowed: &[u16]| {
        let wake = busy(&[0, 2, 6]);
        wake.lab.spawn_allowed(Policy::Idle, 4, cpus(&[4]));
        wake.core_known().allowed(allowed).last()
    };
    assert_eq!(sched_idle(&[3, 4, 5]), (4, Reason::SisCpu));
    assert_eq!(sched_idle(&[3, 5]), (3, Reason::SisNone));
}

#[test]
fn e31_the_thread_of_an_idle_core_that_is_allowed() {
    let wake = Wake::new(2, 2, &[]).busy(&[0, 1, 2, 3, 6, 7]).allowed(&[0, 1, 2, 3, 5]).core_known();
    assert_eq!(wake.last(), (5, Reason::SisCore));
}

#[test]
fn e32_to_e34_how_far_the_scan_goes() {
    let scan = |limit| {
        let wake = Wake::new(6, 6, &[]).busy(&all_but(&[2], 8));
        wake.lab.allow_scans(limit);
        wake
    };
    assert_eq!(scan(8).last(), (2, Reason::SisCpu));
    assert_eq!(scan(4).last(), (2, Reason::SisCpu), "7, 0, 1 and then 2");
    assert_eq!(scan(3).last(), (6, Reason::SisCut));
    let refused = Wake::new(6, 6, &[]).busy(&all_but(&[2, 3], 8)).core_known();
    refused.lab.allow_scans(0);
    assert_eq!(refused.last(), (6, Reason::SisRefused), "even with an idle core");
    let unlimited = Wake::new(6, 6, &["NO_SIS_UTIL"]).busy(&all_but(&[2], 8));
    unlimited.lab.allow_scans(0);
    assert_eq!(unlimited.last(), (2, Reason::SisCpu));
}

#[test]
fn e35_a_cpu_of_sched_idle_tasks_is_as_good_as_idle() {
    let wake = |more: &[&str]| {
        let wake = Wake::new(6, 6, more).busy(&all_but(&[0], 8)).recent(6);
        wake.lab.spawn_allowed(Policy::Idle, 0, cpus(&[0]));
        wake
    };
    assert_eq!(wake(&[]).last(), (0, Reason::SisCpu));
    assert_eq!(wake(&["sched_idle_cpu=off"]).last(), (6, Reason::SisNone));
    let mixed = wake(&[]);
    mixed.lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    assert_eq!(mixed.last(), (6, Reason::SisNone), "a normal task is there, too");
}

#[test]
fn e36_whom_a_bound_kernel_thread_wakes_stays() {
    let wake = |kernel_thread, more: &[&str]| {
        let wake = Wake::new(3, 3, more);
        if kernel_thread {
            wake.lab.spawn_kthread(3, cpus(&[3]));
        } else {
            wake.lab.spawn_allowed(Policy::Normal, 3, cpus(&[3]));
        }
        wake
    };
    assert_eq!(wake(true, &[]).last(), (3, Reason::SisKthread));
    assert_ne!(wake(false, &[]).last().1, Reason::SisKthread, "a bound task of a user");
    assert_ne!(wake(true, &["bound_kthread=off"]).last().1, Reason::SisKthread);
    let interrupted = wake(true, &[]).wakes(false, true).1;
    assert!(!interrupted.contains(&Reason::SisKthread), "an interrupt hit it");
    assert!(wake(true, &["bound_kthread=any"]).wakes(false, true).1.contains(&Reason::SisKthread));
    let free = Wake::new(3, 3, &[]);
    free.lab.spawn_kthread(3, cpus(&[3, 4]));
    assert_ne!(free.last().1, Reason::SisKthread, "it is not bound");
    let from_elsewhere = Wake::new(3, 5, &[]).busy(&[5]);
    from_elsewhere.lab.spawn_kthread(3, cpus(&[3]));
    assert!(!from_elsewhere.wakes(true, false).1.contains(&Reason::SisKthread), "it did not run here");
    let crowded = wake(true, &[]);
    crowded.lab.hogs_of_load(&[3], 1024);
    assert_ne!(crowded.last().1, Reason::SisKthread);
}

#[test]
fn a_waker_of_many_draws_nobody() {
    let lab = modern(&two_sockets(), &[]);
    let server = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    let clients: Vec<TaskId> = (0..2)
        .map(|_| {
            let p = lab.spawn(Policy::Normal, 12);
            lab.block(12);
            p
        })
        .collect();
    // The clients are wakers of many themselves.
    clients.iter().for_each(|p| lab.k.task(*p).se.habits.set_flips(8));
    lab.k.task(server).se.habits.set_flips(62);
    let wide = |p| {
        lab.forget();
        _ = crate::fair::select_task_rq_wake(lab.cpu(0), p, WakeFlags::default());
        lab.first_decision() == Reason::WakeWide
    };
    assert!(!wide(clients[0]), "63 is less than 8 × 8");
    assert!(wide(clients[1]));
    lab.k.config.set("wake_wide=off").expect("legal");
    assert!(!wide(clients[0]));
}

/// 2.3: which CPUs are handed a wakeup, in place of their lock being taken.
#[test]
fn wakeups_are_handed_to_empty_cpus_and_other_caches() {
    let handed = |busy: &[u16], target: u16, more: &[&str]| {
        let wake = Wake::new(0, target, more).busy(busy);
        allow(&wake.lab, wake.woken, cpus(&[target]));
        wake.lab.forget();
        _ = wake.lab.run(try_to_wake_up(wake.lab.cpu(0), wake.woken, WakeFlags::default()));
        !wake.lab.k.rq(CpuId(target)).wake_list.is_empty()
    };
    assert!(handed(&[], 2, &[]), "it shares the cache and has nothing to run");
    assert!(!handed(&[2], 2, &[]), "it shares the cache and runs something");
    assert!(handed(&[12], 12, &[]), "another cache");
    assert!(!handed(&[], 0, &[]), "the waker's own CPU");
    assert!(!handed(&[], 2, &["ttwu_list=other_cache"]) && handed(&[12], 12, &["ttwu_list=other_cache"]));
    assert!(!handed(&[12], 12, &["NO_TTWU_QUEUE"]));
}

/// 0: a CPU to which a wakeup is handed over is idle for nobody, before it has queued the task.
#[test]
fn a_cpu_to_which_a_wakeup_is_handed_over_is_not_idle() {
    let wake = Wake::new(0, 2, &[]);
    allow(&wake.lab, wake.woken, cpus(&[2]));
    assert!(wake.lab.k.idle_cpu(CpuId(2)));
    _ = wake.lab.run(try_to_wake_up(wake.lab.cpu(0), wake.woken, WakeFlags::default()));
    assert_eq!(wake.lab.k.rq(CpuId(2)).published.nr_running.get(), 0, "not yet");
    assert!(!wake.lab.k.idle_cpu(CpuId(2)));
}

/// 2.2 step 9, 4.8: a task that was woken on another CPU has nothing in the cache there until it has run.
#[test]
fn a_task_that_is_woken_elsewhere_is_not_cache_hot() {
    let ran_at = |target: u16| {
        let wake = Wake::new(4, 6, &["NO_TTWU_QUEUE"]).busy(&all_but(&[target], 8));
        wake.lab.k.task(wake.woken).stats.exec_start.set(Nanos(77));
        _ = wake.lab.run(try_to_wake_up(wake.lab.cpu(4), wake.woken, WakeFlags::default()));
        (wake.lab.cpu_of(wake.woken), wake.lab.k.task(wake.woken).stats.exec_start.get())
    };
    assert_eq!([ran_at(6), ran_at(7)], [(6, Nanos(77)), (7, Nanos::ZERO)]);
}

/// rt-class 3.1: who is woken and may not run where it was goes to the lowest CPU of its node that is
/// allowed, whatever is nearer; if there is none, to the lowest of all.
#[test]
fn a_task_that_is_woken_where_it_may_not_run_stays_in_its_node() {
    let woken_on = |allowed: &[u16]| {
        let lab = modern(&two_sockets(), &[]);
        let p = lab.spawn_allowed(Policy::Normal, 13, cpus(&[13, 15]));
        lab.block(13);
        allow(&lab, p, cpus(allowed));
        lab.wake(0, p);
        lab.cpu_of(p)
    };
    assert_eq!(woken_on(&[1, 10, 12]), 10);
    assert_eq!(woken_on(&[6, 7]), 6);
}

/// 2.2 step 5: a sleeper whose CPU is still switching away from it is woken there, whoever wakes it.
#[test]
fn a_sleeper_that_is_still_on_its_cpu_stays_there() {
    let woken_to = |more: &[&str]| {
        let lab = modern(&two_sockets(), more);
        let p = lab.spawn(Policy::Normal, 4);
        lab.hogs_of_load(&[0], 1024);
        lab.k.task(p).state.overwrite(crate::TaskState::Interruptible);
        let mut woken = false;
        let queues = |lock| matches!(lock, crate::platform::Lock::Rq(_));
        let schedule = crate::schedule::schedule(lab.cpu(4), crate::schedule::Entry::Call);
        // A CPU that goes idle drops its lock to look for work: there the waker comes in.
        lab.k.root_domain(CpuId(0)).overload.set(true);
        lab.meanwhile(queues, schedule, |_| {
            if lab.k.task(p).standing() == crate::Standing::SwitchingOut && !woken {
                lab.forget();
                woken = lab.run(try_to_wake_up(lab.cpu(0), p, WakeFlags::default()));
            }
        });
        let reasons = lab.decisions();
        lab.settle();
        (lab.cpu_of(p), woken, reasons.contains(&Reason::WakeOnCpuList))
    };
    assert_eq!(woken_to(&[]), (4, true, true));
    assert_eq!(woken_to(&["ttwu_list=last_cpu"]), (4, true, true));
}

/// 1.7: what a sleeper on an idle CPU brings along; by fair-placement E3, of a hog 272 is left after 64 ms.
#[test]
fn a_task_fades_for_its_whole_sleep() {
    let load_on_arrival = |more: &[&str]| {
        let lab = modern(&two_sockets(), more);
        let p = lab.spawn_allowed(Policy::Normal, 2, cpus(&[2]));
        lab.run_on(Nanos::from_secs(1));
        lab.block(2);
        lab.advance(Nanos::from_millis(64));
        crate::class::set_task_cpu(lab.cpu(0), &crate::shared::Unseen, p, CpuId(9));
        lab.k.task(p).se.pelt.average.load_avg.get()
    };
    assert_eq!(load_on_arrival(&["pelt_lag=off"]), 1023);
    assert!(load_on_arrival(&[]).abs_diff(272) <= 1);
}

/// 1.7: what a task brought to a queue leaves with it, asleep or not.
#[test]
fn a_migration_leaves_nothing_behind() {
    let lab = modern(&two_sockets(), &[]);
    let loads = || [0, 2].map(|c| lab.k.rq(CpuId(c)).published.pelt.average.load_avg.get());
    let p = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    lab.run_on(Nanos::from_millis(400));
    let before = loads()[0];
    assert!(before > 1000);
    allow(&lab, p, cpus(&[2]));
    lab.settle();
    let [at_0, at_2] = loads();
    assert!(at_0 <= 1 && at_2.abs_diff(before) <= 1, "running: {at_0} and {at_2}");
    lab.block(2);
    allow(&lab, p, cpus(&[0]));
    assert!(lab.wake(2, p));
    lab.run(crate::schedule::schedule(lab.cpu(2), crate::schedule::Entry::Preemption));
    lab.spawn_allowed(Policy::Normal, 2, cpus(&[2]));
    let [at_0, at_2] = loads();
    assert!(at_0.abs_diff(before) <= 1 && at_2 == 1024, "asleep: {at_0}, and a new task's {at_2}");
}

/// 1.7: only the time away counts, and only with ATTACH_AGE_LOAD.
#[test]
fn a_task_that_was_real_time_for_a_while_has_faded() {
    let back = |more: &[&str]| {
        let lab = modern(&two_sockets(), more);
        let p = lab.spawn_allowed(Policy::Normal, 2, cpus(&[2]));
        lab.run_on(Nanos::from_secs(1));
        lab.run(crate::testing::sched_setscheduler(lab.cpu(2), p, fifo(1)));
        assert!(lab.k.rq(CpuId(2)).published.pelt.average.load_avg.get() <= 1);
        lab.advance(Nanos::from_millis(64));
        lab.run(crate::testing::sched_setscheduler(lab.cpu(2), p, Policy::Normal));
        lab.settle();
        lab.k.rq(CpuId(2)).published.pelt.average.load_avg.get()
    };
    assert!(back(&[]).abs_diff(272) <= 1);
    assert!(back(&["NO_ATTACH_AGE_LOAD"]) >= 1022);
}

/// 1.10, and fair-placement I5: an estimate counts while its task is queued.
#[test]
fn estimates_count_while_their_task_is_queued() {
    let estimated = |more: &[&str]| {
        let lab = modern(&two_sockets(), more);
        let p = lab.spawn_allowed(Policy::Normal, 2, cpus(&[2]));
        lab.run_on(Nanos::from_secs(1));
        lab.block(2);
        let sum = || lab.k.rq(CpuId(2)).published.pelt.estimated.get();
        let asleep = sum();
        lab.advance(Nanos::from_millis(320));
        lab.wake(2, p);
        [asleep, sum()]
    };
    assert_eq!(estimated(&[]), [0, 1024]);
    assert_eq!(estimated(&["NO_UTIL_EST"]), [0, 0]);
    assert_eq!(estimated(&["NO_UTIL_EST_FASTUP"]), [0, 1024], "the last activation, if not the average");
}
