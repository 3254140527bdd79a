//! Choosing a CPU for fair tasks and balancing them keep to their rules: fair-placement I7, I9 to I12, I14,
//! I20 and I21; deadline-groups CF2 and CF7.
//!
//! Why the others are for unit tests: fair-placement 6.1.

use super::{Findings, Moment};
use crate::fair::{finds_what_it_uses, may_be_drained};
use crate::platform::Platform;
use crate::registry::{DoubleLock, Lb, LbActive};
use crate::{CpuId, Event, Reason, Scheduler, TaskId, ThisCpu};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

/// What the events of the latest choices and moves said.
#[derive(Debug)]
pub(super) struct Placing {
    cpus: Box<[Course]>,
    /// What balancing had counted at the last look, domain by domain.
    domains: Vec<Counted>,
    /// The latest assignment to another CPU, and where the task came from.
    moved: Option<(TaskId, CpuId)>,
    /// Tasks that the CPU which they are leaving is to wake.
    listed: Vec<TaskId>,
}

/// Of one CPU.
#[derive(Clone, Debug, Default)]
struct Course {
    /// Whom it wakes.
    wakes: TaskId,
    /// Whether it has been asked if that task comes here.
    asked: bool,
    /// It found an idle CPU for it.
    found_idle: bool,
    /// It found one where that task costs less energy.
    by_energy: bool,
    /// Tasks that it pulled since it began to idle.
    pulled: u32,
    /// It has begun to idle since the last look.
    went_idle: bool,
    /// It was known then that its cache has an idle core; of the lowest CPU of a cache.
    knew_core: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Counted {
    /// Passes over the domain that came to nothing, tasks that others brought, and tasks given away.
    acts: u64,
    /// Passes that failed.
    failed: u64,
    /// Failures in a row.
    in_a_row: u64,
}

fn counted<P: Platform>(k: &Scheduler<P>) -> impl Iterator<Item = Counted> + '_ {
    let cpus = (0..k.cpus() as u16).map(CpuId);
    cpus.flat_map(|cpu| k.domains(cpu)).map(|domain| {
        let state = &domain.balance;
        let sum = |of: fn(&crate::stats::BalanceCounts) -> u64| state.counts.iter().map(of).sum::<u64>();
        Counted {
            acts: sum(|c| c.balanced.get() + c.failed.get() + c.pulled.get())
                + state.other_counts.active_pushed.get(),
            failed: sum(|c| c.failed.get()),
            in_a_row: u64::from(state.nr_balance_failed.get()),
        }
    })
}

impl Placing {
    pub fn new<P: Platform>(k: &Scheduler<P>) -> Placing {
        let course = |cpu| Course { knew_core: k.fair_root.knows_idle_core(cpu), ..Course::default() };
        Placing {
            cpus: (0..k.cpus() as u16).map(|cpu| course(CpuId(cpu))).collect(),
            domains: counted(k).collect(),
            moved: None,
            listed: Vec::new(),
        }
    }

    pub fn event<P: Platform>(&mut self, me: ThisCpu<'_, P>, event: Event, found: &mut Findings) {
        let own = &mut self.cpus[me.id.index()];
        match event {
            Event::Waking { task, .. } => {
                let course = own.clone();
                *own = Course { wakes: task, asked: false, found_idle: false, by_energy: false, ..course };
            }
            Event::Wakeup { task, .. } => {
                own.found_idle = false;
                self.listed.retain(|p| *p != task);
            }
            Event::Switch { next, .. } => {
                (own.pulled, own.found_idle) = (0, false);
                own.went_idle |= next == me.k.idle_task(me.id);
            }
            Event::StatRuntime { .. } => (own.pulled, own.found_idle) = (0, false),
            Event::Migrate { task, orig, dest } => {
                self.moved = Some((task, orig));
                let searched = core::mem::take(&mut own.found_idle) && own.wakes == task;
                found.expect("fair-placement I7", !searched || is_usable_for(me, dest, orig), || {
                    format!("{task:?} is woken on CPU {dest}, which is not idle, or far from its last one")
                });
                let by_energy = core::mem::take(&mut own.by_energy) && own.wakes == task;
                let fits = |cpu| finds_what_it_uses(me, task, cpu);
                let is_right = me.task(task).may_run_on(dest) && (fits(dest) || !fits(orig));
                found.expect("deadline-groups CF2", !by_energy || is_right, || {
                    format!(
                        "{task:?} goes from {orig} to {dest} for less energy, and may not, or does not fit"
                    )
                });
                found.expect("fair-placement I20", !self.listed.contains(&task), || {
                    format!("{task:?} goes from {orig} to {dest}, although {orig} was to wake it itself")
                });
            }
            Event::Decision { task, reason } => self.decision(me, task, reason, found),
            Event::WakeupNew { .. } | Event::PiSetprio { .. } => {}
            Event::ThrottleBegins { .. }
            | Event::ThrottleEnds { .. }
            | Event::GroupLeaves { .. }
            | Event::Frequency { .. } => {}
        }
    }

    fn decision<P: Platform>(&mut self, me: ThisCpu<'_, P>, p: TaskId, reason: Reason, found: &mut Findings) {
        let own = &mut self.cpus[me.id.index()];
        match reason {
            Reason::WaPrevIdle | Reason::WaThisIdle | Reason::WaSync | Reason::WaWeight | Reason::WaNo => {
                let asked = own.wakes != p || core::mem::replace(&mut own.asked, true);
                let here = me.task(p).cpu.get() == me.id;
                found.expect("fair-placement I10", !asked && !here, || {
                    format!("whether {p:?} comes to CPU {} is asked twice, or of its own CPU", me.id)
                });
            }
            Reason::SisRecent | Reason::SisSmt | Reason::SisCore | Reason::SisCpu => own.found_idle = true,
            Reason::EnergyBest => own.by_energy = true,
            // What was found is not allowed (`recent_used=overwritten`): it wakes somewhere else.
            Reason::WakeFallback => own.found_idle = false,
            Reason::ActiveAsymPacking => {
                let cpu = me.task(p).cpu.get();
                let running = me.k.rq(cpu).published.curr.get() == p;
                found.expect("deadline-groups CF7", running && may_be_drained(me, cpu), || {
                    format!("{p:?} is to leave CPU {cpu} to which none is preferred, or does not run there")
                });
            }
            Reason::WakeOnCpuList => self.listed.push(p),
            Reason::BalancedPeriodic => self.pulled(me, p, false, found),
            Reason::BalancedNewIdle => {
                own.pulled += 1;
                let rules = &me.k.config.rules;
                let one_only = rules.lb.get() == Lb::GroupType && rules.double_lock.get() == DoubleLock::Fair;
                found.expect("fair-placement I12", own.pulled == 1 || !one_only, || {
                    format!("CPU {} pulls {} tasks as it begins to idle", me.id, own.pulled)
                });
                self.pulled(me, p, true, found);
            }
            _ => {}
        }
    }

    /// fair-placement I11: who runs stays, and so does who may not come; an idle CPU leaves something, if it
    /// looks at all once it has the lock (not under fair-class 8.6: what was about to run there may be gone
    /// by then).
    fn pulled<P: Platform>(&self, me: ThisCpu<'_, P>, p: TaskId, idle: bool, found: &mut Findings) {
        let (task, from) = (me.task(p), self.moved.filter(|(task, _)| *task == p).map(|(_, from)| from));
        let looks = me.k.config.rules.lb.get() != Lb::GroupLoad;
        let left = |from: CpuId| {
            let rq = &me.k.rq(from).published;
            rq.curr.get() != p && (!idle || !looks || rq.nr_running.get() > 0)
        };
        let right = from.is_some_and(left) && task.may_run_on(task.cpu.get());
        found.expect("fair-placement I11", right, || {
            format!("{p:?} was pulled from {from:?} to CPU {}", task.cpu.get())
        });
    }

    pub fn look<P: Platform>(&mut self, moment: &Moment<'_, P>, found: &mut Findings) {
        let k = moment.k;
        for cache in (0..k.cpus() as u16).map(CpuId).filter(|cpu| k.cache_id(*cpu) == *cpu) {
            let knows = k.fair_root.knows_idle_core(cache);
            let knew = core::mem::replace(&mut self.cpus[cache.index()].knew_core, knows);
            let went_idle = k.llc_span(cache).iter().any(|cpu| self.cpus[cpu.index()].went_idle);
            found.expect("fair-placement I9", knew || !knows || went_idle, || {
                format!("the cache of CPU {cache} knows of an idle core, and no CPU went idle")
            });
        }
        self.cpus.iter_mut().for_each(|course| course.went_idle = false);
        // Up to 5.12 asking for a running task sets the failures to what lets hot tasks go.
        let rules = &k.config.rules;
        let typed = rules.lb.get() == Lb::GroupType && rules.lb_active.get() == LbActive::TaskCounts;
        for (before, now) in self.domains.iter_mut().zip(counted(k)) {
            let failed = now.failed - before.failed;
            let right = if now.acts == before.acts {
                now.in_a_row == before.in_a_row
            } else {
                now.in_a_row <= before.in_a_row + failed
            };
            found.expect("fair-placement I14", right || !typed, || {
                format!(
                    "failures in a row go from {} to {}, {failed} were new",
                    before.in_a_row, now.in_a_row
                )
            });
            *before = now;
        }
        if moment.quiescent() {
            for rq in k.rqs() {
                found.expect("fair-placement I21", !rq.published.balance.is_asked(), || {
                    format!("CPU {} is asked for a task, and nothing is under way", rq.cpu)
                });
            }
        }
    }
}

/// Whether a task would run there at once, beside the waker or where it ran.
fn is_usable_for<P: Platform>(me: ThisCpu<'_, P>, dest: CpuId, orig: CpuId) -> bool {
    let rq = &me.k.rq(dest).published;
    let usable = me.k.idle_cpu(dest) || rq.nr_idle_policy.get() == rq.nr_running.get();
    usable && (me.k.cpus_share_cache(dest, me.id) || me.k.cpus_share_cache(dest, orig))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Past;
    use crate::testing::{Lab, cpus};
    use crate::{Nanos, Policy};

    /// Told of these events on CPU 0, then of this change; what it finds.
    fn alarms(lab: &Lab, events: &[Event], change: impl FnOnce(&Lab)) -> Vec<&'static str> {
        let mut placing = Placing::new(&lab.k);
        let mut found = Findings::default();
        events.iter().for_each(|event| placing.event(lab.cpu(0), *event, &mut found));
        change(lab);
        placing.look(&Moment::new(&lab.k, &lab.k.online, &Past::of(&lab.k)), &mut found);
        core::iter::from_fn(|| found.first()).map(|violation| violation.invariant).collect()
    }

    /// Four CPUs of one cache; a task runs on CPU 0 and one sleeps there, one runs on CPU 1.
    fn lab() -> (Lab, TaskId) {
        let lab = Lab::new(4, "6.1.y", &[]);
        let sleeper = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0, 1, 2]));
        lab.block(0);
        lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
        lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        (lab, sleeper)
    }

    fn decision(task: TaskId, reason: Reason) -> Event {
        Event::Decision { task, reason }
    }

    fn migrate(task: TaskId, dest: u16) -> Event {
        Event::Migrate { task, orig: CpuId(0), dest: CpuId(dest) }
    }

    #[test]
    fn fp7_a_wakeup_on_a_busy_cpu() {
        let (lab, p) = lab();
        let waking = Event::Waking { task: p, target: CpuId(0) };
        let to = |dest| alarms(&lab, &[waking, decision(p, Reason::SisCpu), migrate(p, dest)], |_| ());
        assert_eq!((to(2), to(1)), (Vec::new(), ["fair-placement I7"].into()));
        let repaired =
            [waking, decision(p, Reason::SisRecent), decision(p, Reason::WakeFallback), migrate(p, 1)];
        assert_eq!(alarms(&lab, &repaired, |_| ()), Vec::<&str>::new());
        assert_eq!(alarms(&lab, &[waking, migrate(p, 1)], |_| ()), [""; 0], "nobody searched");
    }

    #[test]
    fn fp9_an_idle_core_that_nobody_made() {
        let lab = Lab::new(2, "6.1.y", &[]);
        let enters = Event::Switch {
            prev: TaskId(5),
            prev_state: crate::SwitchState::Interruptible,
            next: lab.k.idle_task(CpuId(0)),
        };
        let known = |lab: &Lab| lab.k.fair_root.know_idle_core(CpuId(0));
        assert_eq!(alarms(&lab, &[], known), ["fair-placement I9"]);
        let lab = Lab::new(2, "6.1.y", &[]);
        assert_eq!(alarms(&lab, &[enters], known), [""; 0]);
    }

    #[test]
    fn fp10_an_affine_wakeup_that_is_asked_for_twice() {
        let (lab, p) = lab();
        let waking = Event::Waking { task: p, target: CpuId(1) };
        lab.k.task(p).cpu.overwrite(CpuId(1));
        let asked = decision(p, Reason::WaSync);
        assert_eq!(alarms(&lab, &[waking, asked], |_| ()), [""; 0]);
        assert_eq!(alarms(&lab, &[waking, asked, asked], |_| ()), ["fair-placement I10"]);
        lab.k.task(p).cpu.overwrite(CpuId(0));
        assert_eq!(alarms(&lab, &[waking, asked], |_| ()), ["fair-placement I10"], "it is its own CPU");
        lab.k.task(p).cpu.overwrite(CpuId(0));
    }

    #[test]
    fn fp11_and_fp12_pulls_that_may_not_be() {
        let (lab, p) = lab();
        let pulls = |p, dest, reason| [migrate(p, dest), decision(p, reason)];
        lab.k.task(p).cpu.overwrite(CpuId(2));
        assert_eq!(alarms(&lab, &pulls(p, 2, Reason::BalancedPeriodic), |_| ()), [""; 0]);
        let newly_idle = pulls(p, 2, Reason::BalancedNewIdle);
        assert_eq!(alarms(&lab, &newly_idle, |_| ()), [""; 0]);
        assert_eq!(alarms(&lab, &[newly_idle, newly_idle].concat(), |_| ()), ["fair-placement I12"]);
        lab.k.task(p).cpu.overwrite(CpuId(3));
        assert_eq!(
            alarms(&lab, &pulls(p, 3, Reason::BalancedPeriodic), |_| ()),
            ["fair-placement I11"],
            "not allowed"
        );
        lab.k.task(p).cpu.overwrite(CpuId(0));
        let runs = lab.running(0);
        assert_eq!(
            alarms(&lab, &pulls(runs, 0, Reason::BalancedPeriodic), |_| ()),
            ["fair-placement I11"],
            "it runs"
        );
    }

    #[test]
    fn fp14_failures_that_nobody_counted() {
        let (lab, _) = lab();
        let state = &lab.k.domains(CpuId(1))[0].balance;
        assert_eq!(alarms(&lab, &[], |_| state.nr_balance_failed.set(2)), ["fair-placement I14"]);
        let failed = |_: &Lab| {
            state.counts[0].failed.set(1);
            state.nr_balance_failed.set(3);
        };
        assert_eq!(alarms(&lab, &[], failed), [""; 0], "one pass failed");
    }

    #[test]
    fn fp20_a_task_that_does_not_wait_for_its_cpu() {
        let (lab, p) = lab();
        let listed = decision(p, Reason::WakeOnCpuList);
        assert_eq!(alarms(&lab, &[listed, migrate(p, 2)], |_| ()), ["fair-placement I20"]);
        let woken = Event::Wakeup { task: p, target: CpuId(0) };
        assert_eq!(alarms(&lab, &[listed, woken, migrate(p, 2)], |_| ()), [""; 0]);
        let ran = Event::StatRuntime { task: p, runtime: Nanos(1), vruntime: 1 };
        assert_eq!(alarms(&lab, &[ran], |_| ()), [""; 0]);
    }

    #[test]
    fn cf7_a_task_that_is_to_leave_a_preferred_cpu() {
        let machine = || crate::Topology::flat(2).with_priorities([60, 35].into());
        let alarms = |cpu: u16, topology: &crate::Topology, rule: &str| {
            let lab = Lab::on(topology, "6.18.y", &[rule]);
            let p = lab.spawn_allowed(Policy::Normal, cpu, cpus(&[cpu]));
            alarms(&lab, &[decision(p, Reason::ActiveAsymPacking)], |_| ())
        };
        let packs = "asym_packing=idle_cores";
        assert_eq!(alarms(1, &machine(), packs), [""; 0]);
        assert_eq!(alarms(0, &machine(), packs), ["deadline-groups CF7"], "the best one");
        assert_eq!(alarms(1, &machine(), "asym_packing=off"), ["deadline-groups CF7"]);
        assert_eq!(alarms(1, &crate::Topology::flat(2), packs), ["deadline-groups CF7"], "none is preferred");
    }

    #[test]
    fn fp21_a_cpu_that_is_asked_and_never_told() {
        let (lab, _) = lab();
        assert_eq!(
            alarms(&lab, &[], |lab| lab.k.rq(CpuId(0)).published.balance.ask(CpuId(1))),
            ["fair-placement I21"]
        );
    }
}
