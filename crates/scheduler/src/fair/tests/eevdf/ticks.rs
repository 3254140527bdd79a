//! The tick-driven tables of 7.3.

use super::model::{Course, Habit, Player, play};
use crate::{Nanos, Policy};
use alloc::format;
use alloc::vec::Vec;

const PROFILES: [&str; 7] = ["6.6", "6.12", "6.12.y", "6.18", "6.18.y", "7.0", "7.1"];

fn secs(n: u64) -> Nanos {
    Nanos::from_secs(n)
}

fn run(machine: usize, profile: &str, hz: u64, players: &[Player], length: Nanos) -> Course {
    play(machine, profile, &[format!("hz={hz}").as_str(), "NO_HRTICK"], players, length)
}

fn ran(course: &Course, players: usize) -> Vec<f64> {
    (0..players).map(|p| course.ran(p).round()).collect()
}

#[test]
fn equal_hogs_alternate_at_ticks() {
    for profile in PROFILES {
        let hogs = [Player::hog(0); 3];
        for (hz, ms) in [(1000, 1), (250, 4)] {
            let told = run(1, profile, hz, &hogs, secs(1)).told(6);
            assert_eq!(told, format!("a{ms} b{ms} c{ms} a{ms} b{ms} c{ms}"), "{profile} {hz}");
        }
    }
}

/// nice 0, 0 and 5, slice of two CPUs.
#[test]
fn weights_divide_the_cpu() {
    let hogs = [Player::hog(0), Player::hog(0), Player::hog(5)];
    for profile in PROFILES {
        let fast = run(2, profile, 1000, &hogs, secs(4));
        assert_eq!(fast.told(14), "a1 b1 c1 a2 b2 a2 b2 c2 a2 b2 a2 b2 a2 b2", "{profile}");
        let slow = run(2, profile, 250, &hogs, secs(4));
        assert_eq!(slow.told(10), "a4 b4 c4 a4 b4 a4 b4 a4 b4 c4", "{profile}");
        // CPU time within a stint, times put out within one of the table.
        for (course, stint, expected, put_out) in [
            (fast, 2.0, [1719.0, 1718.0, 563.0], [860, 859, 282]),
            (slow, 4.0, [1720.0, 1716.0, 564.0], [429, 429, 141]),
        ] {
            for player in 0..3 {
                assert!(
                    (course.ran(player) - expected[player]).abs() <= stint,
                    "{profile} {:?}",
                    ran(&course, 3)
                );
                assert!(course.put_out(player).abs_diff(put_out[player]) <= 1, "{profile}");
            }
        }
    }
}

/// nice -5, 0 and 19, and SCHED_IDLE beside nice 0: light ones run rarely.
#[test]
fn light_tasks_run_rarely() {
    let hogs = [Player::hog(-5), Player::hog(0), Player::hog(19)];
    let idle = Player { policy: Policy::Idle, ..Player::hog(0) };
    for profile in PROFILES {
        for (hz, told) in [(1000, "a1 b1 a3 b1 a3 b1"), (250, "a4 b4 a12 b4 a12 b4")] {
            let course = run(1, profile, hz, &hogs, secs(10));
            assert_eq!(course.told(6), told, "{profile}");
            for (player, expected) in [7502.0, 2462.0, 36.0].into_iter().enumerate() {
                assert!((course.ran(player) - expected).abs() <= 4.0, "{profile} {:?}", ran(&course, 3));
            }
        }
        let course = run(1, profile, 1000, &[Player::hog(0), idle], secs(10));
        assert!((course.ran(1) - 30.0).abs() <= 1.0, "{profile}: {}", course.ran(1));
        assert!(course.switches().abs_diff(62) <= 2, "{profile}: {}", course.switches());
    }
}

/// Slices of 3 and 0.3 ms: with `protection=shortest` the long one gives way at the short one's pace.
#[test]
fn slices_of_different_lengths_alternate() {
    let hogs = [Player::hog(0).slice(3.0), Player::hog(0).slice(0.3)];
    for (profile, stint, switches) in
        [("6.12", 3.0, 204), ("6.18", 0.3, 602), ("6.18.y", 0.3, 602), ("7.0", 0.3, 602)]
    {
        let course = run(1, profile, 10_000, &hogs, secs(1));
        let typical = course.stints[10..30].iter().filter(|s| (s.ms() - stint).abs() < 1e-6).count();
        assert!(typical >= 18, "{profile}: {}", course.told(30));
        assert!((course.ran(0) - course.ran(1)).abs() <= 3.0, "{profile}: a slice changes no share");
        let slow = run(1, profile, 1000, &hogs, Nanos::from_millis(600)).switches();
        assert!(slow.abs_diff(switches) <= 5, "{profile}: {slow}");
    }
}

fn sleeper(run_us: u64, sleep_us: u64, phase_us: u64) -> Player {
    let us = Nanos::from_micros;
    Player::new(Habit::Sleeper { run: us(run_us), sleep: us(sleep_us), phase: us(phase_us) })
}

/// Two hogs and a sleeper, slice of two CPUs, HZ 250. The phase decides on which of several courses the load
/// settles; sums and means are the same on all of them.
#[test]
fn two_hogs_and_a_sleeper() {
    for profile in PROFILES {
        for phase in [37, 1037, 2037, 3037, 5037] {
            let players = [Player::hog(0), Player::hog(0), sleeper(1003, 9063, phase)];
            let course = run(2, profile, 250, &players, secs(4));
            let times = [0, 1, 2].map(|p| course.ran(p));
            for (found, expected) in times.into_iter().zip([1833.0, 1833.0, 333.0]) {
                assert!((found - expected).abs() <= 4.5, "{profile} {phase}: {times:?}");
            }
            let mean = if profile == "6.6" { 2.02 } else { 1.93 };
            assert!((course.mean_delay() - mean).abs() <= 0.03, "{profile} {phase}: {}", course.mean_delay());
            assert!(course.delay_at(1.0) < 8.0, "two ticks at most");
        }
    }
}

/// 8.3: the pattern of 24 ms that the recording of 6.18 shows, event by event.
#[test]
fn the_pattern_of_24_ms() {
    for profile in ["6.12.y", "6.18", "6.18.y", "7.0"] {
        let players = [Player::hog(0), Player::hog(0), sleeper(1003, 9063, 1037)];
        let course = run(2, profile, 250, &players, secs(4));
        // hog2 runs from 0 to 2.07, is preempted by the sleeper, and so on; the sleeper's late start begins
        // at a tick.
        let begins = course.stints.iter().position(|s| {
            s.from > secs(2) && s.player == 0 && s.from.0 % 4_000_000 == 0 && (s.ms() - 2.066).abs() < 1e-3
        });
        let from = begins.expect("the pattern occurs");
        for round in 0..20 {
            let pattern: [(usize, f64); 7] =
                [(0, 2.066), (2, 1.003), (0, 4.931), (1, 4.0), (0, 4.0), (2, 1.003), (1, 6.997)];
            for (stint, (player, ms)) in course.stints[from + 7 * round..].iter().zip(pattern) {
                assert_eq!(stint.player, player, "{profile}, round {round}");
                assert!((stint.ms() - ms).abs() < 1e-3, "{profile}, round {round}: {}", stint.ms());
            }
        }
        let near =
            |ms: f64| course.stints.iter().filter(|s| s.player < 2 && (s.ms() - ms).abs() < 0.5).count();
        for (ms, expected) in [(2.0, 168), (4.0, 333), (5.0, 166), (7.0, 165)] {
            assert!(near(ms).abs_diff(expected) <= 2, "{profile}: {} of {ms} ms", near(ms));
        }
    }
}

/// 8.2, mix-nice: nice 0, 0 and 5 on one of two CPUs for 4 s, as a 6.18.44 kernel with 250 ticks a second ran
/// them.
#[test]
fn the_recorded_weights() {
    let course = run(2, "6.18.y", 250, &[Player::hog(0), Player::hog(0), Player::hog(5)], secs(4));
    for (player, recorded, put_out) in [(0, 1716.6, 431), (1, 1719.0, 431), (2, 562.7, 142)] {
        let found = course.ran(player);
        assert!((found / recorded - 1.0).abs() <= 0.005, "{player}: {found} ms, recorded {recorded}");
        assert!(course.put_out(player).abs_diff(put_out) <= 7, "{player}: {}", course.put_out(player));
    }
    let hogs = || course.stints.iter().filter(|stint| stint.player < 2);
    let one_tick = hogs().filter(|stint| (stint.ms() - 4.0).abs() < 0.02).count();
    assert!(one_tick * 100 > 95 * hogs().count() && hogs().all(|stint| stint.ms() < 7.9));
}

/// 8.2, mix-sleeper: two hogs and a task that runs for 1 ms and sleeps for 9, on one of two CPUs for 4 s.
#[test]
fn the_recorded_sleeper() {
    let players = [Player::hog(0), Player::hog(0), sleeper(1003, 9063, 1037)];
    let course = run(2, "6.18.y", 250, &players, secs(4));
    for (player, recorded) in [(0, 1833.5), (1, 1831.0), (2, 335.3)] {
        let found = course.ran(player);
        assert!((found / recorded - 1.0).abs() <= 0.005, "{player}: {found} ms, recorded {recorded}");
    }
    let put_out = course.put_out(0) + course.put_out(1);
    assert!(put_out.abs_diff(859) <= 43 && course.put_out(2) <= 3, "{put_out}");
    assert!((1.8..2.2).contains(&course.mean_delay()) && course.delay_at(1.0) <= 7.98);
    let share = |late: fn(f64) -> bool| {
        course.delays.iter().filter(|delay| late(**delay)).count() as f64 / course.delays.len() as f64
    };
    assert!((0.45..0.55).contains(&share(|ms| ms < 0.05)), "at once");
    assert!((0.45..0.55).contains(&share(|ms| (3.8..4.0).contains(&ms))), "at the next tick");
}

/// A hog that asks for long slices beside a periodic task that does not: its own latency is its own (T3).
#[test]
fn a_long_slice_does_not_delay_a_short_one() {
    for phase in [310, 1037, 2310] {
        let periodic = sleeper(500, 4500, phase);
        let delay = |profile, hog| run(1, profile, 1000, &[hog, periodic], secs(4));
        let old = delay("6.6", Player::hog(0));
        assert!((old.mean_delay() - 0.5).abs() <= 0.02 && old.delay_at(1.0) <= 1.0, "{}", old.mean_delay());
        for profile in ["6.12", "6.12.y", "6.18", "6.18.y", "7.0"] {
            let new = delay(profile, Player::hog(0).slice(10.0));
            assert!(new.mean_delay() <= 0.08 && new.delay_at(1.0) < 1.0, "{profile}: {}", new.mean_delay());
        }
    }
}

/// One hog and eight sleepers: parity saves switches, and from 6.17 on costs latency.
#[test]
fn run_to_parity_saves_switches() {
    const ROWS: [(&str, [usize; 2], [f64; 2]); 3] = [
        ("6.6", [24_217, 28_948], [3.1, 3.2]),
        ("6.12", [24_121, 28_805], [3.1, 3.2]),
        ("6.18", [24_144, 25_194], [2.8, 1.3]),
    ];
    for (profile, switches, delays) in ROWS {
        for ((set, switches), delay) in
            ["RUN_TO_PARITY", "NO_RUN_TO_PARITY"].into_iter().zip(switches).zip(delays)
        {
            let sleepers = (0..8).map(|n| sleeper(100, 1300, 100 * n));
            let players: Vec<Player> = core::iter::once(Player::hog(0)).chain(sleepers).collect();
            let course = play(8, profile, &["hz=1000", set], &players, secs(4));
            let found = course.switches() as f64 / switches as f64;
            assert!((0.98..1.02).contains(&found), "{profile} {set}: {}", course.switches());
            let p99 = course.delay_at(0.99);
            assert!((p99 - delay).abs() <= 0.25, "{profile} {set}: {p99}");
        }
    }
}

/// Four hogs and a sleeper that asks for a third of the CPU: with delayed dequeue it comes nearer to its fair
/// share, which is a fifth, because it pays while it sleeps.
#[test]
fn delayed_dequeue_brings_a_sleeper_nearer_to_its_share() {
    for (set, expected, delay) in [("DELAY_DEQUEUE", 1_000.0, 2.0), ("NO_DELAY_DEQUEUE", 857.0, 4.0)] {
        let players: Vec<Player> =
            core::iter::repeat_n(Player::hog(0), 4).chain([sleeper(1_997, 4_011, 37)]).collect();
        let course = play(1, "7.0", &["hz=1000", set], &players, secs(6));
        let (ran, mean) = (course.ran(4), course.mean_delay());
        assert!((ran / expected - 1.0).abs() <= 0.03, "{set}: {ran} ms");
        assert!((mean / delay - 1.0).abs() <= 0.1, "{set}: {mean} ms");
    }
}

/// First run of a new task among n hogs, over 200 forks at scattered phases. The table's own means are of 60
/// and carry about 10 %.
#[test]
fn new_tasks_among_hogs() {
    type Row = (&'static str, u64, [f64; 4]);
    const ROWS: [Row; 6] = [
        ("6.6", 250, [0.53, 2.02, 4.39, 9.28]),
        ("6.18.y", 250, [0.46, 2.16, 4.61, 10.20]),
        ("7.0", 250, [1.76, 2.28, 4.64, 10.20]),
        ("6.6", 1000, [0.36, 0.72, 1.07, 2.53]),
        ("6.18.y", 1000, [0.17, 0.72, 1.58, 2.20]),
        ("7.0", 1000, [0.53, 0.95, 1.56, 2.20]),
    ];
    let mut off = Vec::new();
    for (profile, hz, means) in ROWS {
        for (n, mean) in [1, 2, 4, 8].into_iter().zip(means) {
            let mut dice = crate::testing::Dice::new(7);
            let forks = (0..200u64).map(|fork| {
                let at = Nanos(60_000_000 * (fork + 1) + dice.below(24_000_000) as u64);
                Player::new(Habit::Once { at, run: Nanos::from_micros(100) })
            });
            let players: Vec<Player> = core::iter::repeat_n(Player::hog(0), n).chain(forks).collect();
            let found = run(2, profile, hz, &players, Nanos::from_millis(12_200)).mean_delay();
            if (found / mean - 1.0).abs() > 0.25 {
                off.push(format!("{profile} {hz} n={n}: {found:.2}, not {mean}"));
            }
        }
    }
    assert!(off.is_empty(), "{off:#?}");
}
