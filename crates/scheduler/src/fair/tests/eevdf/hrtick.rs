//! HRTICK (5.4): the tables of 7.3 become those of an endless HZ.

use super::model::{Course, Habit, Player, play};
use crate::rq::Resched;
use crate::testing::Lab;
use crate::{CpuId, Nanos, Policy};
use alloc::format;

/// Requests to their ends, in both forms.
const FORMS: [&str; 2] = ["hrtick_for=slice", "hrtick_for=request"];

fn run(form: &str, hz: u64, players: &[Player], length: Nanos) -> Course {
    play(2, "7.1", &[&format!("hz={hz}"), "HRTICK", form], players, length)
}

/// Three equal hogs, slice of two CPUs: whole requests by turns, whatever HZ is; the first are half ones.
#[test]
fn equal_hogs_alternate_at_the_ends_of_their_requests() {
    for hz in [100, 250, 1000] {
        let course = run("hrtick_for=request", hz, &[Player::hog(0); 3], Nanos::from_secs(1));
        assert_eq!(course.told(8), "a0.7 b0.7 c0.7 a1.4 b1.4 c1.4 a1.4 b1.4", "{hz}");
        assert!((course.switches() as f64 - 1000.0 / 1.4).abs() < 8.0, "{hz}: {}", course.switches());
    }
    let ticks = play(2, "7.1", &["hz=250", "NO_HRTICK"], &[Player::hog(0); 3], Nanos::from_secs(1));
    assert_eq!(ticks.told(3), "a4 b4 c4", "off, they end at ticks");
}

/// The same tasks with 10 000 ticks a second, the nearest to an endless HZ that there is: the same shares and
/// times put out.
#[test]
fn tables_are_those_of_an_endless_hz() {
    let us = Nanos::from_micros;
    let sleeper = Habit::Sleeper { run: us(1_003), sleep: us(9_063), phase: us(5_037) };
    let loads = [
        [Player::hog(0), Player::hog(0), Player::hog(5)],
        [Player::hog(-5), Player::hog(0), Player::hog(19)],
        [Player::hog(0), Player::hog(0), Player::new(sleeper)],
    ];
    for (load, players) in loads.iter().enumerate() {
        let settings = ["hz=10000", "NO_HRTICK", "base_slice_ns=1400000"];
        let endless = play(2, "7.1", &settings, players, Nanos::from_secs(4));
        for (form, within) in FORMS.into_iter().zip([0.12, 0.08]) {
            let found = run(form, 250, players, Nanos::from_secs(4));
            for player in 0..3 {
                let (ours, theirs) = (found.ran(player), endless.ran(player));
                assert!((ours - theirs).abs() < 10.0, "{form}, load {load}: {ours} ms, {theirs}");
            }
            let off = found.switches() as f64 / endless.switches() as f64 - 1.0;
            assert!(off.abs() < within, "{form}, load {load}: {}, {}", found.switches(), endless.switches());
        }
    }
}

/// The timer is set for who is picked and has company, and when the second task comes; a task alone, and one
/// of another class, has none.
#[test]
fn the_timer_is_set_for_who_competes() {
    let lab = Lab::new(1, "7.1", &["HRTICK"]);
    let first = lab.spawn(Policy::Normal, 0);
    assert_eq!(lab.hrtick_at(0), None, "alone");
    let deadline = lab.deadline(first) - lab.vr(first);
    lab.spawn_unsettled(Policy::Normal, 0, 0, crate::CpuMask::ALL);
    assert_eq!(lab.hrtick_at(0), Some(Nanos(deadline)), "the rest of its request, at nice 0");
    lab.take_cpu();
    assert_eq!(lab.hrtick_at(0), None, "a real-time task runs");
    lab.block(0);
    assert!(lab.hrtick_at(0).is_some());
    lab.block(0);
    assert_eq!(lab.hrtick_at(0), None, "alone again");
}

/// The second task sets it, if a fair one runs: not the third, nor where a real-time task runs. Whose turn is
/// over has none, and makes room.
#[test]
fn only_the_second_task_sets_the_timer() {
    let lab = Lab::new(1, "7.1", &["HRTICK"]);
    let first = lab.spawn(Policy::Normal, 0);
    let comes = |at_us| {
        lab.k.platform.now.set(Nanos::from_micros(at_us));
        lab.spawn_unsettled(Policy::Normal, 0, 0, crate::CpuMask::ALL);
        lab.hrtick_at(0)
    };
    let set = comes(100);
    assert!(set.is_some());
    lab.k.task(first).se.eevdf.deadline.set(lab.deadline(first).wrapping_add(1_000_000));
    assert_eq!(comes(200), set);

    let lab = Lab::new(1, "7.1", &["HRTICK"]);
    lab.spawn(crate::testing::fifo(1), 0);
    for _ in 0..2 {
        lab.spawn_unsettled(Policy::Normal, 0, 0, crate::CpuMask::ALL);
        assert_eq!(lab.hrtick_at(0), None, "a real-time task runs");
        assert!(!lab.k.rq(CpuId(0)).published.is_asked());
    }

    let over = |ran_us| {
        let lab = Lab::new(1, "7.1", &["HRTICK", "hrtick_for=slice", "base_slice_ns=700000"]);
        lab.spawn(Policy::Normal, 0);
        lab.advance(Nanos::from_micros(ran_us));
        lab.spawn_unsettled(Policy::Normal, 0, 0, crate::CpuMask::ALL);
        (lab.hrtick_at(0), lab.k.rq(CpuId(0)).published.is_asked())
    };
    assert_eq!(over(690).0, Some(Nanos::from_micros(700)));
    assert_eq!(over(700), (None, true));
}

/// A timer that fires for a task that is alone by then asks nobody.
#[test]
fn who_is_alone_is_not_asked_to_make_room() {
    let asks = |leaves: bool| {
        let lab = Lab::new(2, "7.1", &["HRTICK"]);
        let spawn = |cpu| lab.spawn_allowed(Policy::Normal, cpu, crate::testing::cpus(&[cpu]));
        let second = [spawn(0), spawn(0)][1];
        spawn(1);
        let at = lab.hrtick_at(0).expect("there are two");
        if leaves {
            lab.run(crate::affinity::set_cpus_allowed(lab.cpu(0), second, crate::testing::cpus(&[1])));
        }
        lab.k.platform.now.set(at);
        lab.fire_hrtick(0);
        lab.k.rq(CpuId(0)).published.is_asked()
    };
    assert_eq!([false, true].map(asks), [true, false]);
}

/// X14: what is left of a request in virtual time, in real time by the weight.
#[test]
fn x14_the_timer_is_set_for_the_end_of_the_request() {
    for (cpus, nice, left, after) in
        [(1, 0, 700_000, 700_000), (2, 5, 4_279_402, 1_400_000), (2, 5, 4_279_403, 1_400_001)]
    {
        let lab = Lab::new(cpus, "7.1", &["HRTICK", "hrtick_for=request"]);
        let own = crate::CpuMask::single(CpuId(0));
        let p = lab.spawn_unsettled(Policy::Normal, nice, 0, own);
        lab.settle();
        let se = &lab.k.task(p).se;
        se.eevdf.deadline.set(se.vruntime.get().wrapping_add(left));
        lab.spawn_unsettled(Policy::Normal, 0, 0, own);
        assert_eq!(lab.running(0), p);
        let at = lab.hrtick_at(0).expect("it has company now") - lab.k.platform.now.get();
        assert_eq!(at, Nanos(after), "nice {nice}");
    }
}

/// 7.1 asks in full when it fires, older kernels as the class asks; a stale expiry does nothing.
#[test]
fn it_asks_when_the_turn_is_over() {
    for (form, flag) in FORMS.into_iter().zip([Resched::Lazy, Resched::Full]) {
        let lab = Lab::new(1, "7.1", &["HRTICK", form, "base_slice_ns=3000000"]);
        lab.spawn(Policy::Normal, 0);
        lab.spawn(Policy::Normal, 0);
        let asked = || lab.k.rq(CpuId(0)).published.resched.get();
        let at = lab.hrtick_at(0).expect("it is set");
        lab.run(crate::tick::hrtick(lab.cpu(0)));
        assert_eq!(asked(), Resched::No, "{form}: before its time");
        lab.advance(at - lab.k.platform.now.get());
        lab.fire_hrtick(0);
        assert_eq!(asked(), flag, "{form}");
    }
}

/// fair-class 4.1: under CFS, which has had the feature since 2.6.25, a stint is a slice long.
#[test]
fn under_cfs_a_turn_is_a_slice() {
    let hogs = [Player::hog(0); 3];
    let run = |hrtick| play(1, "6.1", &["hz=100", hrtick], &hogs, Nanos::from_secs(1));
    let with = run("HRTICK");
    assert_eq!(with.told(4), "a2 b2 c2 a2", "a third of 6 ms");
    assert!(run("NO_HRTICK").told(3).starts_with("a10 "), "a tick");
}
