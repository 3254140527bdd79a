//! find_lowest_rq: rt-class 4 and 10.3.

use super::super::search::{For, find_lowest_rq};
use super::sleeper;
use crate::domains::{LevelKind, Topology, TopologyLevel};
use crate::platform::Line;
use crate::platform::RootLine;
use crate::testing::{Lab, cpus, fifo};
use crate::{CpuId, CpuMask, Nanos, TaskId};

const ALL: [&str; 5] = ["cpupri", "cpupri_locked", "cpupri_gap", "linear_mask", "linear"];

/// Two packages of two pairs that share a cache.
fn two_packages() -> Topology {
    let level =
        |kind, spans: &[&[u16]]| TopologyLevel { kind, spans: spans.iter().map(|s| cpus(s)).collect() };
    Topology::of(
        8,
        [
            level(LevelKind::Mc, &[&[0, 1], &[2, 3], &[4, 5], &[6, 7]]),
            level(LevelKind::Package, &[&[0, 1, 2, 3], &[4, 5, 6, 7]]),
            level(LevelKind::Numa { distance: 20 }, &[&[0, 1, 2, 3, 4, 5, 6, 7]]),
        ]
        .into(),
    )
}

/// A machine of those packages whose CPU n runs a task of priority `busy[n]`, or none (0); and a task of
/// priority 50 that last ran on `last`.
struct Machine {
    lab: Lab,
    p: TaskId,
}

impl Machine {
    fn new(busy: [u8; 8], last: u16, allowed: CpuMask, settings: &[&str]) -> Machine {
        let lab = Lab::on(&two_packages(), "6.1.y", settings);
        let p = sleeper(&lab, fifo(50), last, allowed);
        for (cpu, priority) in busy.into_iter().enumerate().filter(|(_, priority)| *priority > 0) {
            lab.spawn_allowed(fifo(priority), cpu as u16, CpuMask::single(CpuId(cpu as u16)));
        }
        lab.forget();
        Machine { lab, p }
    }

    /// The answer on CPU `me`.
    fn find(&self, me: u16) -> Option<u16> {
        find_lowest_rq(self.lab.cpu(me), self.p, For::Wakeup).map(|cpu| cpu.0)
    }
}

/// 3.3 takes the two highest priorities for above all; others it serves, and a kernel with locked levels
/// serves all.
#[test]
fn some_kernels_find_nothing_for_the_two_highest_priorities() {
    let find = |priority, settings: &[&str]| {
        let lab = Lab::on(&two_packages(), "6.1.y", settings);
        let p = sleeper(&lab, fifo(priority), 0, CpuMask::ALL);
        lab.spawn_allowed(fifo(99), 0, CpuMask::single(CpuId(0)));
        lab.forget();
        find_lowest_rq(lab.cpu(7), p, For::Wakeup).is_some()
    };
    let missed = &["cpupri_top=missed"][..];
    assert_eq!([97, 98, 99].map(|priority| find(priority, missed)), [true, false, false]);
    assert_eq!([97, 98, 99].map(|priority| find(priority, &[])), [true; 3]);
    assert!(find(98, &["cpupri_top=missed", "search=cpupri_locked"]));
}

/// The contract of all of them: strictly lower, the lowest level first, allowed CPUs only, none for a pinned
/// task.
#[test]
fn contract() {
    let find = |search: &str, busy, last, allowed: CpuMask| {
        Machine::new(busy, last, allowed, &[&alloc::format!("search={search}")]).find(7)
    };
    for search in ALL {
        let all = CpuMask::ALL;
        assert_eq!(
            find(search, [50, 60, 70, 50, 60, 70, 50, 60], 0, all),
            None,
            "{search}: equals do not count"
        );
        assert_eq!(find(search, [60, 40, 30, 60, 40, 60, 60, 60], 0, all), Some(2), "{search}");
        assert_eq!(
            find(search, [60, 40, 30, 60, 0, 60, 60, 60], 0, all),
            Some(4),
            "{search}: no RT before any RT"
        );
        let some = cpus(&[0, 1, 3]);
        assert_eq!(find(search, [60, 40, 30, 60, 0, 60, 60, 60], 0, some), Some(1), "{search}");
        assert_eq!(find(search, [60, 40, 30, 60, 0, 60, 60, 60], 0, cpus(&[0])), None, "{search}: pinned");
    }
}

/// 4.5: the last CPU; then domain by domain, the executing CPU first; then any.
#[test]
fn topology_on() {
    let find = |idle: &[u16], last, me| {
        let busy = core::array::from_fn(|cpu| if idle.contains(&(cpu as u16)) { 0 } else { 60 });
        Machine::new(busy, last, CpuMask::ALL, &["pick_any=first"]).find(me)
    };
    assert_eq!(find(&[0, 1, 3, 5], 3, 0), Some(3), "the last CPU");
    assert_eq!(find(&[2, 3], 3, 2), Some(3), "even before the executing one beside it");
    assert_eq!(find(&[0, 2, 5], 3, 0), Some(2), "a CPU nearer than the executing one");
    assert_eq!(find(&[0, 1, 5], 3, 1), Some(1), "the executing CPU, where it is as near");
    assert_eq!(find(&[0, 1, 5], 3, 5), Some(0), "the executing CPU is in a larger domain");
    assert_eq!(find(&[4, 6], 3, 6), Some(6));
    assert_eq!(find(&[4, 6], 3, 0), Some(4), "the executing CPU is no candidate");
}

#[test]
fn topology_off_takes_the_lowest_number() {
    let busy = [60, 0, 60, 0, 0, 60, 60, 60];
    for search in ["cpupri", "cpupri_locked", "cpupri_gap", "linear_mask", "linear"] {
        let settings = ["topology=off", &alloc::format!("search={search}")];
        assert_eq!(Machine::new(busy, 3, CpuMask::ALL, &settings).find(4), Some(1), "{search}");
    }
}

/// A level too far for affine wakeups is not walked, so that nearness does not count there.
#[test]
fn far_nodes_are_not_walked() {
    for (distance, on) in [(20, 2), (40, 7)] {
        let mut topology = two_packages();
        topology.levels[1].kind = LevelKind::Numa { distance };
        topology.levels[2].kind = LevelKind::Numa { distance: 60 };
        let lab = Lab::on(&topology, "6.1.y", &[]);
        let p = sleeper(&lab, fifo(50), 0, CpuMask::ALL);
        for cpu in [0, 1, 3, 4, 5, 6] {
            lab.spawn_allowed(fifo(60), cpu, CpuMask::single(CpuId(cpu)));
        }
        let found = find_lowest_rq(lab.cpu(7), p, For::Wakeup);
        assert_eq!(found, Some(CpuId(on)), "distance {distance}");
    }
}

/// 4.5: `first`, or the next after the previous answer.
#[test]
fn pick_any() {
    let busy = [60, 60, 60, 60, 0, 0, 0, 60];
    let answers = |rule: &str| {
        let machine = Machine::new(busy, 0, CpuMask::ALL, &[&alloc::format!("pick_any={rule}")]);
        [0, 0, 0, 0].map(|me| machine.find(me).expect("three CPUs are idle"))
    };
    assert_eq!(answers("first"), [4, 4, 4, 4]);
    assert_eq!(answers("distribute"), [4, 5, 6, 4]);
}

/// 4.2: with every CPU RT-busy `linear_mask` lets topology choose; a CPU without RT tasks ends the scan,
/// alone.
#[test]
fn linear_mask_returns_a_free_cpu_alone() {
    let find = |search: &str, busy| {
        Machine::new(busy, 5, CpuMask::ALL, &[&alloc::format!("search={search}"), "pick_any=first"]).find(7)
    };
    let all_busy = [40, 60, 60, 60, 40, 60, 60, 60];
    assert_eq!([find("linear_mask", all_busy), find("linear", all_busy)], [Some(4), Some(0)]);
    let two_free = [0, 60, 60, 60, 0, 60, 60, 60];
    assert_eq!([find("linear_mask", two_free), find("cpupri", two_free)], [Some(0), Some(4)]);
}

/// 4.1: the linear scan leaves the pushing CPU out; 10.3: one line for each visited CPU.
#[test]
fn lines_read_by_linear_scans() {
    let busy = [60; 8];
    for (search, purpose, lines) in [
        ("linear", For::Push(CpuId(2)), 7),
        ("linear", For::Wakeup, 8),
        ("linear_mask", For::Push(CpuId(2)), 8),
        ("cpupri", For::Push(CpuId(2)), 0),
    ] {
        let machine = Machine::new(busy, 2, CpuMask::ALL, &[&alloc::format!("search={search}")]);
        assert_eq!(find_lowest_rq(machine.lab.cpu(2), machine.p, purpose), None);
        assert_eq!(machine.lab.lines_touched(|line| matches!(line, Line::Rq(_))), lines, "{search}");
    }
    let machine = Machine::new([60, 60, 0, 60, 60, 60, 60, 60], 5, CpuMask::ALL, &["search=linear"]);
    assert_eq!(machine.find(5), Some(2));
    assert_eq!(
        machine.lab.lines_touched(|line| matches!(line, Line::Rq(_))),
        3,
        "the first free CPU ends it"
    );
}

/// 10.3: 6.1 reads counts, four to a line, and one mask for each level that holds a CPU; before, an active
/// bitmap.
#[test]
fn lines_read_by_cpupri() {
    let lines = |search: &str, busy| {
        let machine = Machine::new(busy, 5, cpus(&[0, 5]), &[&alloc::format!("search={search}")]);
        machine.find(5);
        let count = |kind: fn(&Line) -> bool| machine.lab.lines_touched(|line| kind(&line));
        [
            count(|line| matches!(line, Line::Root(_, RootLine::CpupriCounts(_)))),
            count(|line| matches!(line, Line::Root(_, RootLine::CpupriActive))),
            count(|line| matches!(line, Line::Root(_, RootLine::CpupriLevel(_)))),
        ]
    };
    // Level 0 holds a CPU that p may use.
    assert_eq!(lines("cpupri", [0, 60, 60, 60, 60, 60, 60, 60]), [1, 0, 1]);
    assert_eq!(lines("cpupri_locked", [0, 60, 60, 60, 60, 60, 60, 60]), [0, 1, 1]);
    // Levels 0 and 20 hold CPUs that it may not use, level 41 one that it may.
    assert_eq!(lines("cpupri", [41, 0, 20, 60, 60, 60, 60, 60]), [11, 0, 3]);
    assert_eq!(lines("cpupri_gap", [41, 0, 20, 60, 60, 60, 60, 60]), [0, 1, 3]);
    // None: every count below p's own level was read.
    assert_eq!(lines("cpupri", [60; 8]), [13, 0, 0]);
    assert_eq!(lines("cpupri_locked", [60; 8]), [0, 1, 0], "there are no counts to read");
}

/// 10.2: what a change of level writes.
#[test]
fn lines_written_by_cpupri() {
    let lines = |search: &str| {
        let lab = Lab::new(1, "6.1.y", &[&alloc::format!("search={search}")]);
        lab.spawn_unsettled(fifo(50), 0, 0, cpus(&[0]));
        let count = |kind: fn(&Line) -> bool| lab.lines_touched(|line| kind(&line));
        [
            count(|line| matches!(line, Line::Root(_, RootLine::CpupriCounts(_)))),
            count(|line| matches!(line, Line::Root(_, RootLine::CpupriActive))),
            count(|line| matches!(line, Line::Root(_, RootLine::CpupriLevel(_)))),
        ]
    };
    assert_eq!(lines("cpupri"), [2, 0, 2]);
    assert_eq!(lines("cpupri_locked"), [0, 2, 2], "the new level becomes active, the old one empty");
    assert_eq!(lines("linear"), [0, 0, 0], "no cpupri then");
}

/// 4.3: the 2007 order removes a CPU from its old level first: from then on, until the two lines of the new
/// one are written, it is in none.
#[test]
fn cpupri_gap_hides_a_cpu_while_it_changes_level() {
    for (search, missed) in [("cpupri_gap", 20), ("cpupri_locked", 0), ("cpupri", 0)] {
        let lab = Lab::new(3, "6.1.y", &[&alloc::format!("search={search}"), "NO_TTWU_QUEUE"]);
        lab.spawn_allowed(fifo(60), 0, cpus(&[0]));
        let p = sleeper(&lab, fifo(50), 0, cpus(&[0, 1]));
        lab.k.platform.touch_takes.set(Nanos(10));
        let start = lab.k.platform.now.get();
        lab.spawn_unsettled(fifo(20), 0, 1, cpus(&[1]));
        // One that p may not use changes its level later.
        lab.spawn_unsettled(fifo(30), 0, 2, cpus(&[2]));
        let end = lab.k.platform.now.get();
        lab.k.platform.touch_takes.set(Nanos::ZERO);
        // Another CPU searches while CPU 1 goes from level 0 to level 20.
        let at = |now| {
            lab.k.platform.now.set(now);
            find_lowest_rq(lab.cpu(0), p, For::Wakeup)
        };
        let hidden = (start.0..end.0).filter(|now| at(Nanos(*now)).is_none()).count();
        assert_eq!(hidden, missed, "{search}");
        assert_eq!([start, end].map(at), [Some(CpuId(1)); 2], "{search}");
    }
}
