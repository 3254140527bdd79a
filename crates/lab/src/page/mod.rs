//! Results as pages for a browser: what they say, and the timelines of what happened.

mod recorded;
mod why;

use crate::compare::{Arm, Plan};
use crate::error::Error;
use crate::experiment::{Experiment, Logged, Run};
use crate::inspect::Inspection;
use crate::parallel;
use crate::sources::{Sources, shown};
use recorded::timeline;
use report::page::timeline::{LogPart, of_log};
use report::page::{Content, Page, Timeline};
use scheduler::Reason;
use schema::recordings::RecordingsComparison;
use schema::{InspectResult, Window};
use std::collections::BTreeMap;
pub use why::{Explained, why_with_page};

/// What each reason of the scheduler means.
fn meanings() -> BTreeMap<&'static str, &'static str> {
    Reason::ALL.iter().map(|reason| (reason.name(), reason.meaning())).collect()
}

impl Run {
    /// The run as a page; with its timeline, if it was recorded.
    #[must_use]
    pub fn page(&self) -> Page {
        let content = self.content();
        let timeline = |logged: &Logged| logged.timeline("run", self.result.window);
        Page { content, timelines: self.logged.iter().map(timeline).collect() }
    }

    fn content(&self) -> Content {
        let meanings = meanings();
        Content::of_run(&self.result, |reason| meanings.get(reason).copied().unwrap_or(""))
    }
}

impl Logged {
    /// The timeline of a stretch of the run; without one, of all of it.
    #[must_use]
    pub fn timeline(&self, name: &str, window: Option<Window>) -> Timeline {
        let head = &self.log.head;
        let to_ns = head.simulated_ns.saturating_sub(self.start.0);
        let meanings = meanings();
        let part = LogPart {
            name,
            cpus: head.machine.cpus,
            tasks: &head.tasks,
            groups: &head.groups,
            records: &self.log.records,
            zero: schema::Nanos(self.start.0),
            window: window.unwrap_or(Window { from_ns: 0, to_ns }),
        };
        of_log(part, |reason| meanings.get(reason).copied().unwrap_or(""))
    }
}

/// A timeline of each configuration's run with the first seed. These runs are made again for it: they are the
/// same, and a log of all would take much room. `finished` is called after each, from any thread.
///
/// # Errors
/// Those of [`Experiment::run`].
pub fn comparison_timelines(plan: &Plan, finished: &(dyn Fn() + Sync)) -> Result<Vec<Timeline>, Error> {
    let arms: Vec<&Arm> = std::iter::once(&plan.base).chain(&plan.variants).collect();
    let timelines = parallel::map(&arms, |arm| {
        let experiment = Experiment { record: true, fidelity: false, ..plan.of_arm(arm) };
        let run = experiment.run()?;
        finished();
        let timeline = |logged: &Logged| logged.timeline(&arm.name, run.result.window);
        Ok(run.logged.as_ref().map(timeline))
    });
    let timelines: Vec<Option<Timeline>> = timelines.into_iter().collect::<Result<_, Error>>()?;
    Ok(timelines.into_iter().flatten().collect())
}

/// What is in a trace, and its timeline.
#[derive(Clone, PartialEq, Debug)]
pub struct Inspected<R> {
    /// What is in it.
    pub result: R,
    /// What happened in it; of two traces, in each.
    pub timelines: Vec<Timeline>,
}

/// [`inspect`](crate::inspect), with the timeline of the trace.
///
/// # Errors
/// Those of `inspect`.
pub fn inspect_with_timeline(
    path: &str,
    asked: &Inspection,
    files: &dyn Sources,
) -> Result<Inspected<InspectResult>, Error> {
    let opened = crate::inspect::open(path, asked, files)?;
    let timelines = vec![timeline(&shown(path), &opened)];
    Ok(Inspected { result: crate::inspect::look(path, opened, asked)?, timelines })
}

/// [`inspect_both`](crate::inspect_both), with the timelines of the traces.
///
/// # Errors
/// Those of `inspect_both`.
pub fn inspect_both_with_timelines(
    paths: [&str; 2],
    asked: &Inspection,
    files: &dyn Sources,
) -> Result<Inspected<RecordingsComparison>, Error> {
    let opened = crate::side_by_side::open(paths, asked, files)?;
    let timelines = paths.iter().zip(&opened).map(|(path, opened)| timeline(&shown(path), opened)).collect();
    Ok(Inspected { result: crate::side_by_side::look(paths, &opened, asked)?, timelines })
}
