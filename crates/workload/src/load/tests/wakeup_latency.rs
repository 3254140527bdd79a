use super::*;
use schema::{WakeupLatencyMode, WakeupLatencyResult};

/// The helper thread that main creates.
fn helper(built: &mut Built) -> Script {
    let mut main = built.task(0);
    let Step::Fork { child, kind: ForkKind::Thread } = main.step() else { panic!("main starts the helper") };
    assert_eq!(child.timer_slack, Nanos::ZERO, "a signalling timer has no slack");
    assert!(matches!(main.step(), Step::WaitChild));
    Script::boxed(child.behaviour)
}

fn result(built: &Built) -> WakeupLatencyResult {
    let LoadResult::WakeupLatency(result) = built.load.result("") else { panic!() };
    result
}

/// The helper is woken `late` after the expiry; gives the thread that it creates.
fn expiry(helper: &mut Script, late: Nanos) -> Script {
    let Step::SleepUntil(_) = helper.step() else { panic!("waits for the signal") };
    helper.now += late;
    let Step::Compute(_) = helper.step() else { panic!("takes the mutex, allocates") };
    let Step::Fork { child, kind: ForkKind::Thread } = helper.step() else { panic!("clones") };
    let mut callback = Script::boxed(child.behaviour);
    callback.now = helper.now;
    callback
}

#[test]
fn a_new_thread_measures_each_expiry_from_its_intended_time() {
    let mut built = build("wakeup-latency -n 2", 1);
    let mut helper = helper(&mut built);
    let mut first = expiry(&mut helper, Nanos::ZERO);
    // Its first run comes 6 ms late; the second expiry's thread overtakes it.
    let mut second = expiry(&mut helper, us(40));
    second.until_exit();
    assert!(!built.load.is_finished());
    first.now += ms(6);
    first.until_exit();
    assert!(built.load.is_finished());
    let result = result(&built);
    // 15 µs of the helper and 5 µs of the callback in each.
    assert_eq!((result.latency_ns.min, result.latency_ns.max), (us(60).0, (ms(6) + us(20)).0));
    assert_eq!((result.latency_ns.count, result.missed), (2, 0));
}

#[test]
fn expiries_that_pass_while_the_signal_is_pending_are_missed() {
    let mut built = build("wakeup-latency -i 1000", 1);
    let mut helper = helper(&mut built);
    expiry(&mut helper, us(3_500)).until_exit();
    assert_eq!(result(&built).missed, 3);
    // The timer goes on with the next expiry of its grid, at 5 ms.
    let Step::SleepUntil(next) = helper.step() else { panic!() };
    assert_eq!(next, ms(5));
}

#[test]
fn a_late_helper_serves_the_expiry_that_became_pending_meanwhile() {
    let mut built = build("wakeup-latency -i 1000", 1);
    let mut helper = helper(&mut built);
    expiry(&mut helper, Nanos::ZERO);
    // Preempted until 2.3 ms after it took the first signal: the second expired once, at 2 ms.
    helper.now = us(2_300);
    let Step::SleepUntil(next) = helper.step() else { panic!() };
    assert_eq!(next, ms(2));
    helper.step();
    assert_eq!(result(&built).missed, 0);
}

#[test]
fn the_phase_of_the_expiries_may_be_given() {
    let mut built = build("wakeup-latency --phase 300", 1);
    let mut helper = helper(&mut built);
    helper.now = us(41_234);
    let Step::SleepUntil(first) = helper.step() else { panic!() };
    assert_eq!(first, us(50_300));
}

#[test]
fn with_x_one_sleeping_thread_measures() {
    let mut built = build("wakeup-latency -x -n 3 -i 2ms", 1);
    built.task(0).until_exit();
    let result = result(&built);
    assert_eq!((result.mode, result.latency_ns.count), (WakeupLatencyMode::Nanosleep, 3));
    assert_eq!(result.latency_ns.max, 0, "nothing disturbs it here");
    assert!(built.load.is_finished());
}

#[test]
fn lengths_and_refusals() {
    assert_eq!(length("wakeup-latency"), Length::Endless);
    assert_eq!(length("wakeup-latency -n 100"), Length::Time(Nanos::from_secs(1)));
    assert_eq!(
        refusal("wakeup-latency -i 0"),
        "wakeup-latency: option '--interval <TIME>', value '0': must be above 0"
    );
}
