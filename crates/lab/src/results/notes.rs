//! What a reader must know before trusting the figures.

use super::{Parts, idle};
use crate::kernel::NamedKernel;
use crate::{DEFAULT_MACHINE, DEFAULT_PROFILE, LoadSpec};
use crate::{groups, limits};
use machine::{DecisionCount, TaskOrigin};
use report::numbers::{duration_ns, exact_duration, many, moment};
use scheduler::registry::{Config, Feature, RtThrottle, RtmutexSpin};
use scheduler::{Nanos, Reason};
use std::num::NonZeroU32;
use workload::replay::{Recording, Throttling};

/// What changes the meaning of the whole result, one sentence each: that of the kernel first.
pub fn warnings(parts: &Parts<'_>) -> Vec<String> {
    let experiment = parts.experiment;
    let of_loads = experiment.loads.iter().flat_map(LoadSpec::warnings);
    // Of the kernel that was asked for; or of that of a recording, whatever runs here.
    let profile = experiment.kernel.profile();
    let asked = experiment.kernel.named().warning(profile);
    let uname = experiment.loads.iter().filter_map(LoadSpec::recorded_kernel);
    let recorded = uname.filter_map(NamedKernel::of_uname).find_map(|kernel| kernel.warning(profile));
    let of_recordings = unknown_kernel(parts).into_iter().chain(unknown_ticks(parts));
    let divided = parts.undivided.iter().cloned();
    let of_machine = idle::warnings(parts);
    let of_kernel = asked.or(recorded).into_iter();
    of_kernel.chain(of_loads).chain(of_recordings).chain(divided).chain(of_machine).collect()
}

/// A recording that does not say its kernel runs under whatever is asked for, or under the default one.
fn unknown_kernel(parts: &Parts<'_>) -> Option<String> {
    let experiment = parts.experiment;
    let is_unknown = |load: &LoadSpec| {
        let recorded = load.recorded()?;
        let is_recording = recorded.replay.has_original() && !recorded.replay.recording().is_told();
        (is_recording && recorded.replay.kernel().is_none()).then(|| load.text().to_owned())
    };
    let recording = experiment.loads.iter().find_map(is_unknown)?;
    let profile = experiment.kernel.profile();
    (profile == DEFAULT_PROFILE).then(|| {
        format!(
            "{recording} does not say which kernel was recorded: it runs as {profile}, and is compared with itself \
             as that, until one is named"
        )
    })
}

/// A recording without a file of its machine runs on the default one.
fn unknown_machine(parts: &Parts<'_>) -> Option<String> {
    let experiment = parts.experiment;
    let is_unknown = |load: &&LoadSpec| {
        load.recorded().is_some_and(|recorded| recorded.replay.has_original())
            && load.described_machine().is_none()
    };
    let recording = experiment.loads.iter().find(is_unknown)?;
    let machine = &experiment.machine.spec().name;
    (machine == DEFAULT_MACHINE).then(|| {
        format!(
            "no file of its machine is beside {} (as `record` writes it): it runs on `{machine}`, whose caches and lock \
             costs are not those of the recorded one",
            recording.text()
        )
    })
}

/// Of groups nobody knows what became of them in a part of the run.
fn whole_run(parts: &Parts<'_>) -> Option<String> {
    let outcome = parts.outcome;
    let told = "what groups used, and what their limits did, is told of the whole run";
    (!outcome.groups.is_empty() && outcome.window.is_some()).then(|| told.to_owned())
}

/// That nothing was found is said, too.
fn checked(parts: &Parts<'_>) -> Option<String> {
    let experiment = parts.experiment;
    let events = many(parts.outcome.events, "event");
    let held = match experiment.check_every.map(NonZeroU32::get) {
        None => format!("checked: all invariants held after each of {events}"),
        Some(every) => format!("checked: all invariants of a moment held, after every {every} of {events}"),
    };
    experiment.check.then_some(held)
}

/// The rest, one sentence each, those about the loads first.
pub fn of(parts: &Parts<'_>) -> Vec<String> {
    let experiment = parts.experiment;
    let mut notes = Vec::new();
    for (spec, built) in experiment.loads.iter().zip(parts.loads) {
        notes.extend(spec.notes());
        notes.extend(built.notes(spec.text()));
        if spec.ends() && !built.is_finished() {
            let at = moment(parts.outcome.simulated.0);
            notes.push(format!("{}: had not finished when the run ended after {at}", spec.text()));
        }
    }
    notes.extend(experiment.kernel.named().note());
    notes.extend(unknown_machine(parts));
    notes.extend(idle::note(parts));
    notes.extend(behind_end(parts));
    notes.extend(ticks(parts));
    notes.extend(waiters(parts));
    notes.extend(throttling(parts));
    notes.extend(throttled(parts));
    notes.extend(lent(parts));
    notes.extend(parts.left_out.iter().cloned());
    notes.extend(whole_run(parts));
    notes.extend(checked(parts));
    notes.extend(groups::of_nobody(&parts.outcome.groups, &parts.outcome.tasks));
    if let [first, rest @ ..] = parts.outcome.stalled.as_slice() {
        let others = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        notes.push(format!(
            "at the end all tasks slept for good: {} ({}) waited for {}{others}",
            first.comm, first.pid, first.waits_for
        ));
    }
    let together = |config: &Config| config.has(Feature::StartDebit) && config.has(Feature::StartNice);
    if experiment.kernel.is_ever(together) {
        notes.push(
            "START_DEBIT and START_NICE together: a child is placed its slice times 4 to the penalty to the right, up to \
             65536 slices; children of a fork storm may wait for minutes (switch one of them off)"
                .to_owned(),
        );
    }
    let ignored = |decision: &&DecisionCount| decision.reason == Reason::SliceIgnored;
    if let Some(ignored) = parts.outcome.decisions.iter().find(ignored).filter(|ignored| ignored.count > 0) {
        notes.push(format!(
            "slices had no effect ({} by sched_setattr): kernels before 6.12 give fair tasks none of their \
             own",
            many(ignored.count, "call")
        ));
    }
    if parts.outcome.outside_lost > 0 {
        notes.push(format!(
            "{} from outside lost: the channel was full",
            many(parts.outcome.outside_lost, "message")
        ));
    }
    for change in experiment.kernel.changes().iter().filter(|c| c.at > parts.outcome.simulated) {
        notes.push(format!(
            "setting {} at {} had no effect: the run ended before",
            change.setting,
            exact_duration(change.at.0)
        ));
    }
    let has_fair_tasks =
        parts.outcome.tasks.iter().any(|t| t.origin != TaskOrigin::Machine && !t.policy.is_rt());
    if has_fair_tasks {
        let note = limits::note(experiment.kernel.profile(), experiment.machine.spec().cpus());
        notes.extend(note.map(str::to_owned));
    }
    notes
}

/// The stretch to tell of was to last longer than the run.
fn behind_end(parts: &Parts<'_>) -> Option<String> {
    let asked = parts.experiment.window?.to;
    let end = parts.outcome.simulated.saturating_sub(super::start(parts.loads));
    (asked != Nanos::NEVER && asked > end).then(|| {
        let (asked, end) = (exact_duration(asked.0), moment(end.0));
        format!("the stretch was to end at {asked}, after the end of the run: it ends at {end}")
    })
}

fn recordings<'a>(parts: &'a Parts<'_>) -> impl Iterator<Item = &'a Recording> {
    parts.experiment.loads.iter().filter_map(|load| Some(load.recorded()?.replay.recording()))
}

/// Ticks a second of this kernel.
fn hz(parts: &Parts<'_>) -> i64 {
    parts.kernel.tunables.get("hz").copied().unwrap_or_default()
}

/// How often the kernel ticks, where a recording decides about it or should.
fn ticks(parts: &Parts<'_>) -> Option<String> {
    let (experiment, here) = (parts.experiment, hz(parts));
    match recordings(parts).find_map(|recording| recording.hz) {
        Some(hz) if !experiment.kernel.says_hz() => {
            Some(format!("hz={hz}, as the recording shows; the setting hz=N brings another rate"))
        }
        Some(hz) if i64::from(hz) != here => Some(format!(
            "the recording kernel ticked {hz} times a second, this one {here} times, as asked for"
        )),
        _ => None,
    }
}

/// Ticks decide how long fair tasks run before others get the CPU; where neither the recording nor the user
/// says how often they come, the profile's rate is a guess.
fn unknown_ticks(parts: &Parts<'_>) -> Option<String> {
    let says = parts.experiment.kernel.says_hz();
    let is_known = says || recordings(parts).any(|recording| recording.hz.is_some());
    let decides = recordings(parts).any(|recording| !recording.is_told());
    let here = hz(parts);
    (decides && !is_known).then(|| {
        format!(
            "how often the recording kernel ticked does not show: hz={here}, as the profile has it, decides when \
             fair tasks are preempted; the setting hz=N says it (`grep CONFIG_HZ= /boot/config-$(uname -r)`)"
        )
    })
}

/// Real-time throttling, where a recording decides about it against the profile.
fn throttling(parts: &Parts<'_>) -> Option<String> {
    let own = parts.experiment.kernel.at_start().ok()?.rules.rt_throttle.get();
    let why = match parts.experiment.recorded_throttling() {
        Throttling::Seen if own == RtThrottle::Off => {
            "rt_throttle=root, as the recording shows: CPUs idled beside waiting real-time tasks, so its kernel was \
             built with RT_GROUP_SCHED"
        }
        Throttling::Groups => {
            "rt_throttle=groups, as the recording shows: its kernel was built with RT_GROUP_SCHED, and groups have \
             limits of real-time"
        }
        Throttling::NotSeen | Throttling::Seen => return None,
    };
    Some(format!("{why}; the setting rt_throttle={} brings the profile's rule", own.name()))
}

/// Real-time tasks waited although nothing but their budget was in the way: that of the machine. What groups
/// have used up, their table says.
fn throttled(parts: &Parts<'_>) -> Option<String> {
    let experiment = parts.experiment;
    let counted = parts.outcome.decisions.iter().find(|decision| decision.reason == Reason::Throttled)?;
    let limits = parts.outcome.groups.iter().filter_map(|group| group.rt.as_ref());
    let by_root = counted.count.saturating_sub(limits.map(|limit| limit.nr_throttled).sum());
    if by_root == 0 {
        return None;
    }
    let told = format!("real-time tasks were throttled {}", many(by_root, "time"));
    let changes = experiment.kernel.changes().iter().any(|change| change.setting.contains("sched_rt_"));
    if changes {
        return Some(format!("{told}: they may use sched_rt_runtime_us of each sched_rt_period_us of a CPU"));
    }
    let tunables = experiment.kernel.at_start().ok()?.tunables;
    let (runtime, period) = (tunables.sched_rt_runtime_us.get(), tunables.sched_rt_period_us.get());
    Some(format!("{told}: they may use {runtime} of each {period} us of a CPU (sched_rt_runtime_us)"))
}

/// A CPU, or a group on it, may use more than its share, where others have something left of theirs.
fn lent(parts: &Parts<'_>) -> Option<String> {
    let borrowed = parts.outcome.rt_borrowed;
    (borrowed > Nanos::ZERO).then(|| {
        format!(
            "CPUs lent each other {} of real-time run time: one may use more than its share while others leave \
             some (RT_RUNTIME_SHARE, which is on before 5.10; the setting NO_RT_RUNTIME_SHARE ends that)",
            duration_ns(borrowed.0)
        )
    })
}

/// The rule for waiters, where a recording decides about it against the profile.
fn waiters(parts: &Parts<'_>) -> Option<String> {
    let kernel = &parts.experiment.kernel;
    let spins = |config: Config| config.rules.rtmutex_spin.get() != RtmutexSpin::Never;
    let is_changed = parts.experiment.was_recorded_without_spinning() && kernel.at_start().is_ok_and(spins);
    is_changed.then(|| {
        "rtmutex_spin=never, as the recording shows: who waits for a mutex with inheritance sleeps and does not spin; the \
         setting rtmutex_spin=owner_on_cpu brings the profile's rule"
            .to_owned()
    })
}
