use super::super::{Block, Child, Observer, Program, ProgramError, Target, Template, Text, TimeVar, Times};
use super::*;
use crate::dist::Dist;
use crate::flag::Flag;
use crate::latency::LatencyRecorder;
use crate::script::Script;
use machine::ForkKind;
use scheduler::{Policy, RtPriority, TaskId};
use std::cell::RefCell;

fn us(n: u64) -> Nanos {
    Nanos::from_micros(n)
}

fn script(block: Block) -> Script {
    Script::new(Program::new(block).unwrap().start())
}

#[test]
fn nested_loops_count_their_passes_anew_each_time() {
    let inner = Block::new().run(us(1)).repeat(Times::Count(2), Block::new().run(us(2)));
    let mut task = script(Block::new().repeat(Times::Count(2), inner).run(us(9)));
    assert_eq!(
        task.until_exit(),
        [
            "Compute(1000ns)",
            "Compute(2000ns)",
            "Compute(2000ns)",
            "Compute(1000ns)",
            "Compute(2000ns)",
            "Compute(2000ns)",
            "Compute(9000ns)"
        ]
    );
    assert_eq!(task.steps(2), ["Exit", "Exit"], "a finished program stays finished");
}

#[test]
fn a_loop_of_no_passes_is_skipped() {
    let mut task = script(Block::new().repeat(Times::Count(0), Block::new().run(us(1))).run(us(2)));
    assert_eq!(task.until_exit(), ["Compute(2000ns)"]);
}

#[test]
fn timed_loops_look_at_the_clock_before_each_pass() {
    let body = || Block::new().run(us(4));
    let mut task = script(Block::new().run(us(1)).repeat(Times::For(us(8)), body()));
    assert_eq!(task.until_exit().len(), 1 + 2, "passes at 1 and 5 µs, none at 9 µs");
    let mut task = script(Block::new().run(us(1)).repeat(Times::Until(us(8)), body()));
    assert_eq!(task.until_exit().len(), 1 + 2, "passes at 1 and 5 µs, none at 9 µs");
}

#[test]
fn a_raised_flag_ends_the_loop_after_the_pass() {
    let flag = Flag::default();
    let body = Block::new().run(us(1)).run(us(2));
    let mut task = script(Block::new().repeat(Times::UntilRaised(flag.clone()), body));
    task.step();
    flag.raise();
    assert_eq!(task.until_exit(), ["Compute(2000ns)"]);
    let mut raiser = script(Block::new().raise(&Flag::default()).run(us(1)));
    assert_eq!(raiser.until_exit(), ["Compute(1000ns)"]);
}

#[test]
fn a_late_timer_skips_catches_up_or_restarts() {
    let late_by_two_and_a_half_periods = |overrun| {
        let var = TimeVar(3);
        let cycle = Block::new().advance(var, us(10), overrun).sleep_until(var).run(us(35));
        script(Block::new().forever(cycle)).steps(5)
    };
    let sleeps = |overrun| {
        let steps = late_by_two_and_a_half_periods(overrun);
        [steps[0].clone(), steps[2].clone(), steps[4].clone()]
    };
    let sleep = |n: u64| format!("SleepUntil({}ns)", n * 1000);
    assert_eq!(sleeps(Overrun::CatchUp), [sleep(10), sleep(20), sleep(30)]);
    assert_eq!(sleeps(Overrun::Skip), [sleep(10), sleep(50), sleep(90)]);
    assert_eq!(sleeps(Overrun::Restart), [sleep(10), sleep(45), sleep(80)]);
}

#[test]
fn a_time_that_is_exactly_reached_is_not_late() {
    assert_eq!(advance(us(10), us(10), us(20), Overrun::Skip), us(20));
    assert_eq!(advance(us(10), us(10), us(21), Overrun::Skip), us(30));
    assert_eq!(advance(us(10), us(0), us(21), Overrun::Skip), us(21));
}

#[test]
fn probes_measure_from_the_intended_time() {
    let (var, latency) = (TimeVar(0), LatencyRecorder::new());
    let cycle = Block::new().advance(var, us(100), Overrun::Skip).sleep_until(var).probe(var, &latency);
    let mut task = script(Block::new().forever(cycle));
    task.step();
    task.now += us(7);
    task.step();
    task.now += us(3);
    task.step();
    let stats = latency.stats();
    assert_eq!((stats.all().count(), stats.all().min_ns(), stats.all().max_ns()), (2, 3_000, 7_000));
}

#[test]
fn time_variables_start_with_the_task() {
    let mut task = script(Block::new().advance(TimeVar(0), us(5), Overrun::CatchUp).sleep_until(TimeVar(0)));
    task.now = us(100);
    assert_eq!(task.until_exit(), ["SleepUntil(105000ns)"]);
}

#[test]
fn bursts_add_up_to_the_total() {
    let mut task = script(Block::new().bursts(us(25), us(10), us(3)));
    assert_eq!(
        task.until_exit(),
        ["Compute(10000ns)", "SleepFor(3000ns)", "Compute(10000ns)", "SleepFor(3000ns)", "Compute(5000ns)"]
    );
    let mut task = script(Block::new().bursts(
        us(500),
        Dist::exponential(Nanos::ZERO, us(40)),
        Dist::exponential(us(1), us(80)),
    ));
    let mut used = Nanos::ZERO;
    loop {
        match task.step() {
            Step::Compute(d) => used += d,
            Step::SleepFor(d) => assert!(d >= us(1)),
            Step::Exit => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(used, us(500));
}

#[test]
fn spinning_is_by_the_clock() {
    let mut task = script(Block::new().run(us(5)).spin(us(10)));
    assert_eq!(task.until_exit(), ["Compute(5000ns)", "SpinUntil(15000ns)"]);
}

#[test]
fn markers_name_the_iteration() {
    let pass = Block::new().marker(Text::with_iteration("pass ", " begins")).iteration();
    let mut task = script(Block::new().marker("start").repeat(Times::Count(2), pass));
    assert_eq!(
        task.until_exit(),
        ["Marker(\"start\")", "Marker(\"pass 0 begins\")", "Marker(\"pass 1 begins\")"]
    );
    assert_eq!(task.iterations, 2);
}

#[test]
fn a_fork_makes_a_fresh_child_each_time() {
    let mut template = Template::new("kid", Program::new(Block::new().run(us(3))).unwrap());
    template.policy = Policy::Fifo(RtPriority::new(5).unwrap());
    let mut task = script(Block::new().repeat(
        Times::Count(2),
        Block::new().fork(Child::from(template.clone()), ForkKind::Vfork).wait_child(),
    ));
    for _ in 0..2 {
        let Step::Fork { child, kind: ForkKind::Vfork } = task.step() else { panic!("no fork") };
        assert_eq!((child.comm.as_str(), child.policy), ("kid", template.policy));
        assert_eq!(child.timer_slack, Nanos::ZERO);
        assert_eq!(Script::boxed(child.behaviour).until_exit(), ["Compute(3000ns)"]);
        assert!(matches!(task.step(), Step::WaitChild));
    }
}

#[test]
fn targets_resolve_when_the_step_is_taken() {
    let set = |target| Block::new().act(Action::SetPolicy { target, policy: Policy::Batch });
    let all = set(Target::Caller).then(set(Target::LastChild)).then(set(Target::Task(TaskId(3))));
    let mut task = script(all);
    task.last_child = Some(TaskId(9));
    let targets: Vec<_> = (0..3)
        .map(|_| match task.step() {
            Step::SetPolicy { target, policy: Policy::Batch } => target,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(targets, [None, Some(TaskId(9)), Some(TaskId(3))]);
}

#[test]
fn an_observer_sees_the_task_and_its_times() {
    #[derive(Debug, Default, Clone)]
    struct Seen(Rc<RefCell<Vec<(u64, Nanos)>>>);
    impl Observer for Seen {
        fn observe(&self, env: &Env<'_>, times: &[Nanos]) {
            self.0.borrow_mut().push((env.counters.nr_migrations, env.now - times[0]));
        }
    }
    let seen = Seen::default();
    let mut task = script(Block::new().mark(TimeVar(0)).run(us(6)).observe(seen.clone()));
    task.counters.nr_migrations = 4;
    task.until_exit();
    assert_eq!(*seen.0.borrow(), [(4, us(6))]);
}

#[test]
fn a_loop_that_may_take_no_step_is_refused() {
    let refused = |body: Block| Program::new(Block::new().forever(body)).unwrap_err();
    let ProgramError::LoopWithoutStep { times } = refused(Block::new().iteration());
    assert_eq!(times, "Forever");
    let maybe = Block::new().repeat(Times::Until(us(5)), Block::new().run(us(1)));
    refused(maybe.clone());
    Program::new(Block::new().forever(maybe.run(us(1)))).unwrap();
    let surely = Block::new().repeat(Times::Count(1), Block::new().run(us(1)));
    Program::new(Block::new().forever(surely)).unwrap();
}
