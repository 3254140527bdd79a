//! The CPU on which a woken task costs the least energy (find_energy_efficient_cpu, deadline-groups C4).
//!
//! Asked is a model, not the hardware: CPUs of a frequency domain run at the lowest level that serves the one
//! with most to do, a quarter to spare, and each takes what the level says for as long as it is busy. As long
//! as every CPU of the root domain has enough of what its tasks use, nothing else is asked, and fair tasks
//! are not balanced.

use super::idle_sibling::Chosen;
use crate::class::{Used, used};
use crate::domains::{Asymmetry, SchedDomain};
use crate::fair::cpu_load::look_at;
use crate::fair::pelt::{Fit, UtilWith, capacity_of, cpu_util_with, fit, task_util_estimate};
use crate::frequency::{FrequencyDomain, perf};
use crate::platform::Platform;
use crate::registry::EnergyAware;
use crate::{Clamps, CpuId, Reason, TaskId, ThisCpu};

/// Power times utilisation over capacity, in these parts of a milliwatt.
const FINE: u64 = 1 << 10;

/// Where `p`, which ran on `prev`, wakes for the least energy. `None`: that is not asked, as some CPU is
/// overutilised or the waker's CPU knows of one kind alone.
pub(super) fn search<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, prev: CpuId) -> Option<Chosen> {
    if me.k.root_domain(prev).overutilised.get() {
        return None;
    }
    let is_asked = |domain: &&SchedDomain| domain.asymmetric == Asymmetry::Full && domain.span.contains(prev);
    let domain = me.k.domains(me.id).iter().find(is_asked)?;
    let util = task_util_estimate(me, p);
    let clamps = me.k.clamps_of(me.task(p));
    let stays = Chosen { cpu: prev, reason: Reason::EnergyPrevious };
    if util == 0 && clamps.min == 0 {
        return Some(stays);
    }
    let task = Placed { p, util, clamps, prev };
    let mut costs = Costs::default();
    for running in me.k.frequencies.domains() {
        if costs.look(me, domain, &running.domain, &task).is_none() {
            // Somebody's utilisation has changed while it was looked at.
            return Some(stays);
        }
    }
    let sixteenth = me.k.config.rules.energy_aware.get() == EnergyAware::Sixteenth;
    match costs.best.filter(|best| best.beats(costs.previous, sixteenth.then_some(costs.before))) {
        Some(best) => Some(Chosen { cpu: best.cpu, reason: Reason::EnergyBest }),
        None => Some(stays),
    }
}

/// The task that is to be placed.
struct Placed {
    p: TaskId,
    util: u64,
    clamps: Clamps,
    prev: CpuId,
}

/// A CPU on which it could wake.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    cpu: CpuId,
    fit: Fit,
    /// What is left of it then.
    spare: u64,
    /// What it is worth at most.
    full: u64,
    /// How much more energy that takes.
    more: u64,
}

impl Candidate {
    /// Whether it goes before a CPU of another domain: by fit, else by energy, or where neither has what is
    /// asked for by worth.
    fn goes_before(self, other: Candidate) -> bool {
        match self.fit {
            fit if fit != other.fit => fit > other.fit,
            Fit::Yes => self.more < other.more,
            Fit::NotAsAsked | Fit::No => self.full > other.full,
        }
    }

    /// Whether it goes before the last CPU, if the task fits that. Up to 5.19 what is gained has to be more
    /// than a sixteenth of all that is taken, which is told then.
    fn beats(self, previous: Option<Candidate>, of_all: Option<u64>) -> bool {
        match (previous, of_all) {
            (None, _) => true,
            (Some(previous), None) => self.goes_before(previous),
            (Some(previous), Some(before)) => {
                previous.more.saturating_sub(self.more) > (previous.more + before) >> 4
            }
        }
    }
}

/// What has been found of the domains so far.
#[derive(Debug, Default)]
struct Costs {
    previous: Option<Candidate>,
    best: Option<Candidate>,
    /// What all take without the task.
    before: u64,
}

impl Costs {
    /// Looks at a frequency domain; `None` if the figures do not agree with themselves.
    fn look<P: Platform>(
        &mut self,
        me: ThisCpu<'_, P>,
        within: &SchedDomain,
        domain: &FrequencyDomain,
        task: &Placed,
    ) -> Option<()> {
        let (mut previous, mut roomiest) = (None, None::<Candidate>);
        for cpu in domain.cpus.and(&within.span).and(&me.task(task.p).cpus_allowed.get()).iter() {
            look_at(me, cpu);
            let Some(candidate) = task.on(me, cpu) else { continue };
            if cpu == task.prev {
                previous = Some(candidate);
            } else if roomiest.is_none_or(|other| (candidate.fit, candidate.spare) > (other.fit, other.spare))
            {
                roomiest = Some(candidate);
            }
        }
        if previous.is_none() && roomiest.is_none() {
            return Some(());
        }
        let before = energy(me, domain, task, None);
        self.before += before;
        let with = |candidate: Candidate| {
            let more = energy(me, domain, task, Some(candidate.cpu)).checked_sub(before)?;
            Some(Candidate { more, ..candidate })
        };
        if let Some(candidate) = previous {
            self.previous = Some(with(candidate)?);
        }
        let roomier = roomiest.filter(|other| previous.is_none_or(|previous| other.spare > previous.spare));
        if let Some(candidate) = roomier {
            let candidate = with(candidate)?;
            if self.best.is_none_or(|best| candidate.goes_before(best)) {
                self.best = Some(candidate);
            }
        }
        Some(())
    }
}

impl Placed {
    /// The task on a CPU; `None` where it does not fit.
    fn on<P: Platform>(&self, me: ThisCpu<'_, P>, cpu: CpuId) -> Option<Candidate> {
        let util = cpu_util_with(me, cpu, self.p, UtilWith::It);
        let fit = fit(me, util, self.clamps_on(me, cpu), cpu);
        let spare = capacity_of(me, cpu).saturating_sub(util);
        let full = me.k.full_capacity(cpu);
        (fit != Fit::No).then_some(Candidate { cpu, fit, spare, full, more: 0 })
    }

    /// The clamps of a CPU's queue with the task.
    fn clamps_on<P: Platform>(&self, me: ThisCpu<'_, P>, cpu: CpuId) -> Clamps {
        let there = &me.k.rq(cpu).published.clamps;
        if there.are_of_nobody() {
            return self.clamps;
        }
        let Clamps { min, max } = there.in_force();
        Clamps { min: min.max(self.clamps.min), max: max.max(self.clamps.max) }
    }
}

/// What the CPUs of a domain take, by the model, with the task on one of them or without it.
fn energy<P: Platform>(
    me: ThisCpu<'_, P>,
    domain: &FrequencyDomain,
    task: &Placed,
    on: Option<CpuId>,
) -> u64 {
    let (mut most, mut busy, mut all, mut full) = (0, 0, 0, 1);
    for cpu in domain.cpus.iter() {
        let with = if on == Some(cpu) { UtilWith::It } else { UtilWith::WithoutIt };
        let clamps = match with {
            UtilWith::It => task.clamps_on(me, cpu),
            UtilWith::WithoutIt => me.k.rq(cpu).published.clamps.in_force(),
        };
        let others = used(me, cpu);
        full = me.k.full_capacity(cpu);
        all += full;
        let fair = cpu_util_with(me, cpu, task.p, with);
        most = most.max(perf(me, cpu, Used { fair, ..others }, clamps));
        let fair = cpu_util_with(me, cpu, task.p, UtilWith::WithoutIt);
        busy += busy_with(Used { fair, ..others }, full);
    }
    if on.is_some() {
        let Used { interrupts, .. } = used(me, task.prev);
        let of = me.k.full_capacity(task.prev);
        busy = (busy + task.util * of.saturating_sub(interrupts) / of).min(all);
    }
    of_model(domain, full, most.min(full), busy)
}

/// What all that runs on a CPU that is worth `full` uses of it.
fn busy_with(Used { fair, higher, interrupts, .. }: Used, full: u64) -> u64 {
    ((fair + higher) * full.saturating_sub(interrupts) / full + interrupts).min(full)
}

/// What CPUs that are worth `full` take that use so much together, while `most` is asked of one of them; in
/// [`FINE`] parts of a milliwatt.
fn of_model(domain: &FrequencyDomain, full: u64, most: u64, busy: u64) -> u64 {
    let levels = &domain.levels;
    let capacity = |level: usize| domain.part_at(level, full).max(1);
    let milliwatts = |level: usize| u64::from(levels[level].milliwatts.unwrap_or(0));
    // A level is skipped if a higher one does the same work for no more.
    let khz = |level: usize| u64::from(levels[level].khz);
    let is_dearer =
        |higher: usize, level: usize| milliwatts(higher) * khz(level) > milliwatts(level) * khz(higher);
    let efficient = |level: usize| (level + 1..levels.len()).all(|higher| is_dearer(higher, level));
    let serves = |level: &usize| capacity(*level) >= most && efficient(*level);
    let level = (0..levels.len()).find(serves).unwrap_or(levels.len() - 1);
    milliwatts(level) * busy * FINE / capacity(level)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frequency::PerfLevel;
    use alloc::vec::Vec;

    /// The table of deadline-groups C4: capacities stand for frequencies.
    fn domain(levels: &[(u32, u32)]) -> FrequencyDomain {
        let level = |(khz, mw): &(u32, u32)| PerfLevel { khz: *khz, milliwatts: Some(*mw) };
        FrequencyDomain { cpus: crate::CpuMask::first_n(2), levels: levels.iter().map(level).collect() }
    }

    /// Its example, in tenths: the little CPUs' utilisation is 100 and 80, that of the big ones 200 and 100.
    #[test]
    fn what_a_task_costs_here_and_there() {
        let little = domain(&[(160, 60), (240, 150), (446, 300)]);
        let big = domain(&[(341, 180), (682, 700), (1024, 1600)]);
        let quarter = |util: u64| util + util / 4;
        let more = |domain: &FrequencyDomain, full, before: [u64; 2], after: [u64; 2]| {
            let taken = |utils: [u64; 2]| {
                let most = utils.iter().map(|util| quarter(*util)).max().expect("two");
                of_model(domain, full, most, utils.iter().sum())
            };
            ((taken(after) - taken(before)) * 10 + FINE / 2) / FINE
        };
        let costs = |task: u64| {
            let on_little = more(&little, 446, [100, 80], [100, 80 + task]);
            let on_big = more(&big, 1024, [200, 100], [200, 100 + task]);
            [on_little, on_big]
        };
        assert_eq!([costs(60), costs(200)], [[825, 317], [1881, 3548]]);
    }

    /// At 200 another level would do the work for more than the highest one.
    #[test]
    fn a_level_that_a_higher_one_beats_is_skipped() {
        let domain = domain(&[(100, 10), (200, 80), (400, 120)]);
        let taken: Vec<u64> =
            [50, 150, 250].iter().map(|most| of_model(&domain, 400, *most, 100) / FINE).collect();
        assert_eq!(taken, [10, 30, 30]);
    }

    /// Step 4: who fits better goes first, then who costs less, and where neither has what is asked for, who
    /// is worth more. Equals do not go first.
    #[test]
    fn the_better_fit_the_smaller_cost_the_greater_worth() {
        let candidate = |fit, more, full| Candidate { cpu: CpuId(0), fit, spare: 0, full, more };
        let goes_first = |a: Candidate, b: Candidate| [a.goes_before(b), b.goes_before(a)];
        let (dear, cheap) = (candidate(Fit::Yes, 9, 446), candidate(Fit::Yes, 8, 446));
        assert_eq!(goes_first(cheap, dear), [true, false]);
        assert_eq!(goes_first(cheap, cheap), [false, false]);
        let [small, large] = [446, 1024].map(|full| candidate(Fit::NotAsAsked, 8, full));
        assert_eq!(goes_first(dear, large), [true, false]);
        assert_eq!(goes_first(large, small), [true, false]);
        assert_eq!(goes_first(small, small), [false, false]);
    }

    /// Step 4, up to 5.19: more than a sixteenth of all that is taken with the task where it was.
    #[test]
    fn exactly_a_sixteenth_was_no_reason() {
        let costs = |more| Candidate { cpu: CpuId(0), fit: Fit::Yes, spare: 0, full: 446, more };
        let beats = |more| costs(more).beats(Some(costs(100)), Some(60));
        assert_eq!([90, 89].map(beats), [false, true], "a sixteenth of 160 is 10");
        assert!(costs(1_000).beats(None, Some(60)), "it does not fit where it was");
    }

    /// A level serves what is exactly its capacity.
    #[test]
    fn a_level_serves_all_that_it_has() {
        let little = domain(&[(160, 60), (240, 150), (446, 300)]);
        let taken = |most| of_model(&little, 446, most, 160) / FINE;
        assert_eq!([160, 161].map(taken), [60, 100]);
    }

    /// What interrupts leave is shared by the rest, and a CPU is no busier than it can be.
    #[test]
    fn a_cpu_is_busy_with_what_interrupts_leave() {
        let busy = |fair, higher, interrupts| {
            let used = Used { fair, higher, interrupts, reserved: 0 };
            busy_with(used, 400)
        };
        assert_eq!([busy(100, 50, 0), busy(100, 60, 100), busy(300, 200, 0)], [150, 220, 400]);
        assert_eq!([busy(0, 0, 400), busy(10, 10, 500)], [400, 400]);
    }
}
