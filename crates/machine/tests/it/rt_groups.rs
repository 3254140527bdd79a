//! Groups of real-time tasks on a whole machine (deadline-groups B9). What a 6.18 kernel did with one is the
//! reference rt-group in validation/.

use crate::script::{ideal, ms};
use machine::{
    Behaviour, Env, GroupSpec, Machine, MutexKind, Outcome, RtLimitSpec, RunError, RunOptions, Setup, Step,
    TaskSpec, TimedSetting,
};
use proptest::collection::vec;
use proptest::prelude::*;
use scheduler::dl::NotAdmitted;
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, DlParams, GroupId, MutexId, Nanos, Policy, RtPriority};

/// Does these steps, then hogs the CPU.
#[derive(Debug)]
struct Then(std::vec::IntoIter<Step>);

impl Then {
    fn of(steps: impl IntoIterator<Item = Step>) -> Then {
        Then(steps.into_iter().collect::<Vec<_>>().into_iter())
    }
}

impl Behaviour for Then {
    fn next(&mut self, _: &mut Env<'_>) -> Step {
        self.0.next().unwrap_or(Step::Compute(ms(1)))
    }
}

fn fifo(priority: u8) -> Policy {
    Policy::Fifo(RtPriority::new(priority).expect("1 to 99"))
}

fn hog(comm: &str, policy: Policy, steps: impl IntoIterator<Item = Step>) -> TaskSpec {
    TaskSpec { policy, ..TaskSpec::new(comm, Then::of(steps)) }
}

fn pinned(cpu: u16, spec: TaskSpec) -> TaskSpec {
    TaskSpec { cpus: Some(CpuMask::single(CpuId(cpu))), ..spec }
}

fn group(setup: &mut Setup, name: &str, parent: GroupId, runtime: u64, period: u64) -> GroupId {
    let rt = Some(RtLimitSpec { runtime: Some(ms(runtime)), period: Some(ms(period)) });
    setup.group(GroupSpec { parent, rt, ..GroupSpec::new(name) })
}

fn run(cpus: usize, settings: &[&str], setup: Setup, length: Nanos) -> Result<Outcome, RunError> {
    run_with(cpus, settings, setup, RunOptions { duration: length, check: true, ..RunOptions::default() })
}

fn run_with(cpus: usize, settings: &[&str], setup: Setup, options: RunOptions) -> Result<Outcome, RunError> {
    let config = Config::of_profile("6.18.y").expect("a profile");
    let all = ["hz=250", "rt_throttle=groups", "NO_RT_RUNTIME_SHARE"];
    all.iter().chain(settings).for_each(|setting| config.set(setting).expect("a setting"));
    Machine::new(ideal(cpus), config, setup, options)?.run()
}

fn in_group(group: GroupId, spec: TaskSpec) -> TaskSpec {
    TaskSpec { group: Some(group), ..spec }
}

/// 100 ms of each second, as recorded; fair tasks have the rest, and are not counted.
#[test]
fn a_group_has_its_runtime_in_each_period() {
    let mut setup = Setup::new(1);
    let audio = group(&mut setup, "audio", GroupId::ROOT, 100, 1000);
    setup.spawn(Nanos::ZERO, in_group(audio, hog("hog", fifo(10), [])));
    setup.spawn(Nanos::ZERO, hog("fair", Policy::Normal, []));
    let outcome = run(1, &[], setup, ms(4_000)).expect("a run");
    let rt = outcome.groups[0].rt.expect("it has a limit");
    assert_eq!(rt.nr_throttled, 4);
    assert!((ms(400)..ms(408)).contains(&rt.usage) && outcome.groups[0].usage == rt.usage, "{rt:?}");
    assert_eq!(rt.throttled + rt.usage, ms(4_000));
    let fair = outcome.tasks.iter().find(|task| &*task.comm == "fair").expect("it ran");
    assert_eq!(fair.counters.sum_exec_runtime, rt.throttled);
}

/// A group that goes on after it was throttled counts in the root's queue again, and so starts the root's
/// timer, which had nothing to account meanwhile: or else what the group uses adds up there until all
/// real-time tasks have to wait, after 9.5 s.
#[test]
fn what_a_group_uses_does_not_add_up_in_those_above() {
    let mut setup = Setup::new(1);
    let outer = group(&mut setup, "outer", GroupId::ROOT, 300, 1000);
    let inner = group(&mut setup, "outer/inner", outer, 100, 1000);
    setup.spawn(Nanos::ZERO, in_group(inner, hog("hog", fifo(10), [])));
    let outcome = run(1, &[], setup, ms(20_000)).expect("a run");
    let [outer, inner] = [0, 1].map(|n| outcome.groups[n].rt.expect("it has a limit"));
    assert!((ms(2_000)..ms(2_040)).contains(&inner.usage), "{inner:?}");
    assert_eq!((inner.nr_throttled, outer.nr_throttled), (20, 0));
    assert_eq!(inner.throttled + inner.usage, ms(20_000));
}

/// By a kernel without such groups nothing of it is looked at.
#[test]
fn without_rt_group_sched_there_is_no_limit() {
    let mut setup = Setup::new(1);
    let audio = group(&mut setup, "audio", GroupId::ROOT, 0, 1000);
    setup.spawn(Nanos::ZERO, in_group(audio, hog("hog", fifo(10), [])));
    let outcome = run(1, &["rt_throttle=off"], setup, ms(100)).expect("a run");
    assert_eq!((outcome.groups[0].rt, outcome.tasks[0].counters.sum_exec_runtime), (None, ms(100)));
}

/// EPERM: at the start, and where a task asks later; deadline tasks may be there (recorded as rt-group-0).
#[test]
fn a_group_without_runtime_refuses_real_time_tasks() {
    let told = |spec: TaskSpec| {
        let mut setup = Setup::new(1);
        let audio = group(&mut setup, "audio", GroupId::ROOT, 0, 1000);
        setup.spawn(Nanos::ZERO, in_group(audio, spec));
        run(1, &["dl_class=on"], setup, ms(10)).err()
    };
    let is_refused = |error: &Option<RunError>| {
        matches!(error, Some(RunError::NotAdmitted { why: NotAdmitted::NoRtRuntime, .. }))
    };
    let at_once = told(hog("hog", fifo(10), []));
    assert!(is_refused(&at_once), "{at_once:?}");
    let text = at_once.map(|error| error.to_string()).expect("an error");
    assert!(text.starts_with("task hog (1000): its task group has no time for SCHED_FIFO"), "{text}");
    let asks = Step::SetPolicy { target: None, policy: fifo(1) };
    assert!(is_refused(&told(hog("hog", Policy::Normal, [asks]))));
    let deadline = DlParams::new(ms(1), ms(5), ms(5)).expect("legal");
    assert_eq!(told(hog("hog", Policy::Deadline(deadline), [])), None);
}

/// What groups may not have is refused before anything runs.
#[test]
fn more_than_the_group_above_has_is_refused() {
    let mut setup = Setup::new(1);
    let above = group(&mut setup, "a", GroupId::ROOT, 100, 1000);
    group(&mut setup, "a/b", above, 60, 1000);
    group(&mut setup, "a/c", above, 60, 1000);
    let error = run(1, &[], setup, ms(1)).expect_err("EINVAL").to_string();
    assert!(error.starts_with("task group a/c: ") && error.contains("groups below a have more"), "{error}");
}

/// The root may not be left with less than its groups have: EINVAL, before anything runs. Where it is left
/// with enough the write counts.
#[test]
fn a_write_that_the_groups_forbid_is_refused() {
    let ends = |runtime: u64, setting: &str| {
        let mut setup = Setup::new(1);
        group(&mut setup, "audio", GroupId::ROOT, runtime, 1000);
        setup.spawn(Nanos::ZERO, hog("hog", fifo(10), []));
        let settings = vec![TimedSetting { at: ms(1), setting: setting.to_owned() }];
        let options = RunOptions { duration: ms(3_000), check: true, settings, ..RunOptions::default() };
        run_with(1, &[], setup, options).map(|outcome| outcome.tasks[0].counters.sum_exec_runtime)
    };
    let error = ends(300, "sched_rt_runtime_us=200000").expect_err("EINVAL").to_string();
    assert!(
        error.starts_with("`sched_rt_runtime_us=200000` at 0.001000000 s: task group audio: "),
        "{error}"
    );
    let ran = ends(100, "sched_rt_runtime_us=200000").expect("there is room");
    assert!((ms(600)..ms(615)).contains(&ran), "200 of each 1000 ms, and up to a tick: {ran}");
    assert_eq!(ends(0, "sched_rt_runtime_us=200000").expect("there is room"), ran);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Random hierarchies of FIFO hogs that take a PI mutex now and then: the checkers agree at each step,
    /// and where nobody can be boosted no group has more than its runtime, and a tick, in each period.
    #[test]
    fn groups_keep_to_their_limits(
        cpus in 1_usize..4,
        groups in vec((0_usize..6, 1_u64..12, 20_u64..60), 1..6),
        tasks in vec((0_usize..6, 1_u8..6, any::<bool>()), 1..9),
        locks in any::<bool>(),
    ) {
        let mut setup = Setup::new(cpus);
        let mutex = setup.mutex("m", MutexKind::Pi);
        let mut made: Vec<(GroupId, u64, u64, u64)> = Vec::new();
        for (n, (parent, runtime, period)) in groups.iter().enumerate() {
            // Parts of a CPU in millionths: no more than a fifth of what the group above has.
            let above = made.get(*parent).copied();
            let (id, part) = above.map_or((GroupId::ROOT, 950_000), |(id, _, _, part)| (id, part));
            let own = (runtime * 1_000_000 / period).min(part / 6);
            let runtime = own * period / 1_000_000;
            let made_now = group(&mut setup, &format!("g{n}"), id, runtime, *period);
            made.push((made_now, runtime, *period, runtime * 1_000_000 / period));
        }
        for (n, (place, priority, pins)) in tasks.iter().enumerate() {
            let steps = if locks { steps(mutex) } else { Vec::new() };
            let spec = hog(&format!("t{n}"), fifo(*priority), steps);
            let spec = if *pins { pinned(0, spec) } else { spec };
            let with_time = made.get(*place).filter(|(_, runtime, ..)| *runtime > 0);
            setup.spawn(Nanos::ZERO, match with_time {
                Some((id, ..)) => in_group(*id, spec),
                None => spec,
            });
        }
        let length = 400;
        let outcome = run(cpus, &[], setup, ms(length));
        let outcome = outcome.map_err(|error| TestCaseError::fail(error.to_string()))?;
        for (group, (_, runtime, period, _)) in outcome.groups.iter().zip(&made) {
            let rt = group.rt.expect("it has a limit");
            let most = ms(cpus as u64 * (runtime * (length / period + 1) + 4));
            prop_assert!(locks || *runtime == 0 || rt.usage <= most, "{}: {rt:?}", group.spec.name);
        }
    }
}

/// Takes the mutex three times.
fn steps(mutex: MutexId) -> Vec<Step> {
    let turn = || [Step::Lock(mutex), Step::Compute(ms(3)), Step::Unlock(mutex), Step::SleepFor(ms(2))];
    (0..3).flat_map(|_| turn()).collect()
}
