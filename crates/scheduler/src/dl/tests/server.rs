//! The fair server (deadline-groups A11), and real-time throttling, which it replaces (deadline-groups A12).

use super::ms;
use crate::testing::{Lab, cpus, fifo, sched_setscheduler};
use crate::{CpuId, Nanos, Policy, TaskId};
use alloc::vec::Vec;

/// A kernel with a deferred server.
const KERNEL: &str = "6.18";

/// A FIFO hog and a fair one on a CPU, from time 0 on.
struct Starving {
    lab: Lab,
    rt: TaskId,
    fair: TaskId,
}

impl Starving {
    fn new(settings: &[&str]) -> Starving {
        let lab = Lab::new(1, KERNEL, settings);
        let rt = lab.spawn(fifo(10), 0);
        let fair = lab.spawn(Policy::Normal, 0);
        Starving { lab, rt, fair }
    }

    fn runs(&self) -> &'static str {
        match self.lab.running(0) {
            p if p == self.rt => "rt",
            p if p == self.fair => "fair",
            _ => "idle",
        }
    }

    /// Time passes to `until`, with a tick there.
    fn to(&self, until: Nanos) -> &'static str {
        self.lab.pass_until(until);
        self.lab.tick(0);
        self.runs()
    }

    fn timer(&self) -> Option<Nanos> {
        self.lab.dl_timer_at(0)
    }

    fn left(&self) -> (i64, u64) {
        let e = self.lab.k.dl_cpus.fair_server(CpuId(0)).entity();
        (e.runtime_ns() / 1_000_000, e.deadline().0 / 1_000_000)
    }
}

/// deadline-groups A14 example 8: 950 ms FIFO, 50 ms fair, and again.
#[test]
fn a14_8_the_fair_class_gets_50_ms_after_950() {
    let s = Starving::new(&[]);
    assert_eq!((s.runs(), s.timer(), s.left()), ("rt", Some(ms(950)), (50, 1_000)));
    assert_eq!(s.to(ms(949)), "rt");
    // Overflow at the timer: a new period from there.
    assert_eq!((s.to(ms(950)), s.left()), ("fair", (50, 1_950)));
    assert_eq!(s.to(ms(999)), "fair");
    assert_eq!(s.to(ms(1_000)), "rt");
    assert_eq!(s.timer(), Some(ms(1_950)));
    assert_eq!(s.to(ms(1_949)), "rt");
    assert_eq!(s.to(ms(1_950)), "fair");
    assert_eq!(s.to(ms(2_000)), "rt");
    assert_eq!(s.timer(), Some(ms(2_950)));
}

/// deadline-groups A14 example 9: what fair tasks run beside it counts.
#[test]
fn a14_9_background_time_counts() {
    let pause = |lasts: u64| {
        let s = Starving::new(&[]);
        s.to(ms(400));
        s.lab.block(0);
        assert_eq!(s.to(ms(400 + lasts)), "fair");
        s.lab.wake(0, s.rt);
        assert_eq!(s.runs(), "rt");
        s
    };
    let s = pause(30);
    assert_eq!((s.left(), s.timer()), ((20, 1_000), Some(ms(950))));
    // No laxity is left at 980 only; then 20 ms are too much for 20 ms: a new period.
    assert_eq!((s.to(ms(950)), s.timer()), ("rt", Some(ms(980))));
    assert_eq!((s.to(ms(980)), s.left()), ("fair", (50, 1_980)));
    // 50 ms: the budget is used up while it waits.
    let s = pause(50);
    assert_eq!((s.left(), s.timer()), ((50, 1_450), Some(ms(1_400))));
    // 90 of 100 ms for the FIFO task never starve anybody.
    let s = Starving::new(&[]);
    for period in 0..30 {
        assert_eq!(s.to(ms(100 * period + 90)), "rt");
        s.lab.block(0);
        assert_eq!(s.to(ms(100 * period + 100)), "fair");
        s.lab.wake(0, s.rt);
    }
}

/// deadline-groups A14 example 10: a real-time task that wakes while the server runs waits; an earlier
/// deadline does not.
#[test]
fn a14_10_real_time_tasks_wait_for_the_rest_of_the_budget() {
    let s = Starving::new(&[]);
    assert_eq!(s.to(ms(960)), "fair");
    let higher = s.lab.spawn(fifo(99), 0);
    assert_eq!((s.runs(), s.lab.k.root_domain(CpuId(0)).rt.cpupri_level(CpuId(0))), ("fair", 100));
    let deadline = s.lab.spawn(crate::testing::deadline(5, 100, 100), 0);
    assert_eq!(s.lab.running(0), deadline);
    s.lab.block(0);
    assert_eq!(s.to(ms(999)), "fair");
    s.to(ms(1_000));
    assert_eq!((s.lab.running(0), s.lab.k.root_domain(CpuId(0)).rt.cpupri_level(CpuId(0))), (higher, 99));
}

/// The server stops when it is to run for nobody; with `on_empty` as soon as the last fair task leaves.
#[test]
fn a11_when_it_stops() {
    for (rule, active) in [("dl_server_stop=lazy", true), ("dl_server_stop=on_empty", false)] {
        let lab = Lab::new(1, KERNEL, &[rule, "NO_DELAY_DEQUEUE"]);
        let server = lab.k.dl_cpus.fair_server(CpuId(0));
        let p = lab.spawn(Policy::Normal, 0);
        assert!(server.is_active());
        lab.block(0);
        assert_eq!(server.is_active(), active, "{rule}");
        let rt = lab.spawn(fifo(10), 0);
        lab.pass_until(ms(960));
        assert_eq!((server.is_active(), lab.running(0)), (false, rt), "{rule}");
        lab.wake(0, p);
        assert!(server.is_active() && lab.running(0) == rt, "{rule}");
    }
}

/// Idling is charged as if fair tasks had run; 7.x begins a period then, and stops after one of idling.
#[test]
fn a11_idling_is_charged() {
    let lab = Lab::new(1, KERNEL, &["NO_DELAY_DEQUEUE"]);
    let server = lab.k.dl_cpus.fair_server(CpuId(0));
    lab.spawn(Policy::Normal, 0);
    lab.pass_until(ms(10));
    lab.block(0);
    lab.pass_until(ms(40));
    lab.spawn(fifo(10), 0);
    assert_eq!(server.entity().runtime_ns(), 10_000_000);
    let seven = Lab::new(1, "7.0", &["NO_DELAY_DEQUEUE"]);
    let server = seven.k.dl_cpus.fair_server(CpuId(0));
    seven.spawn(Policy::Normal, 0);
    seven.pass_until(ms(10));
    seven.block(0);
    seven.pass_until(ms(60));
    let rt = seven.spawn(fifo(10), 0);
    assert_eq!((server.entity().deadline(), server.is_active()), (ms(1_060), true));
    seven.pass_until(ms(1_010));
    assert_eq!((server.is_active(), seven.running(0)), (false, rt));
}

/// What `revised_all` did: a fair task that wakes on a CPU that had no other gets its share at once, before
/// real-time tasks that have not starved anybody.
#[test]
fn a11_a_server_that_wakes_within_its_period() {
    for (rule, expected) in [
        ("dl_server_wakeup=new_period", false),
        ("dl_server_wakeup=revised_running", false),
        ("dl_server_wakeup=revised_all", true),
    ] {
        let lab = Lab::new(1, KERNEL, &[rule, "dl_server_stop=on_empty", "NO_DELAY_DEQUEUE"]);
        let fair = lab.spawn(Policy::Normal, 0);
        lab.block(0);
        let rt = lab.spawn(fifo(10), 0);
        lab.pass_until(ms(100));
        lab.wake(0, fair);
        assert_eq!(lab.running(0) == fair, expected, "{rule}");
        assert!(expected || lab.running(0) == rt);
        let left = lab.k.dl_cpus.fair_server(CpuId(0)).entity().runtime_ns() / 1_000_000;
        // 0.05 × 900 ms, or all of a new period.
        assert_eq!(left, if expected { 44 } else { 50 }, "{rule}");
    }
}

/// A plain server does not wait: fair tasks go first in each second.
#[test]
fn a11_a_plain_server_serves_at_once() {
    let s = Starving::new(&["dl_server=plain"]);
    assert_eq!(s.runs(), "fair");
    assert_eq!(s.to(ms(50)), "rt");
    assert_eq!((s.to(ms(999)), s.to(ms(1_000))), ("rt", "fair"));
    let off = Starving::new(&["dl_server=off"]);
    assert_eq!((off.to(ms(3_000)), off.timer()), ("rt", None));
}

/// Without throttling a FIFO hog keeps the CPU; whoever waits behind it is not protected.
#[test]
fn a12_no_throttling_beside_the_server() {
    let hogged = |settings: &[&str]| {
        let lab = Lab::new(1, KERNEL, settings);
        let rt = lab.spawn(fifo(10), 0);
        let ran = (1..=300).filter(|tick| {
            lab.pass_until(ms(10 * tick));
            lab.tick(0);
            lab.running(0) == rt
        });
        ran.count()
    };
    assert_eq!(hogged(&[]), 300);
    assert!(hogged(&["rt_throttle=root"]) < 300);
}

/// deadline-groups A14 example 2 with servers: 2 × 52428 are promised to them.
#[test]
fn a14_2_admission_beside_servers() {
    let let_in = |cpus: usize, runtime: u64| {
        let lab = Lab::new(cpus, KERNEL, &[]);
        let tasks: Vec<TaskId> = (0..9).map(|_| lab.spawn(Policy::Normal, 0)).collect();
        let policy = crate::testing::deadline(runtime, 100, 100);
        let ask = |p: &&TaskId| {
            let answer = lab.run(crate::policy::sched_setscheduler(lab.cpu(0), **p, policy));
            lab.settle();
            answer.is_ok()
        };
        tasks.iter().filter(ask).count()
    };
    assert_eq!((let_in(2, 30), let_in(2, 25)), (6, 7));
    assert_eq!((let_in(1, 90), let_in(1, 91)), (1, 0));
    assert_eq!(let_in(4, 95), 3);
}

/// deadline-groups A7 with servers: 10/100 that reclaims, alone on one of two CPUs: 0.1051.
#[test]
fn a7_rates_beside_servers() {
    let lab = Lab::new(2, KERNEL, &[]);
    let Policy::Deadline(params) = crate::testing::deadline(10, 100, 100) else { return };
    let p = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0, 1]));
    lab.run(sched_setscheduler(lab.cpu(0), p, Policy::Deadline(params.reclaiming())));
    lab.settle();
    let before = lab.k.task(p).dl.runtime_ns();
    lab.advance(ms(10));
    lab.tick(0);
    let charged = (before - lab.k.task(p).dl.runtime_ns()) / 1_000;
    assert_eq!(charged, 1_050);
}

/// deadline-groups A7, the rows with other tasks: on two CPUs both sets are promised 0.5 and the servers 0.1,
/// so that each CPU keeps 0.3 of that for who reclaims; less the 0.05 of its server while nobody needs that.
#[test]
fn a14_7_rates_beside_others_and_a_server() {
    let charged = |runtime: u64, other: u64, has_fair: bool| {
        let lab = Lab::new(2, KERNEL, &[]);
        let ask = |cpu: u16, runtime: u64| {
            let Policy::Deadline(params) = crate::testing::deadline(runtime, 100, 100) else {
                panic!("deadline() is a deadline policy")
            };
            let params = if cpu == 0 { params.reclaiming() } else { params };
            lab.spawn(Policy::Deadline(params), cpu)
        };
        // From the start on: a server that a fair task has started goes on for a while.
        let p = ask(0, runtime);
        ask(1, other);
        if has_fair {
            lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
        }
        assert_eq!(lab.running(0), p);
        let before = lab.k.task(p).dl.runtime_ns();
        lab.advance(ms(10));
        lab.tick(0);
        (before - lab.k.task(p).dl.runtime_ns()) / 1_000
    };
    assert_eq!(charged(10, 40, true), 3_152);
    assert_eq!(charged(10, 40, false), 2_626, "the server is inactive");
    assert_eq!(charged(20, 30, true), 3_152);
}
