//! A sweep from its beginning, or from where it was left, to its end.

use crate::archive::Archive;
use crate::chunk::{Chunk, chunks};
use crate::costs::{Costs, pilots, weight};
use crate::engine::{Engine, Finished};
use crate::error::Error;
use crate::folder::Folder;
use crate::metrics::Metrics;
use crate::plan::Plan;
use crate::row::{Outcome, Row};
use crate::{results, summary, verdicts};
use lab::{Clock, Nanos};
use schema::SweepResult;
use std::ops::ControlFlow;
use suggest::suggest;

/// What is to be run, where, and where the results go.
pub struct Sweep<'s> {
    /// All its runs.
    pub plan: &'s Plan,
    /// Where results are, and go.
    pub folder: &'s dyn Folder,
    /// What runs them.
    pub engine: &'s dyn Engine,
    /// For the time that is left; nothing else depends on it.
    pub clock: Option<Clock>,
}

/// How far a sweep is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// All runs.
    pub runs: u64,
    /// Those that have their rows.
    pub done: u64,
    /// Of these, the ones that had them before.
    pub reused: u64,
    /// Of these, the ones that failed.
    pub failed: u64,
    /// How long the rest will take; `None`: nothing is known of that yet.
    pub left: Option<Nanos>,
}

impl Sweep<'_> {
    /// Runs what has no row yet, and sums all up. `progress` is called on this thread, ten times a second at
    /// least while runs are under way; when it breaks, the sweep stops, and what is finished stays.
    ///
    /// # Errors
    /// A value of an axis with which nothing can be run, a metric that no run has, a folder that does not
    /// take the results (what is finished stays), a damaged file in it, an engine that cannot go on;
    /// [`Error::Stopped`].
    pub fn run(&self, progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Result<SweepResult, Error> {
        let mut state = State::new(self)?;
        state.tell(progress)?;
        let open = state.open();
        self.plan.check(&open, self.engine.files())?;
        let mut first: Vec<usize> = pilots(self.plan);
        first.retain(|run| open.binary_search(run).is_ok());
        // Each by itself, to know what it takes.
        let first = first.into_iter().map(|run| Chunk { runs: vec![run], cost_ns: 0.0 }).collect();
        state.go_on(first, progress)?;
        state.check_metrics()?;
        let rest = chunks(self.plan, &state.open(), &state.costs());
        state.go_on(rest, progress)?;
        results::write(self.plan, &state.archive, self.folder, &state.index)?;
        let result = summary::of(self.plan, &state.archive, &state.index)?;
        Ok(SweepResult { verdicts: verdicts::of(self.plan, self.engine.files()), ..result })
    }
}

/// Runs by their hashes. Two runs may have the same: words that say the same make the same experiment.
pub struct Index(Vec<(u128, usize)>);

impl Index {
    fn new(plan: &Plan) -> Index {
        let mut sorted: Vec<(u128, usize)> = plan.hashes().iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        Index(sorted)
    }

    /// All runs with this hash.
    pub fn runs(&self, hash: u128) -> impl Iterator<Item = usize> {
        let start = self.0.partition_point(|(known, _)| *known < hash);
        self.0[start..].iter().take_while(move |(known, _)| *known == hash).map(|(_, run)| *run)
    }
}

struct State<'s> {
    sweep: &'s Sweep<'s>,
    archive: Archive<'s>,
    index: Index,
    /// Which runs have their rows.
    done: Vec<bool>,
    /// Of runs that ran: their events.
    events: Vec<(usize, u64)>,
    metrics: Metrics,
    progress: Progress,
    /// Work of this session that was timed.
    timed_weight: f64,
    timed_ns: f64,
}

impl<'s> State<'s> {
    fn new(sweep: &'s Sweep<'s>) -> Result<State<'s>, Error> {
        let index = Index::new(sweep.plan);
        let mut done = vec![false; sweep.plan.runs()];
        let (mut events, mut metrics, mut failed) = (Vec::new(), Metrics::default(), 0);
        let archive = Archive::open(sweep.folder, |file| {
            let (errors, counted) = (file.texts("error")?, file.numbers("events")?);
            let mut is_ours = false;
            for ((hash, error), counted) in file.runs()?.into_iter().zip(errors).zip(counted) {
                for run in index.runs(hash) {
                    is_ours = true;
                    if !std::mem::replace(&mut done[run], true) {
                        failed += u64::from(error.is_some());
                        events.extend(counted.map(|counted| (run, counted)));
                    }
                }
            }
            if is_ours {
                file.metrics().iter().for_each(|metric| metrics.add(metric));
            }
            Ok(())
        })?;
        let reused = done.iter().filter(|done| **done).count() as u64;
        let progress = Progress { runs: done.len() as u64, done: reused, reused, failed, left: None };
        let (timed_weight, timed_ns) = (0.0, 0.0);
        Ok(State { sweep, archive, index, done, events, metrics, progress, timed_weight, timed_ns })
    }

    /// The runs without rows, one of those with the same hash.
    fn open(&self) -> Vec<usize> {
        let hashes = self.sweep.plan.hashes();
        let is_first = |run: usize| self.index.runs(hashes[run]).next() == Some(run);
        (0..self.done.len()).filter(|run| !self.done[*run] && is_first(*run)).collect()
    }

    fn costs(&self) -> Costs {
        Costs::of(self.sweep.plan, &self.events).measured(self.timed_weight, self.timed_ns)
    }

    fn go_on(
        &mut self,
        chunks: Vec<Chunk>,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let mut problem = None;
        let mut left_ns: f64 = chunks.iter().map(|chunk| chunk.cost_ns).sum();
        let engine = self.sweep.engine;
        if !chunks.is_empty() {
            engine.map(self.sweep.plan, &chunks, &mut |finished| {
                if let Some(finished) = finished {
                    left_ns -= chunks[finished.chunk].cost_ns;
                    if let Err(error) = self.take(finished) {
                        problem = Some(error);
                        return ControlFlow::Break(());
                    }
                    let ns = left_ns.max(0.0) / engine.workers().max(1) as f64;
                    self.progress.left =
                        (self.sweep.clock.is_some() && left_ns > 0.0).then_some(Nanos(ns as u64));
                }
                match self.tell(progress) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(stopped) => {
                        problem = Some(stopped);
                        ControlFlow::Break(())
                    }
                }
            })?;
        }
        problem.map_or(Ok(()), Err)
    }

    /// Says how far it is, and asks whether to go on.
    fn tell(&self, progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Result<(), Error> {
        let Progress { done, runs, .. } = self.progress;
        if progress(&self.progress).is_break() { Err(Error::Stopped { done, runs }) } else { Ok(()) }
    }

    /// Keeps the rows of a chunk.
    fn take(&mut self, finished: Finished) -> Result<(), Error> {
        let Finished { rows, took, .. } = finished;
        self.archive.put(&rows)?;
        for row in &rows {
            let hash = u128::from_str_radix(&row.run, 16).unwrap_or_default();
            let runs: Vec<usize> = self.index.runs(hash).collect();
            for run in runs {
                if std::mem::replace(&mut self.done[run], true) {
                    continue;
                }
                self.progress.done += 1;
                self.count(run, row);
            }
        }
        if let Some(took) = took {
            self.timed_ns += took.0 as f64;
            self.timed_weight += rows.iter().map(|row| weight(row.events())).sum::<f64>();
        }
        Ok(())
    }

    fn count(&mut self, run: usize, row: &Row) {
        match &row.outcome {
            Outcome::Ran { events, figures, .. } => {
                self.events.push((run, *events));
                figures.iter().for_each(|figure| self.metrics.add(&figure.metric));
            }
            Outcome::Failed(_) => self.progress.failed += 1,
        }
    }

    /// Makes sure, as soon as some runs have their figures, that those to be summed up are among them.
    fn check_metrics(&self) -> Result<(), Error> {
        let known: Vec<String> = self.metrics.keys().cloned().collect();
        let unknown = self.sweep.plan.metrics.iter().find(|key| self.metrics.get(key).is_none());
        match unknown.filter(|_| !known.is_empty()) {
            None => Ok(()),
            Some(key) => {
                let nearest = suggest(key, &known).cloned();
                Err(Error::UnknownMetric { key: key.clone(), nearest, known })
            }
        }
    }
}
