//! Idle states: which one each CPU is in, what it took so far, and the governor that chooses (machine.md 5.3
//! to 5.5). Machines whose file has no `[idle]` have none of this.
//!
//! A governor is asked each time round the idle loop, and told then how the time before went.

mod haltpoll;
mod menu;
mod teo;
mod terms;

use crate::rng::{Purpose, Rng};
use crate::spec::{Governor, IdleState, IdleStates};
use haltpoll::Haltpoll;
use menu::Menu;
use scheduler::{CpuId, Nanos};
use schema::{CpuIdle, IdleStateUse};
use std::cell::{Cell, RefCell};
use teo::Teo;
pub(crate) use terms::Prospect;
use terms::{Choice, Idled};

/// All CPUs.
#[derive(Debug)]
pub(crate) struct IdleCpus {
    states: Vec<IdleState>,
    governor: Governor,
    /// [`Nanos::NEVER`] if nobody cares.
    latency_limit: Cell<Nanos>,
    cpus: Box<[IdleCpu]>,
}

#[derive(Debug)]
struct IdleCpu {
    known: RefCell<Known>,
    /// The state that it is in, and since when.
    entered: Cell<Option<Entered>>,
    /// The state that it was in last, and when it will have left it.
    left: Cell<Option<Left>>,
    /// What the governor has not been told.
    idled: Cell<Option<Idled>>,
    /// A tick has come in idle.
    got_tick: Cell<bool>,
    /// Since it idles.
    tick_is_stopped: Cell<bool>,
    /// How long it takes to leave the state that it was in last.
    leaving: Cell<Nanos>,
    /// An interrupt has ended its idle time, and it has not left its state yet.
    is_leaving: Cell<bool>,
    dice: RefCell<Rng>,
    uses: RefCell<Vec<Use>>,
}

#[derive(Clone, Copy, Debug)]
struct Entered {
    state: usize,
    at: Nanos,
}

#[derive(Clone, Copy, Debug)]
struct Left {
    state: usize,
    at: Nanos,
}

/// What a governor knows of a CPU.
#[derive(Debug)]
enum Known {
    Menu(Menu),
    Teo(Teo),
    Haltpoll(Haltpoll),
    Nothing,
}

/// How a CPU has used a state.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    entries: u64,
    time: Nanos,
    above: u64,
    below: u64,
}

impl IdleCpus {
    /// Those of a machine that has been idle for long: no CPU ticks.
    pub fn new(machine: &IdleStates, cpus: usize, latency_limit: Nanos, seed: u64) -> IdleCpus {
        let IdleStates { governor, states } = machine.clone();
        let known = || match governor {
            Governor::Menu => Known::Menu(Menu::new()),
            Governor::Teo => Known::Teo(Teo::new(states.len())),
            Governor::Haltpoll => Known::Haltpoll(Haltpoll::default()),
            Governor::None => Known::Nothing,
        };
        let cpu = |number| IdleCpu {
            known: RefCell::new(known()),
            entered: Cell::new(None),
            left: Cell::new(None),
            idled: Cell::new(None),
            got_tick: Cell::new(false),
            tick_is_stopped: Cell::new(true),
            leaving: Cell::new(Nanos::ZERO),
            is_leaving: Cell::new(false),
            dice: RefCell::new(Rng::keyed(seed, Purpose::IdleExit, number)),
            uses: RefCell::new(vec![Use::default(); states.len()]),
        };
        let cpus = (0..cpus as u64).map(cpu).collect();
        IdleCpus { states, governor, latency_limit: Cell::new(latency_limit), cpus }
    }

    fn cpu(&self, cpu: CpuId) -> &IdleCpu {
        &self.cpus[cpu.index()]
    }

    /// Whether somebody decides about the ticks of idle CPUs.
    pub fn govern_ticks(&self) -> bool {
        self.governor != Governor::None
    }

    /// Longer than this nobody wants to wait for an idle CPU.
    pub fn latency_limit(&self) -> Nanos {
        self.latency_limit.get()
    }

    /// From now on.
    pub fn limit_latency(&self, limit: Nanos) {
        self.latency_limit.set(limit);
    }

    /// The CPU has executed a task, and ticks; now it idles.
    pub fn begins(&self, cpu: CpuId) {
        self.cpu(cpu).tick_is_stopped.set(false);
    }

    /// Its tick stops until it executes a task.
    pub fn tick_stops(&self, cpu: CpuId) {
        self.cpu(cpu).tick_is_stopped.set(true);
    }

    pub fn tick_is_stopped(&self, cpu: CpuId) -> bool {
        self.cpu(cpu).tick_is_stopped.get()
    }

    /// A tick comes while it idles.
    pub fn got_tick(&self, cpu: CpuId) {
        self.cpu(cpu).got_tick.set(true);
    }

    /// What the governor wants, once it has heard of the time before.
    pub fn choose(&self, cpu: CpuId, ahead: &Prospect) -> Choice {
        let of = self.cpu(cpu);
        let (idled, by_tick) = (of.idled.take(), of.got_tick.take());
        let idled = idled.map(|idled| Idled { by_tick, ..idled });
        match &mut *of.known.borrow_mut() {
            Known::Menu(menu) => {
                if let Some(idled) = idled {
                    menu.update(&self.states, &idled, ahead.period);
                }
                menu.select(&self.states, ahead)
            }
            Known::Teo(teo) => {
                if let Some(idled) = idled {
                    teo.update(&self.states, &idled, ahead.period);
                }
                teo.select(&self.states, ahead)
            }
            Known::Haltpoll(haltpoll) => {
                if let Some(idled) = idled {
                    haltpoll.update(&idled);
                }
                haltpoll.select(ahead)
            }
            Known::Nothing => {
                let polls = ahead.latency_limit == Nanos::ZERO;
                let sleeps = self.states.iter().position(|state| !state.polls()).filter(|_| !polls);
                Choice { state: sleeps.unwrap_or(0), stops_tick: true }
            }
        }
    }

    /// How long a CPU polls before the governor is asked anew. Where nobody wants to wait at all, the answer
    /// would be the same.
    pub fn polls_for(&self, cpu: CpuId, period: Nanos) -> Option<Nanos> {
        /// Less than this a CPU does not poll, and not for more than that part of a tick's period (cpuidle).
        const LEAST: Nanos = Nanos(10_000);
        const LONGEST_PART: u64 = 16;
        if self.latency_limit.get() == Nanos::ZERO {
            return None;
        }
        match &*self.cpu(cpu).known.borrow() {
            Known::Nothing => None,
            Known::Haltpoll(haltpoll) => Some(haltpoll.limit()),
            Known::Menu(_) | Known::Teo(_) => {
                let residencies = self.states.iter().skip(1).map(|state| state.target_residency);
                let worth = residencies.into_iter().find(|residency| *residency >= LEAST);
                Some(worth.map_or(period, |worth| worth.min(Nanos(period.0 / LONGEST_PART))))
            }
        }
    }

    /// Whether a CPU polls in the state of this number.
    pub fn polls_in(&self, state: usize) -> bool {
        self.states[state].polls()
    }

    /// A CPU enters a state.
    pub fn enters(&self, cpu: CpuId, state: usize, at: Nanos) -> &IdleState {
        let of = self.cpu(cpu);
        of.uses.borrow_mut()[state].entries += 1;
        of.entered.set(Some(Entered { state, at }));
        &self.states[state]
    }

    /// It leaves it.
    pub fn leaves(&self, cpu: CpuId, now: Nanos, polled_in_vain: bool) {
        let of = self.cpu(cpu);
        let Some(Entered { state, at }) = of.entered.take() else { return };
        let leaving = self.states[state].leaving.draw(&mut of.dice.borrow_mut());
        of.leaving.set(leaving);
        of.left.set(Some(Left { state, at: now + leaving }));
        let length = now.saturating_sub(at) + leaving;
        of.idled.set(Some(Idled { state, length, by_tick: false, polled_in_vain }));
        let used = &mut of.uses.borrow_mut()[state];
        used.time += length;
        let entered = &self.states[state];
        let deeper = self.states.get(state + 1);
        let stayed = length.saturating_sub(entered.exit_latency);
        if length < entered.target_residency {
            used.above += u64::from(state > 0);
        } else if deeper
            .is_some_and(|deeper| length > entered.exit_latency && stayed >= deeper.target_residency)
        {
            used.below += 1;
        }
    }

    /// It is on its way out of its state, up to its next interrupt.
    pub fn begins_to_leave(&self, cpu: CpuId) {
        self.cpu(cpu).is_leaving.set(true);
    }

    /// Whether it was, and has left it now.
    pub fn has_left(&self, cpu: CpuId) -> bool {
        self.cpu(cpu).is_leaving.take()
    }

    /// How long it takes to leave the state that a CPU was in last.
    pub fn leaving(&self, cpu: CpuId) -> Nanos {
        self.cpu(cpu).leaving.get()
    }

    /// The state that a CPU is in, as long as it is there.
    pub fn state_of(&self, cpu: CpuId) -> Option<&IdleState> {
        self.cpu(cpu).entered.get().map(|entered| &self.states[entered.state])
    }

    /// All streams derive from this seed from now on.
    pub fn redraw(&self, seed: u64) {
        for (number, cpu) in (0..).zip(&self.cpus) {
            *cpu.dice.borrow_mut() = Rng::keyed(seed, Purpose::IdleExit, number);
        }
    }

    /// How the CPUs have used their states up to `at`.
    pub fn results(&self, at: Nanos) -> Vec<CpuIdle> {
        let of_cpu = |(number, cpu): (u32, &IdleCpu)| {
            let (open, left) = (cpu.entered.get(), cpu.left.get());
            let uses = cpu.uses.borrow();
            let of_state = |(state, used): (usize, &Use)| {
                let open = open.filter(|open| open.state == state);
                let open = open.map_or(Nanos::ZERO, |open| at.saturating_sub(open.at));
                // What it takes to leave a state has been counted when that began.
                let left = left.filter(|left| left.state == state);
                let ahead = left.map_or(Nanos::ZERO, |left| left.at.saturating_sub(at));
                let time = (used.time + open).saturating_sub(ahead);
                IdleStateUse {
                    state: self.states[state].name.clone(),
                    usage: used.entries,
                    time_ns: time.0,
                    above: used.above,
                    below: used.below,
                }
            };
            CpuIdle { cpu: number, states: uses.iter().enumerate().map(of_state).collect() }
        };
        (0..).zip(&self.cpus).map(of_cpu).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::IdleMonitor;

    fn cpus(governor: Governor, latency_limit: Nanos) -> IdleCpus {
        let poll = IdleState::new("POLL", IdleMonitor::Poll, Nanos::ZERO, Nanos::ZERO);
        let shallow = IdleState::new("C1", IdleMonitor::Mwait, Nanos(2_000), Nanos(20_000));
        let deep = IdleState::new("C6", IdleMonitor::Mwait, Nanos(133_000), Nanos(600_000));
        let machine = IdleStates { governor, states: vec![poll, shallow, deep] };
        IdleCpus::new(&machine, 2, latency_limit, 1)
    }

    /// As in cpuidle's sysfs: `above` counts what was too short for its state, `below` what would have been
    /// long enough for a deeper one.
    #[test]
    fn above_and_below() {
        let idle = cpus(Governor::Menu, Nanos::NEVER);
        let cpu = CpuId(1);
        // When it has left.
        let later = Nanos(1_000_000_000);
        let counts = |state: usize, us: u64| {
            let before = idle.results(later)[1].states[state].clone();
            idle.enters(cpu, state, Nanos(0));
            idle.leaves(cpu, Nanos(1_000 * us), false);
            let after = idle.results(later)[1].states[state].clone();
            assert_eq!(after.usage, before.usage + 1);
            assert_eq!(after.time_ns - before.time_ns, 1_000 * us + idle.leaving(cpu).0);
            (after.above - before.above, after.below - before.below)
        };
        assert_eq!(counts(1, 17), (1, 0), "C1 is worth it from 20 us on");
        assert_eq!(counts(1, 300), (0, 0));
        assert_eq!(counts(1, 700), (0, 1), "C6 from 600 on");
        assert_eq!(counts(2, 300), (1, 0));
        assert_eq!(counts(2, 7_000), (0, 0), "there is none deeper");
        assert_eq!(counts(0, 5), (0, 0), "there is none shallower");
        assert_eq!(counts(0, 30), (0, 1));
    }

    /// machine.md 5.5: 0.5 to 1 of what the table says for C1, 0.3 to 1 for C6.
    #[test]
    fn how_long_states_take_to_leave() {
        let idle = cpus(Governor::Menu, Nanos::NEVER);
        let drawn = |state| {
            let leaving = (0..1_000).map(|_| {
                idle.enters(CpuId(0), state, Nanos(0));
                idle.leaves(CpuId(0), Nanos(1), false);
                idle.leaving(CpuId(0)).0
            });
            let all: Vec<u64> = leaving.collect();
            [all.iter().min(), all.iter().max()].map(|ns| *ns.expect("a thousand"))
        };
        assert_eq!(drawn(0), [0, 0]);
        for (state, (least, most)) in [(1, (1_000, 2_000)), (2, (39_900, 133_000))] {
            let [shortest, longest] = drawn(state);
            let one_percent = (most - least) / 100;
            assert!((least..least + one_percent).contains(&shortest), "{shortest}");
            assert!((most - one_percent..=most).contains(&longest), "{longest}");
        }
    }

    /// machine.md 5.4: `none` is always state 1; and nobody waits where nobody wants to.
    #[test]
    fn without_a_governor_it_is_state_1() {
        let ahead = |latency_limit| {
            let (timer, with_tick, period) = (Nanos(1), Nanos(1), Nanos(4_000_000));
            Prospect { timer, with_tick, period, tick_is_stopped: false, latency_limit }
        };
        let idle = cpus(Governor::None, Nanos::NEVER);
        assert_eq!(idle.choose(CpuId(0), &ahead(Nanos::NEVER)).state, 1);
        assert_eq!(idle.choose(CpuId(0), &ahead(Nanos::ZERO)).state, 0);
        assert!(!idle.govern_ticks() && cpus(Governor::Menu, Nanos::NEVER).govern_ticks());
    }

    /// machine.md 5.4: where nobody wants to wait and no state is fast enough, it is the shallowest, and a
    /// machine that cannot poll stops its tick there.
    #[test]
    fn where_every_state_is_too_slow_it_is_the_first() {
        let shallow = IdleState::new("C1", IdleMonitor::Mwait, Nanos(2_000), Nanos(2_000));
        let deep = IdleState::new("C6", IdleMonitor::Mwait, Nanos(133_000), Nanos(600_000));
        for governor in [Governor::Menu, Governor::Teo, Governor::None] {
            let states = vec![shallow.clone(), deep.clone()];
            let idle = IdleCpus::new(&IdleStates { governor, states }, 1, Nanos::ZERO, 1);
            let (timer, with_tick, period) = (Nanos(20_000_000), Nanos(4_000_000), Nanos(4_000_000));
            for latency_limit in [Nanos::ZERO, Nanos(1_999)] {
                let ahead = Prospect { timer, with_tick, period, tick_is_stopped: false, latency_limit };
                assert_eq!(
                    idle.choose(CpuId(0), &ahead),
                    Choice { state: 0, stops_tick: true },
                    "{governor:?}"
                );
            }
        }
    }

    /// cpuidle polls up to the first residency of 10 us and more, not for more than a sixteenth of a tick.
    #[test]
    fn how_long_it_polls() {
        let tick = |us: u64| Nanos(1_000 * us);
        let idle = cpus(Governor::Menu, Nanos::NEVER);
        assert_eq!(idle.polls_for(CpuId(0), tick(4_000)), Some(tick(20)));
        assert_eq!(idle.polls_for(CpuId(0), tick(160)), Some(tick(10)));
        assert_eq!(cpus(Governor::Menu, Nanos::ZERO).polls_for(CpuId(0), tick(4_000)), None);
        let shallow = IdleState::new("C1", IdleMonitor::Mwait, Nanos(2_000), Nanos(2_000));
        let states = vec![idle.states[0].clone(), shallow];
        let only_c1 = IdleCpus::new(&IdleStates { governor: Governor::Menu, states }, 1, Nanos::NEVER, 1);
        assert_eq!(only_c1.polls_for(CpuId(0), tick(4_000)), Some(tick(4_000)), "no residency is of 10 us");
    }
}
