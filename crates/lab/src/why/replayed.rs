//! What would have helped in a recording. Nothing in it can be changed, so that is tried in its replay,
//! against the wakeup there that is most like the recorded one, if the replay is near enough.

use super::remedies::{Late, remedies};
use super::{is_near, meaning, run_recorded};
use crate::error::Error;
use crate::experiment::{Experiment, Logged, Run};
use report::why::{Waits, Wakeups};
use scheduler::{Nanos, Pid};
use schema::why::{Due, Explanation, Remedies, ReplayedWait, WhyResult};

/// Tries it against the first waits of a recording whose first event is at `zero`.
pub(super) fn try_in(
    why: &mut WhyResult,
    zero: Nanos,
    replay: &Experiment,
    tries: Option<usize>,
) -> Result<(), Error> {
    let (run, experiment) = run_recorded(replay)?;
    let machine = &run.result.machine.name;
    let verdicts = run.result.replay.iter().map(|replay| replay.verdict.sentence.as_str());
    let verdict = verdicts.collect::<Vec<_>>().join("; ");
    if tries.is_none() && !is_near(&run) {
        why.notes.push(format!(
            "what would have helped is not tried: a replay on machine {machine} is {verdict}, so what helps \
             there may not help here"
        ));
        return Ok(());
    }
    let replay = Replay { experiment: &experiment, run: &run, zero };
    let mut were_tried = false;
    for one in why.explanations.iter_mut().take(tries.unwrap_or(1)) {
        one.remedies = replay.remedies(one);
        were_tried |= one.remedies.is_some();
        if one.remedies.is_none() {
            why.notes.push(format!(
                "what would have helped {} is not tried: in a replay on machine {machine} it waits \
                 nowhere about as long",
                one.task.comm
            ));
        }
    }
    if were_tried {
        why.notes.push(format!(
            "what would have helped was tried in a replay on machine {machine}, which is {verdict}"
        ));
    }
    Ok(())
}

struct Replay<'r> {
    experiment: &'r Experiment,
    run: &'r Run,
    /// The first event of the recording, on its clock.
    zero: Nanos,
}

impl Replay<'_> {
    /// What helps against a wakeup that is like a recorded one, on the recording's clock, if there is one.
    fn remedies(&self, recorded: &Explanation) -> Option<Remedies> {
        let logged = self.run.logged.as_ref()?;
        let pid = simulated(logged, recorded)?;
        let waits = if began(recorded) == Began::Woken { Waits::Wakeups } else { Waits::Runnable };
        let wakeups = Wakeups::of_waits(&logged.log, waits, |of, _| of.0 == pid.0);
        let number = self.most_like(&wakeups, recorded)?;
        let one = wakeups.explain(number, meaning);
        let comm = &*one.task.comm;
        let late = Late {
            run: &self.run.result,
            one: &one,
            nth: wakeups.nth_of_its_task(number),
            waits,
            alike: &Wakeups::of_waits(&logged.log, waits, |_, of| of == comm),
            log: &logged.log,
            recorded_pids: &logged.recorded_pids,
        };
        let found = remedies(self.experiment, &late);
        let replayed = ReplayedWait { due_at: self.on_clock(one.due_at), latency: one.latency };
        Some(Remedies { from: self.on_clock(found.from), replayed: Some(replayed), ..found })
    }

    /// One that begins in the same way and is between half as long and twice as long, of these the nearest in
    /// time.
    fn most_like(&self, wakeups: &Wakeups, recorded: &Explanation) -> Option<usize> {
        let wanted = recorded.latency.0;
        let all = 0..wakeups.len();
        let mut alike: Vec<usize> =
            all.filter(|number| (wanted / 2..=2 * wanted).contains(&wakeups.latency(*number).0)).collect();
        alike.sort_by_key(|number| self.on_clock(wakeups.due_at(*number)).0.abs_diff(recorded.due_at.0));
        let begins = began(recorded);
        let is_same = |number: &usize| began(&wakeups.explain(*number, meaning)) == begins;
        alike.into_iter().filter(|_| begins != Began::Unseen).find(is_same)
    }

    /// A time of the run on the clock of the recording.
    fn on_clock(&self, time: schema::Nanos) -> schema::Nanos {
        let start = self.run.logged.as_ref().map_or(Nanos::ZERO, |logged| logged.start);
        schema::Nanos((time.0 + self.zero.0).saturating_sub(start.0))
    }
}

/// How a wait begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Began {
    Woken,
    /// It was preempted, or throttled. Which of them a recording does not tell: the kernel says neither.
    Stopped,
    Unseen,
}

fn began(one: &Explanation) -> Began {
    match one.due {
        Due::Preempted { .. } | Due::Throttled { .. } => Began::Stopped,
        Due::Unknown {} => Began::Unseen,
        _ => Began::Woken,
    }
}

/// The pid in the run of the task that waits.
fn simulated(logged: &Logged, recorded: &Explanation) -> Option<Pid> {
    let is_it = |known: &u32| *known == recorded.task.pid.0.unsigned_abs();
    logged.recorded_pids.iter().find(|(_, known)| is_it(known)).map(|(pid, _)| *pid)
}
