//! The governor menu (machine.md 5.4): how long will the CPU idle, by its next timer and by how long it idled
//! the last times; then the deepest state that is worth it. Waits for devices (its I/O waiters) are not
//! known here, so that nobody waits for one.

use super::terms::{Choice, Idled, Prospect};
use crate::spec::IdleState;
use scheduler::Nanos;

/// So many idle times it remembers.
const INTERVALS: usize = 8;
/// So many of them, at least, have to be alike.
const ENOUGH: usize = 6;
/// A variance, in square microseconds, that is none.
const ALIKE: u64 = 400;
/// An average counts if its square is more than so many times the variance.
const SHARP: u64 = 36;
/// What a timer's distance is corrected by, where it is right.
const UNITY: u64 = 1024;
/// One in so many parts of a correction is what was seen last.
const DECAY: u64 = 8;
/// An idle time that is long enough for every state (50 ms); what is longer says nothing about corrections.
const LONG: Nanos = Nanos(50_000_000);
/// What counts as the length of an idle time that only its own tick ended: nine tenths of that.
const BUT_FOR_THE_TICK: Nanos = Nanos(LONG.0 / 10 * 9);

/// What it knows of a CPU.
#[derive(Clone, Debug)]
pub(super) struct Menu {
    /// The last idle times, in microseconds.
    intervals_us: [u64; INTERVALS],
    /// Where the next one goes.
    next: usize,
    /// By the distance of the next timer: how much of it passes, in parts of [`UNITY`] times [`DECAY`].
    corrections: [u64; 6],
    /// The next timer when the CPU began to idle last.
    timer: Nanos,
}

impl Menu {
    /// Of a CPU that has idled for long.
    pub fn new() -> Menu {
        Menu {
            intervals_us: [BUT_FOR_THE_TICK.0 / 1_000; INTERVALS],
            next: 0,
            corrections: [UNITY * DECAY; 6],
            timer: Nanos::NEVER,
        }
    }

    /// The CPU is about to idle: the steps of machine.md 5.4 by their numbers.
    pub fn select(&mut self, states: &[IdleState], ahead: &Prospect) -> Choice {
        self.timer = ahead.timer;
        if must_be_ready(states, ahead) {
            return Choice { state: 0, stops_tick: !states[0].polls() };
        }
        // 2 and 3. Without a tick nothing but the timer would end a sleep in a state that is too shallow.
        let predicted = self.predict(ahead.timer);
        let trusts_timer = ahead.tick_is_stopped && predicted < ahead.period;
        let idles_for = if trusts_timer { ahead.timer } else { predicted };
        // 4.
        let limit = match ahead.tick_is_stopped {
            true => ahead.latency_limit,
            false => ahead.latency_limit.min(predicted),
        };
        // 5. It does not poll because of a guess.
        let is_worth_it =
            |state: &IdleState, time| state.target_residency <= time && state.exit_latency <= limit;
        let mut chosen = states.iter().skip(1).take_while(|state| is_worth_it(state, idles_for)).count();
        if states[chosen].polls() && is_worth_it(&states[1], ahead.timer) {
            chosen = 1;
        }
        // 6. Where it would idle for longer than its state is meant for, and not long enough for the next, a
        // tick that is there looks again; if there is none, the next one it is.
        let deeper = states.get(chosen + 1).filter(|deeper| deeper.target_residency > idles_for);
        let is_between = states[chosen].target_residency < ahead.period && idles_for >= ahead.period;
        if ahead.tick_is_stopped {
            let is_allowed = |it: &IdleState| {
                it.target_residency <= ahead.with_tick && it.exit_latency <= ahead.latency_limit
            };
            let sleeps_deeper = is_between && deeper.is_some_and(is_allowed);
            return Choice { state: chosen + usize::from(sleeps_deeper), stops_tick: true };
        }
        let looks_again = is_between && deeper.is_some();
        if !states[chosen].polls() && idles_for >= ahead.period && !looks_again {
            return Choice { state: chosen, stops_tick: true };
        }
        let fits = |state: &usize| states[*state].target_residency <= ahead.with_tick;
        Choice { state: (0..=chosen).rev().find(fits).unwrap_or(0), stops_tick: false }
    }

    /// The CPU has idled.
    pub fn update(&mut self, states: &[IdleState], idled: &Idled, period: Nanos) {
        let length = if idled.by_tick && self.timer > period {
            // It would have idled on.
            BUT_FOR_THE_TICK
        } else if idled.polled_in_vain {
            self.timer
        } else {
            let latency = states[idled.state].exit_latency;
            let twice = Nanos(2 * latency.0);
            if idled.length > twice { idled.length - latency } else { Nanos(idled.length.0 / 2) }
        };
        let length = length.min(self.timer);
        let seen = match self.timer {
            Nanos::ZERO => UNITY,
            _ if length >= LONG => UNITY,
            timer => UNITY * length.0 / timer.0,
        };
        let correction = &mut self.corrections[bucket(self.timer)];
        *correction = *correction - *correction / DECAY + seen;
        self.intervals_us[self.next] = length.0 / 1_000;
        self.next = (self.next + 1) % INTERVALS;
    }

    /// How long it is going to idle.
    fn predict(&self, timer: Nanos) -> Nanos {
        let corrected = self.corrected(timer);
        self.typical(corrected).unwrap_or(corrected).min(corrected)
    }

    /// By the timer alone.
    fn corrected(&self, timer: Nanos) -> Nanos {
        let share = self.corrections[bucket(timer)];
        let passes = u128::from(timer.0) * u128::from(share) / u128::from(UNITY * DECAY);
        u64::try_from(passes).map_or(Nanos::NEVER, Nanos)
    }

    /// The length of most of the last idle times, if they are alike; of no use, and not asked for, where all
    /// were longer than what is known already.
    fn typical(&self, known: Nanos) -> Option<Nanos> {
        let mut at_most = u64::MAX;
        loop {
            let counted = || self.intervals_us.iter().copied().filter(|us| *us <= at_most);
            let number = counted().count() as u64;
            let (least, most) = (counted().min()?, counted().max()?);
            if least >= known.0 / 1_000 {
                return None;
            }
            let mean = counted().sum::<u64>() / number;
            let variance =
                counted().map(|us| us.abs_diff(mean).saturating_pow(2)).fold(0, u64::saturating_add);
            let variance = variance / number;
            let enough = number as usize >= ENOUGH;
            let is_sharp = mean.saturating_mul(mean) > variance.saturating_mul(SHARP);
            if variance <= ALIKE || (is_sharp && enough) {
                return Some(Nanos(1_000 * mean));
            }
            if number as usize <= ENOUGH {
                return None;
            }
            at_most = most - 1;
        }
    }
}

/// 1: no other state than the first one is in question.
fn must_be_ready(states: &[IdleState], ahead: &Prospect) -> bool {
    let too_short = |second: &IdleState| {
        ahead.timer < second.target_residency || ahead.latency_limit < second.exit_latency
    };
    ahead.latency_limit == Nanos::ZERO || states.get(1).is_none_or(too_short)
}

/// By the decimal length of the distance in microseconds.
fn bucket(timer: Nanos) -> usize {
    [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000].partition_point(|edge| timer.0 >= *edge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::IdleMonitor;

    const MS: u64 = 1_000_000;
    const TICK: Nanos = Nanos(4 * MS);

    /// C1 2/2, C1E 10/20, C6 133/600, as on Skylake-X.
    fn states() -> Vec<IdleState> {
        let poll = IdleState::new("POLL", IdleMonitor::Poll, Nanos::ZERO, Nanos::ZERO);
        let deeper = [("C1", 2, 2), ("C1E", 10, 20), ("C6", 133, 600)].map(|(name, latency, residency)| {
            IdleState::new(name, IdleMonitor::Mwait, Nanos(1_000 * latency), Nanos(1_000 * residency))
        });
        [vec![poll], deeper.into()].concat()
    }

    fn ahead(timer: Nanos) -> Prospect {
        let with_tick = timer.min(TICK);
        let (tick_is_stopped, latency_limit) = (false, Nanos::NEVER);
        Prospect { timer, with_tick, period: TICK, tick_is_stopped, latency_limit }
    }

    fn idled(length: Nanos) -> Idled {
        Idled { state: 0, length, by_tick: false, polled_in_vain: false }
    }

    /// After eight idle times, each with a timer so far away.
    fn after(idle: Nanos, timer: Nanos) -> Menu {
        let mut menu = Menu::new();
        for _ in 0..INTERVALS {
            menu.timer = timer;
            // The first state costs nothing to leave.
            menu.update(&states(), &idled(idle), TICK);
        }
        menu
    }

    fn chosen(menu: &mut Menu, ahead: &Prospect) -> (String, bool) {
        let choice = menu.select(&states(), ahead);
        (states()[choice.state].name.clone(), choice.stops_tick)
    }

    #[test]
    fn m20_short_idle_times_keep_the_tick() {
        let mut menu = after(Nanos(MS / 10), Nanos(3 * MS));
        assert_eq!(menu.typical(Nanos(3 * MS)), Some(Nanos(MS / 10)));
        assert_eq!(chosen(&mut menu, &ahead(Nanos(3 * MS))), ("C1E".into(), false));
    }

    #[test]
    fn m21_long_idle_times_stop_it() {
        let mut menu = after(Nanos(5 * MS), Nanos(20 * MS));
        assert_eq!(menu.predict(Nanos(20 * MS)), Nanos(5 * MS));
        assert_eq!(chosen(&mut menu, &ahead(Nanos(20 * MS))), ("C6".into(), true));
    }

    #[test]
    fn m22_without_any_latency_it_polls_and_keeps_the_tick() {
        let mut menu = after(Nanos(5 * MS), Nanos(20 * MS));
        let limited = |latency_limit| Prospect { latency_limit, ..ahead(Nanos(20 * MS)) };
        assert_eq!(chosen(&mut menu, &limited(Nanos::ZERO)), ("POLL".into(), false));
        assert_eq!(chosen(&mut menu, &limited(Nanos(1_000))), ("POLL".into(), false), "C1 takes 2 us");
        assert_eq!(chosen(&mut menu, &limited(Nanos(20_000))), ("C1E".into(), true));
    }

    /// Step 1 of menu, and 5: with a timer at hand it polls, and it does not because of a guess.
    #[test]
    fn a_near_timer_and_a_near_guess() {
        let mut menu = after(Nanos(1_000), Nanos(20 * MS));
        assert_eq!(chosen(&mut menu, &ahead(Nanos(1_999))), ("POLL".into(), false));
        // A guess of 1 us: C1 would be right for the timer, but takes 2 us to leave.
        assert_eq!(chosen(&mut menu, &ahead(Nanos(20 * MS))), ("POLL".into(), false));
        // Its tick stopped, nothing but the timer would wake the CPU: it is that which counts.
        let stopped = Prospect { tick_is_stopped: true, with_tick: Nanos(20 * MS), ..ahead(Nanos(20 * MS)) };
        assert_eq!(chosen(&mut menu, &stopped), ("C6".into(), true));
    }

    /// With its tick stopped a CPU goes deeper than its guess says, but not against the latency limit.
    #[test]
    fn without_a_tick_it_sleeps_deeper_as_far_as_it_may() {
        let mut deep = states();
        deep[3].target_residency = Nanos(8 * MS);
        let chosen = |latency_limit| {
            let mut menu = after(Nanos(5 * MS), Nanos(20 * MS));
            let (with_tick, tick_is_stopped) = (Nanos(20 * MS), true);
            let ahead = Prospect { with_tick, tick_is_stopped, latency_limit, ..ahead(Nanos(20 * MS)) };
            menu.select(&deep, &ahead).state
        };
        assert_eq!([chosen(Nanos::NEVER), chosen(Nanos(20_000))], [3, 2], "C6, then C1E");
    }

    /// Step 6: if the tick is kept, the state is no deeper than what is left up to it.
    #[test]
    fn the_tick_limits_the_state() {
        let mut menu = after(Nanos(MS), Nanos(20 * MS));
        let soon = |with_tick| Prospect { with_tick, ..ahead(Nanos(20 * MS)) };
        assert_eq!(chosen(&mut menu, &soon(Nanos(2 * MS))), ("C6".into(), false));
        assert_eq!(chosen(&mut menu, &soon(Nanos(599_999))), ("C1E".into(), false));
        assert_eq!(chosen(&mut menu, &soon(Nanos(1_999))), ("POLL".into(), false));
    }

    /// Step 3: outliers to the upside are dropped until six are left.
    #[test]
    fn two_of_eight_may_be_long() {
        let mut menu = after(Nanos(MS / 10), Nanos(20 * MS));
        for long in 1..=3 {
            menu.timer = Nanos(20 * MS);
            menu.update(&states(), &idled(Nanos((9 + long) * MS)), TICK);
            let expected = (long <= 2).then_some(Nanos(MS / 10));
            assert_eq!(menu.typical(Nanos(20 * MS)), expected, "{long}");
        }
    }

    /// Step 2: the share of a timer's distance that passes is learnt with a weight of an eighth.
    #[test]
    fn what_a_timer_is_worth_is_learnt() {
        let mut menu = Menu::new();
        menu.timer = Nanos(20 * MS);
        menu.update(&states(), &idled(Nanos::ZERO), TICK);
        assert_eq!(menu.corrected(Nanos(80 * MS)), Nanos(70 * MS));
        assert_eq!(menu.corrected(Nanos(8 * MS)), Nanos(8 * MS), "of another decade");
    }

    /// machine.md 5.3: a tick that ended an idle time in which nothing else was due says that the guess was
    /// too short.
    #[test]
    fn an_idle_time_that_only_the_tick_ended_counts_as_long() {
        let last = |timer, by_tick| {
            let mut menu = Menu::new();
            menu.timer = timer;
            menu.update(&states(), &Idled { by_tick, ..idled(Nanos(3 * MS)) }, TICK);
            menu.intervals_us[0]
        };
        assert_eq!(last(Nanos(100 * MS), true), 45_000);
        assert_eq!(last(Nanos(100 * MS), false), 3_000);
        assert_eq!(last(Nanos(4 * MS), true), 3_000, "the timer was due within a tick");
    }
}
