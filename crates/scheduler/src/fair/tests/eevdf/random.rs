//! Random loads: the invariants of 6.1 at every rest and the theorems of 6.2.

use super::super::random::{load, machine, race, take_turns};
use super::model::{Course, Habit, Player, play};
use crate::fair::Sums;
use crate::fair::eevdf::choose;
use crate::fair::vruntime::lag;
use crate::registry::{Feature, RULES};
use crate::testing::{Dice, Lab};
use crate::{CpuId, Nanos, Reason};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

const PROFILES: [&str; 7] = ["6.6", "6.12", "6.12.y", "6.18", "6.18.y", "7.0", "7.1"];

/// Other values for the switches of EEVDF, but not another discipline.
fn switch(lab: &Lab, dice: &mut Dice) {
    for rule in RULES.iter().filter(|r| r.source.contains("eevdf-class") && r.name != "fair_policy") {
        if dice.below(3) == 0 {
            let value = rule.values[dice.below(rule.values.len())].name;
            lab.k.config.set(&format!("{}={value}", rule.name)).expect("a legal setting");
        }
    }
    let of_eevdf = |f: &&Feature| f.source().contains("eevdf-class") || **f == Feature::NextBuddy;
    for feature in Feature::ALL.iter().filter(of_eevdf) {
        if dice.below(3) == 0 {
            lab.k.config.switch(*feature, dice.below(2) == 0);
        }
    }
    for (tunable, values) in
        [("base_slice_ns", ["700000", "100000", "5000000"]), ("hz", ["1000", "250", "100"])]
    {
        if dice.below(4) == 0 {
            lab.k.config.set(&format!("{tunable}={}", values[dice.below(3)])).expect("a legal setting");
        }
    }
}

/// What the random courses must have met, or they prove little.
const MET: [Reason; 11] = [
    Reason::PreemptDeadline,
    Reason::NoPreemptDeadline,
    Reason::NoPreemptNew,
    Reason::PreemptIdlePolicy,
    Reason::RequestEnd,
    Reason::ProtectionEnd,
    Reason::PickProtected,
    Reason::BuddyNext,
    Reason::DelayedDequeue,
    Reason::DelayedFinished,
    Reason::DelayedWoken,
];

/// eevdf-class E5: what the pick finds is what a look at everybody finds.
fn picks_right(lab: &Lab, cpu: u16) {
    let mut rq = lab.run(lab.cpu(cpu).lock(CpuId(cpu)));
    if rq.published.nr_delayed.get() > 0 || rq.fair.curr.is_some() || rq.fair.buddies.next.is_some() {
        return;
    }
    let sums = Sums::of(&lab.k.tasks, &rq.fair);
    let se = |entity: crate::fair::EntityId| &lab.k.task(entity.task()).se;
    let eligible = rq.fair.waiting().filter(|e| sums.eligible(se(*e).vruntime.get()));
    // By deadline already; the first of equals came first.
    let best = eligible
        .reduce(|a, b| if lag(se(b).eevdf.deadline.get(), se(a).eevdf.deadline.get()) < 0 { b } else { a });
    assert_eq!(choose(&mut rq), best);
}

#[test]
fn invariants_hold_under_every_combination_of_switches() {
    let mut met = [0; MET.len()];
    for seed in 0..300 {
        let mut dice = Dice::new(seed);
        let profile = PROFILES[dice.below(PROFILES.len())];
        let lab = Lab::on(&machine(&mut dice), profile, &["sched_rt_runtime_us=-1"]);
        switch(&lab, &mut dice);
        load(&lab, &mut dice);
        take_turns(&lab, &mut dice, switch, |cpu| picks_right(&lab, cpu));
        met.iter_mut().zip(MET).for_each(|(n, reason)| *n += lab.count(reason));
    }
    assert!(met.iter().all(|n| *n > 20), "{met:?}");
}

#[test]
fn invariants_hold_when_cpus_race() {
    let mut met = [0; MET.len()];
    for seed in 0..500 {
        let mut dice = Dice::new(1000 + seed);
        let profile = PROFILES[dice.below(PROFILES.len())];
        let lab = Lab::on(&machine(&mut dice), profile, &["sched_rt_runtime_us=-1"]);
        switch(&lab, &mut dice);
        load(&lab, &mut dice);
        race(&lab, &mut dice);
        met.iter_mut().zip(MET).for_each(|(n, reason)| *n += lab.count(reason));
    }
    assert!(met.iter().all(|n| *n > 10), "{met:?}");
}

/// A random load of hogs: nice values and slices of their own.
fn hogs(dice: &mut Dice, with_slices: bool) -> Vec<Player> {
    (0..2 + dice.below(4))
        .map(|_| {
            let hog = Player::hog(dice.below(11) as i8 - 5);
            let slice = 0.3 + dice.below(28) as f64 / 10.0;
            if with_slices { hog.slice(slice) } else { hog }
        })
        .collect()
}

fn ideal(players: &[Player], length: Nanos) -> Vec<f64> {
    let weights: Vec<f64> =
        players.iter().map(|p| crate::Nice::new(p.nice).expect("-20 to 19").weight() as f64).collect();
    let all: f64 = weights.iter().sum();
    weights.iter().map(|w| length.0 as f64 / 1e6 * w / all).collect()
}

fn settings(hz: u64) -> String {
    format!("hz={hz}")
}

/// T2 at eight moments of each run: hogs that are always runnable are never further from their share than the
/// longest request and a tick; where a tick is longer than a request, not by more than three tenths.
#[test]
fn t2_nobody_is_further_from_its_share_than_a_request_and_a_tick() {
    for seed in 0..40 {
        let mut dice = Dice::new(seed);
        let profile = PROFILES[1 + dice.below(PROFILES.len() - 1)];
        let players = hogs(&mut dice, true);
        let hz = [100, 250, 1000][dice.below(3)];
        let length = Nanos::from_millis(400 + dice.below(400) as u64);
        let longest = players.iter().filter_map(|p| p.slice).fold(0.7, f64::max);
        let factor = if longest * hz as f64 >= 1000.0 { 1.0 } else { 1.3 };
        let bound = factor * (longest + 1000.0 / hz as f64);
        for eighth in 1..=8 {
            let until = Nanos(length.0 * eighth / 8 + dice.below(1_000_000) as u64);
            let course = play(1, profile, &[settings(hz).as_str()], &players, until);
            for (at, ideal) in ideal(&players, until).into_iter().enumerate() {
                let off = (course.ran(at) - ideal).abs();
                assert!(off <= bound, "{profile} hz={hz} seed {seed}, {until}: {off:.2} of {bound:.2} ms");
            }
        }
    }
}

/// By how many ms the latest request of a hog was finished after T4's bound without `q`: a request of length
/// `r` becomes eligible when its hog has had its share, `wait` ms of real time for each of service. Its
/// length is charged at ticks and when the hog is put out; the next one begins there. The first is half as
/// long (PLACE_DEADLINE_INITIAL).
fn lateness(course: &Course, player: usize, r: f64, wait: f64, tick: f64) -> f64 {
    let ms = |time: Nanos| time.0 as f64 / 1e6;
    let (mut worst, mut served, mut begun, mut since, mut length) = (f64::MIN, 0.0, 0.0, 0.0, r / 2.0);
    for stint in course.of(player) {
        let (mut now, end) = (ms(stint.from), ms(stint.to));
        while now < end {
            // The next tick, not the one that has just been.
            let charged = ((now / tick + 1e-6).floor() + 1.0) * tick;
            let charged = charged.min(end);
            served += charged - now;
            now = charged;
            if served - begun >= length {
                let finished = now - (served - begun - length);
                worst = f64::max(worst, finished - f64::max(begun * wait, since) - length * wait);
                (begun, since, length) = (served, now, r);
            }
        }
    }
    worst
}

/// T4: a request is finished by its virtual deadline and a quantum: what a task that is picked has for sure,
/// the shortest request, up to the next tick. With `protection=deadline` that is its own request, however
/// long. (Ten ticks a ms: one that serves several requests is none that the theorem knows.)
#[test]
fn t4_requests_are_finished_by_their_deadlines_and_a_quantum() {
    const TICK: f64 = 0.1;
    let worst = |profile: &str, settings: &[&str], players: &[Player]| -> f64 {
        let course = play(1, profile, settings, players, Nanos::from_millis(600));
        let shares = ideal(players, Nanos::from_millis(1));
        let of = |at: usize, player: &Player| {
            lateness(&course, at, player.slice.expect("its own"), 1.0 / shares[at], TICK)
        };
        players.iter().enumerate().map(|(at, player)| of(at, player)).fold(f64::MIN, f64::max)
    };
    let mut late = 0;
    for seed in 0..40 {
        let mut dice = Dice::new(500 + seed);
        // 7.1 has a timer for the end of requests.
        let profile = ["6.18", "6.18.y", "7.0"][dice.below(3)];
        // No request ends at a tick, where a ns that virtual time was rounded by would decide about it.
        let between = |hog: Player| hog.slice(hog.slice.expect("its own") + TICK / 2.0);
        let players: Vec<Player> = hogs(&mut dice, true).into_iter().map(between).collect();
        let quantum = players.iter().filter_map(|p| p.slice).fold(f64::MAX, f64::min) + TICK;
        let found = worst(profile, &["hz=10000"], &players);
        assert!(found <= quantum, "{profile} seed {seed}: {found:.3} of {quantum:.3} ms");
        let protected = worst(profile, &["hz=10000", "protection=deadline"], &players);
        late += usize::from(protected > quantum);
    }
    assert!(late > 5, "with protection=deadline {late} of 40 are later");
}

/// D1.
#[test]
fn shares_are_those_of_the_weights() {
    for (seed, profile) in PROFILES.into_iter().enumerate() {
        let mut dice = Dice::new(100 + seed as u64);
        let players = hogs(&mut dice, profile != "6.6");
        let length = Nanos::from_secs(20);
        let course = play(1, profile, &["hz=1000"], &players, length);
        for (at, ideal) in ideal(&players, length).into_iter().enumerate() {
            assert!((course.ran(at) / ideal - 1.0).abs() <= 0.01, "{profile}: {} of {ideal}", course.ran(at));
        }
    }
}

/// 6.2: a shorter slice of a periodic task never raises its mean delay; it needs PREEMPT_SHORT.
#[test]
fn a_shorter_slice_never_means_a_longer_delay() {
    let delays = |settings: &[&str]| -> Vec<f64> {
        let of = |slice: f64| {
            let us = Nanos::from_micros;
            let habit = Habit::Sleeper { run: us(407), sleep: us(5_003), phase: us(311) };
            let players =
                [Player::hog(0).slice(6.0), Player::hog(0).slice(6.0), Player::new(habit).slice(slice)];
            let course: Course = play(1, "6.18.y", settings, &players, Nanos::from_secs(4));
            course.mean_delay()
        };
        [8.0, 4.0, 1.0, 0.5].map(of).into()
    };
    let with = delays(&["hz=1000"]);
    assert!(with.windows(2).all(|pair| pair[1] <= pair[0] + 0.01) && with[3] < 0.5 * with[0], "{with:?}");
    let without = delays(&["hz=1000", "NO_PREEMPT_SHORT"]);
    assert!(with[2] < 0.85 * without[2], "{with:?}, {without:?} without the feature");
}
