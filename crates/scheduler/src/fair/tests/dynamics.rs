//! fair-class 14: properties of whole courses (D2, D4, D5, D7, D8, D9, D13 to D16).

use super::ms;
use crate::fair::cfs::sleeper_threshold;
use crate::fair::lag;
use crate::testing::{Dice, Lab};
use crate::{CpuId, Event, Nanos, Reason, TaskId, TaskState};
use alloc::vec::Vec;

/// A course on CPU 0: tasks sleep and wake at random, ticks come every millisecond. Who was switched to, and
/// when.
fn course(lab: &Lab, tasks: &[TaskId], seed: u64) -> Vec<(Nanos, TaskId)> {
    watched_course(lab, tasks, seed, |_| {})
}

/// The same; `look` is shown what happened since it looked last, each time everything is at rest.
fn watched_course(
    lab: &Lab,
    tasks: &[TaskId],
    seed: u64,
    mut look: impl FnMut(&[Event]),
) -> Vec<(Nanos, TaskId)> {
    let mut dice = Dice::new(seed);
    let mut switches = Vec::new();
    for step in 1..3000 {
        lab.advance(Nanos::from_micros(250));
        let p = tasks[dice.below(tasks.len())];
        match dice.below(6) {
            0 if !lab.idle(0) => _ = lab.block(0),
            1 | 2 if lab.k.task(p).state.get() == TaskState::Interruptible => _ = lab.wake(0, p),
            _ => {}
        }
        if step % 4 == 0 {
            lab.tick(0);
        }
        look(&lab.k.platform.events.borrow());
        let now = lab.k.platform.now.get();
        for event in lab.k.platform.events.borrow_mut().drain(..) {
            if let Event::Switch { next, .. } = event {
                switches.push((now, next));
            }
        }
    }
    switches
}

fn mixed_course(profile: &str, settings: &[&str], nices: &[i8], floor: Option<f64>) -> Vec<(Nanos, TaskId)> {
    let lab = Lab::new(1, profile, settings);
    if let Some(floor) = floor {
        lab.set_floor(0, floor);
    }
    let tasks = lab.crowd(0, nices);
    course(&lab, &tasks, 7)
}

/// D15: min_vruntime starts 1 ms below 2^64, so every course crosses it.
#[test]
fn a_course_across_the_wrap_is_like_any_other() {
    let nices = [0, 5, -5, 0, 10];
    assert_eq!(mixed_course("6.1.y", &[], &nices, None), mixed_course("6.1.y", &[], &nices, Some(1e6)));
}

/// D7.
#[test]
fn start_nice_without_forks_changes_nothing() {
    let course = |setting| mixed_course("6.1.y", &[setting], &[0, 3, -2, 0], None);
    assert_eq!(course("START_NICE"), course("NO_START_NICE"));
}

/// D9.
#[test]
fn tick_vrt_cmp_changes_nothing_for_nice_0() {
    let course = |setting| mixed_course("2.6.36", &[setting], &[0; 5], None);
    assert_eq!(course("tick_vrt_cmp=on"), course("tick_vrt_cmp=off"));
}

/// D8: four tasks stay below nr_latency, six do not.
#[test]
fn buddies_change_nothing_below_the_gate() {
    let course = |n, setting: &str| mixed_course("2.6.32", &["NEXT_BUDDY", setting], &[0; 6][..n], None);
    let off = |n| mixed_course("2.6.32", &["NO_NEXT_BUDDY", "NO_LAST_BUDDY"], &[0; 6][..n], None);
    assert_eq!(course(4, "LAST_BUDDY"), off(4));
    assert_ne!(course(6, "LAST_BUDDY"), off(6), "the course is one on which they matter");
}

/// D5: a buddy that is picked is ahead of the leftmost by no more than the granularity, in the leftmost's
/// time.
#[test]
fn a_picked_buddy_is_near_the_leftmost() {
    for mode in
        ["pick_mode=last_first", "pick_mode=clear_tested", "pick_mode=clear_all", "pick_mode=next_first"]
    {
        let lab = Lab::new(1, "2.6.36", &["NEXT_BUDDY", "buddy_gate=off", "last_set=every_wake", mode]);
        let tasks = lab.crowd(0, &[0, 5, 0, -5, 0, 10]);
        let mut picked = 0;
        watched_course(&lab, &tasks, 11, |events| {
            let is_pick = |e: &&Event| {
                matches!(e, Event::Decision { reason: Reason::BuddyLast | Reason::BuddyNext, .. })
            };
            let Some(Event::Decision { task, .. }) = events.iter().rfind(is_pick) else { return };
            let rq = lab.run(lab.cpu(0).lock(CpuId(0)));
            let Some(left) = rq.fair.timeline.leftmost().filter(|_| rq.curr == *task) else { return };
            let near = lab.k.task(left.entity.task()).se.vdelta(ms(1.0)) as i64;
            let ahead = lag(lab.vr(*task), left.vruntime);
            assert!(ahead <= near, "{mode}: {ahead} of {near}");
            picked += 1;
        });
        assert!(picked > 20, "{mode}: {picked}");
    }
}

/// D14.
#[test]
fn a_course_repeats() {
    let course = || mixed_course("2.6.32", &["NEXT_BUDDY"], &[0, 5, -5, 0, 0, 0], None);
    assert_eq!(course(), course());
}

/// D2: two tasks that are always runnable stay within a slice and a tick of each other, and a granularity, in
/// the virtual time of each.
#[test]
fn the_lag_of_runnable_tasks_is_bounded() {
    for nices in [&[0, 0, 0][..], &[0, 5, -5], &[10, 0, 0, 3, -3]] {
        let lab = Lab::new(1, "2.6.36", &[]);
        let tasks = lab.crowd(0, nices);
        let bound = |p: TaskId| {
            let se = &lab.k.task(p).se;
            let load: u64 = tasks.iter().map(|t| lab.k.task(*t).se.weight()).sum();
            let slice = ms(6.0) * se.weight() / load;
            (se.vdelta(slice + ms(1.0)) + se.vdelta(ms(1.0))) as i64
        };
        for step in 0..20_000 {
            lab.advance(Nanos::from_millis(1));
            lab.tick(0);
            if step < 200 {
                continue;
            }
            for (i, a) in tasks.iter().enumerate() {
                for b in &tasks[..i] {
                    let apart = lag(lab.vr(*a), lab.vr(*b)).abs();
                    assert!(apart <= bound(*a) + bound(*b), "{nices:?}: {apart}");
                }
            }
        }
    }
}

/// D4: how long the first task may have to wait for the others: until each has come up to it in virtual time
/// from as far left as a sleeper may be, and has used up its slice and a tick.
fn longest_wait(lab: &Lab, tasks: &[TaskId]) -> u64 {
    let rq = lab.run(lab.cpu(0).lock(CpuId(0)));
    let se = |p: TaskId| &lab.k.task(p).se;
    let (first, others) = tasks.split_first().expect("there are some");
    let (latency, tick) = (ms(6.0), ms(1.0));
    let ahead = se(*first).vdelta(latency + tick);
    let granularity = se(*first).vdelta(ms(1.0));
    let of_other = |p: &TaskId| {
        let weight = se(*p).weight();
        let virtual_time = ahead + sleeper_threshold(&rq, se(*p)) + granularity;
        let slice = latency * weight / (weight + se(*first).weight());
        virtual_time * weight / 1024 + slice + tick
    };
    others.iter().map(of_other).sum()
}

#[test]
fn nobody_starves() {
    for settings in [
        &["NEXT_BUDDY", "buddy_gate=off", "last_set=every_wake"][..],
        &["NEXT_BUDDY", "buddy_gate=off", "next_set=wake_or_preempt", "pick_mode=next_first"],
        &["NO_WAKEUP_PREEMPT", "NO_GENTLE_FAIR_SLEEPERS"],
        &["tick_latency_check=off", "NORMALIZED_SLEEPER"],
        &["ADAPTIVE_GRAN", "WAKEUP_OVERLAP", "WAKEUP_RUNNING"],
    ] {
        let lab = Lab::new(1, "2.6.36", settings);
        let tasks = lab.crowd(0, &[0, 5, 0, -5, 0, 10]);
        course(&lab, &tasks[1..], 3);
        let waited = lab.k.task(tasks[0]).stats.wait_max.get().0;
        let longest = longest_wait(&lab, &tasks);
        assert!(waited <= longest && longest < ms(120.0), "{settings:?}: {waited} of {longest}");
    }
}

/// D13: twenty tasks that want a tenth of the CPU each, and a hog.
#[test]
fn a_flood_of_sleepers_leaves_a_hog_half_its_share() {
    let lab = Lab::new(1, "2.6.36", &[]);
    let hog = lab.crowd(0, &[0])[0];
    let sleepers = lab.crowd(0, &[0; 20]);
    let mut wakes_at: Vec<(TaskId, Nanos)> = Vec::new();
    for step in 0..40_000u64 {
        lab.advance(Nanos::from_micros(250));
        let now = lab.k.platform.now.get();
        let due: Vec<_> = wakes_at.extract_if(.., |(_, at)| *at <= now).collect();
        due.iter().for_each(|(p, _)| _ = lab.wake(0, *p));
        if step % 4 == 0 {
            lab.tick(0);
        }
        let running = lab.running(0);
        let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
        rq.update_clock();
        crate::fair::queue::update_curr(&mut rq);
        drop(rq);
        // A millisecond of work, then nine of sleep.
        let had = lab.k.task(running).stats.sum_exec_runtime.get().0;
        if sleepers.contains(&running) && had / ms(1.0) != (had - ms(0.25).min(had)) / ms(1.0) {
            assert_eq!(lab.block(0), running);
            wakes_at.push((running, now + Nanos::from_millis(9)));
        }
    }
    let had = lab.k.task(hog).stats.sum_exec_runtime.get();
    assert!(had.0 * 2 * 21 >= lab.k.platform.now.get().0, "{had} of 10 s");
}

/// D16: the time charged at the penalised rate is the window, and at most one charge more.
#[test]
fn a_penalty_lasts_for_its_window() {
    let lab = Lab::new(1, "2.6.35.2+D", &["NO_START_DEBIT", "START_NICE"]);
    let parent = lab.crowd(0, &[0])[0];
    lab.fork(0, 0);
    let se = &lab.k.task(parent).se;
    let window = se.pen_timeout.get().0 - lab.k.task(parent).stats.sum_exec_runtime.get().0;
    assert_eq!(window, ms(6.0));
    let mut charged = 0;
    while se.penalty.get() != 0 {
        lab.charge(0, 0.7);
        charged += ms(0.7);
    }
    assert!(charged > window && charged <= window + ms(0.7));
}
