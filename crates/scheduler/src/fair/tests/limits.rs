//! What a group may use, its timers, and how what is there is handed out (deadline-groups B7, rules 1 to 7).

use super::groups::{MS, hogs, limit};
use super::*;
use crate::fair::{GroupTimer, QuotaParams, group_timer, set_limit};
use crate::platform::{Ipi, Lock};
use crate::testing::fifo;
use crate::{GroupId, Throttled};

impl Lab {
    fn set_pool(&self, group: GroupId, runtime: Nanos) {
        self.k.groups.get(group).pool.as_ref().expect("a limit").runtime.set(runtime);
    }

    /// A timer of a group fires on CPU 0; what follows is still to come.
    fn fires(&self, group: GroupId, timer: GroupTimer) {
        self.run(group_timer(self.cpu(0), group, timer));
    }

    /// Somebody writes this limit, on a CPU.
    fn writes(&self, cpu: u16, group: GroupId, quota: Nanos) {
        self.run(set_limit(self.cpu(cpu), group, quota, Nanos::ZERO));
    }

    fn goes_on(&self, group: GroupId) -> usize {
        let ends =
            |e: &&Event| matches!(e, Event::ThrottleEnds { whom: Throttled::Group(of), .. } if *of == group);
        self.k.platform.events.borrow().iter().filter(ends).count()
    }
}

/// Rule 1: the first who comes to a queue draws; where nothing is left, he is stopped at the door.
#[test]
fn who_comes_when_nothing_is_left_does_not_run() {
    let mut lab = Lab::new(2, "6.12.y", &["hz=250"]);
    let g = lab.group(GroupId::ROOT, limit(10, 100));
    lab.spawn_in(g, 0);
    lab.ticks(3);
    assert!(lab.is_throttled(g, 0) && lab.pool(g) == Nanos::ZERO);
    lab.spawn_in_unsettled(Policy::Normal, g, 1);
    assert!(lab.is_throttled(g, 1));
    assert_eq!((lab.remaining(g, 1), lab.k.rq(CpuId(1)).published.nr_running.get()), (0, 0));
}

/// Rule 1, entity mode: a queue that is put or picked in debt asks for 1 ns more, once: meanwhile somebody
/// may have given something back.
#[test]
fn a_queue_in_debt_asks_once_more_before_it_stops() {
    let ms = Nanos::from_millis;
    let asks = |ran: Nanos, given: Nanos| {
        let (lab, g) = hogs(1, "6.12.y", limit(10, 100));
        lab.ticks(2);
        lab.advance(ran.saturating_sub(Nanos::from_millis(8)));
        lab.run(crate::tick::scheduler_tick(lab.cpu(0)));
        assert_eq!((lab.remaining(g, 0), lab.is_throttled(g, 0)), (10 * MS - ran.0 as i64, false));
        lab.set_pool(g, given);
        lab.settle();
        (lab.remaining(g, 0), lab.pool(g), lab.is_throttled(g, 0))
    };
    assert_eq!(asks(ms(12), ms(3)), (1, Nanos(MS as u64 - 1), false));
    assert_eq!(asks(ms(12), ms(2)), (0, Nanos::ZERO, true), "that is no more than the debt");
    assert_eq!(asks(ms(10), Nanos::ZERO), (0, Nanos::ZERO, true), "nothing is left");
}

/// Rule 7: what was drawn in a former period is worth nothing; a debt from then stays one.
#[test]
fn under_bw_expire_a_debt_stays() {
    let (lab, g) = hogs(1, "6.1.y", limit(20, 100));
    lab.k.config.set("bw_expire=on").expect("a rule");
    lab.ticks_of(2, 1);
    assert_eq!((lab.remaining(g, 0), lab.pool(g)), (3 * MS, Nanos::from_millis(15)));
    lab.fires(g, GroupTimer::Period);
    lab.ticks(1);
    assert_eq!((lab.remaining(g, 0), lab.pool(g)), (5 * MS, Nanos::from_millis(14)), "-1, asks for 6");
}

/// Rules 6 and 7: what is left above a millisecond goes back, but not what has expired. 5 ms are drawn of 20,
/// and 1 ms has run.
#[test]
fn what_has_expired_does_not_go_back() {
    let pool = |rule: &str, refilled: bool| {
        let (lab, g) = hogs(1, "6.1.y", limit(20, 100));
        lab.k.config.set(rule).expect("a rule");
        lab.ticks_of(1, 1);
        if refilled {
            lab.fires(g, GroupTimer::Period);
        }
        lab.block(0);
        assert_eq!(lab.remaining(g, 0), MS);
        lab.pool(g).0 as i64 / MS
    };
    assert_eq!([false, true].map(|refilled| pool("bw_expire=off", refilled)), [18, 23]);
    assert_eq!([false, true].map(|refilled| pool("bw_expire=on", refilled)), [18, 20]);
}

/// Rule 6: nothing goes back while the queue has somebody.
#[test]
fn a_queue_with_tasks_keeps_what_it_has() {
    let (lab, g) = hogs(1, "6.1.y", limit(20, 100));
    lab.spawn_in(g, 0);
    lab.advance(Nanos::from_micros(800));
    lab.block(0);
    assert_eq!((lab.remaining(g, 0), lab.pool(g)), (4_200_000, Nanos::from_millis(15)));
    lab.block(0);
    assert_eq!((lab.remaining(g, 0), lab.pool(g)), (MS, Nanos(18_200_000)));
}

/// A group of 5 ms for each of four CPUs, which all have drawn: a hog on CPU 0 has used its part up at 8 ms
/// if it is to be throttled. On the others real-time tasks keep tasks of the group from running; then each of
/// these runs for `used` and sleeps, the last of CPU 1 and 2 at `at`, and that of CPU 3 at `later`.
fn returns(throttled: bool, used: Nanos, at: Nanos, later: Nanos) -> (Lab, GroupId) {
    let (lab, g) = hogs(4, "6.1.y", limit(20, 100));
    let keep = |cpu| {
        lab.spawn_unsettled(fifo(50), 0, cpu, cpus(&[cpu]));
        lab.settle();
    };
    [1, 2, 3].into_iter().for_each(keep);
    lab.advance(Nanos::from_millis(8));
    if throttled {
        lab.tick(0);
        lab.advance(Nanos::from_millis(4));
        lab.tick(0);
    }
    assert_eq!((lab.is_throttled(g, 0), lab.pool(g)), (throttled, Nanos::ZERO));
    let sleeps = |cpu| {
        lab.block(cpu);
        lab.advance(used);
        lab.block(cpu);
    };
    lab.k.platform.now.set(at.saturating_sub(used * 2));
    [1, 2].into_iter().for_each(sleeps);
    lab.k.platform.now.set(later.saturating_sub(used));
    sleeps(3);
    (lab, g)
}

/// When the slack timers fire that the returns on CPUs 1 to 3 have set.
fn slack(throttled: bool, used_us: u64, at: Nanos) -> [Option<Nanos>; 3] {
    let used = Nanos::from_micros(used_us);
    let (lab, _) = returns(throttled, used, at, at + Nanos::from_millis(1) + used);
    [1, 2, 3].map(|cpu| lab.dl_timer_at(cpu))
}

/// B7, worked example 5, and rule 6: where somebody is throttled and the pool exceeds a slice, what came back
/// is handed out 5 ms later; one timer is enough.
#[test]
fn what_came_back_is_handed_out_five_milliseconds_later() {
    let at = Nanos::from_millis(20);
    let fires = Some(Nanos::from_millis(25));
    assert_eq!(slack(true, 200, at), [None, fires, None], "3.8 ms have come back, then 7.6, then 11.4");
    assert_eq!(slack(true, 1_500, at)[..2], [None, None], "2.5 ms, then 5, which is no more than a slice");
    assert_eq!(slack(false, 200, at), [None; 3], "nobody waits for it");
    let (lab, g) = returns(true, Nanos::from_micros(200), at, Nanos::from_millis(21));
    lab.pass_until(Nanos::from_millis(25));
    assert_eq!((lab.is_throttled(g, 0), lab.remaining(g, 0)), (false, 1));
    let debt = Nanos::from_millis(3) + Nanos(1);
    assert_eq!(lab.pool(g), Nanos(3 * 3_800_000) - debt);
}

/// Rule 6: no slack timer where the refill is nearer than 7 ms; nor is anything handed out where it is nearer
/// than 2 ms, or where the pool has no more than a slice by then.
#[test]
fn shortly_before_the_refill_nothing_is_handed_out() {
    let ms = Nanos::from_millis;
    assert_eq!(slack(true, 200, ms(93))[1], Some(ms(98)));
    assert_eq!(slack(true, 200, ms(93) + Nanos(1))[1], None);
    let handed_out = |pool: Nanos, at: Nanos| {
        let (lab, g) = hogs(1, "6.1.y", limit(10, 100));
        lab.ticks(3);
        lab.set_pool(g, pool);
        lab.k.platform.now.set(at);
        lab.fires(g, GroupTimer::Slack);
        !lab.is_throttled(g, 0)
    };
    assert!(handed_out(ms(5) + Nanos(1), ms(98)));
    assert!(!handed_out(ms(5), ms(98)) && !handed_out(ms(5) + Nanos(1), ms(98) + Nanos(1)));
    assert!(!handed_out(ms(5), ms(99)));
}

/// Rule 3: the timer stops at the end of the second period in which nobody drew anything; the next draw
/// starts it again. Who has something left draws nothing, whenever it is picked.
#[test]
fn the_timer_stops_after_an_idle_period() {
    let ms = Nanos::from_millis;
    let (lab, _) = hogs(1, "6.1.y", limit(10, 10));
    lab.pass_until(ms(1));
    let sleeper = lab.block(0);
    lab.pass_until(ms(10));
    assert_eq!(lab.dl_timer_at(0), Some(ms(20)));
    lab.wake(0, sleeper);
    lab.advance(Nanos::from_micros(500));
    lab.block(0);
    lab.pass_until(ms(20));
    assert_eq!(lab.dl_timer_at(0), None, "of the millisecond that it kept half is left");
    lab.wake(0, sleeper);
    lab.advance(ms(1));
    lab.tick(0);
    assert_eq!(lab.dl_timer_at(0), Some(ms(30)));
}

/// The first period ends at the group's offset, the others follow.
#[test]
fn periods_begin_at_the_offset() {
    let ms = Nanos::from_millis;
    let ends = |at: u64| {
        let mut lab = Lab::new(1, "6.1.y", &["hz=250"]);
        let params = QuotaParams { quota: ms(20), period: ms(100), burst: Nanos::ZERO, offset: ms(10) };
        let g = lab.group(GroupId::ROOT, Some(params));
        lab.advance(ms(at));
        lab.spawn_in(g, 0);
        lab.dl_timer_at(0)
    };
    assert_eq!([9, 10, 11, 111].map(ends), [10, 110, 110, 210].map(|at| Some(ms(at))));
}

/// Rule 4: a queue goes on that is out of debt, by 1 ns; one that owes nothing more and has nothing waits on.
#[test]
fn who_has_only_paid_its_debt_waits_on() {
    for profile in ["6.1.y", "6.18.y"] {
        let (lab, g) = hogs(1, profile, limit(1, 1));
        lab.ticks(1);
        assert_eq!(lab.remaining(g, 0), -3 * MS);
        for went_on in [0, 0, 0, 1] {
            lab.fires(g, GroupTimer::Period);
            lab.settle();
            assert_eq!(lab.goes_on(g), went_on, "{profile}: {}", lab.remaining(g, 0));
        }
    }
}

/// Rule 4: while a distribution waits for the lock of a queue, another one may let that queue go on: it gets
/// nothing again, and its CPU is not called.
#[test]
fn who_has_gone_on_meanwhile_is_not_called() {
    let called = |meanwhile: bool| {
        let (lab, g) = hogs(2, "6.18.y", limit(20, 100));
        lab.ticks(4);
        assert!(lab.is_throttled(g, 0) && lab.is_throttled(g, 1));
        let of_cpu_1 = |lock| lock == Lock::Rq(CpuId(1));
        let write = set_limit(lab.cpu(0), g, Nanos::from_millis(20), Nanos::ZERO);
        lab.meanwhile(of_cpu_1, write, |_| {
            if meanwhile {
                lab.writes(1, g, Nanos::from_millis(20));
            }
        });
        let sent = |to: u16| {
            let ipis = lab.k.platform.ipis.borrow();
            ipis.iter().filter(|sent| sent.ipi == Ipi::Unthrottle && sent.to == CpuId(to)).count()
        };
        sent(1)
    };
    assert_eq!([called(false), called(true)], [1, 0]);
}
