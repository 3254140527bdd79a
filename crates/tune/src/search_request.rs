//! A whole search: from what is asked to the answer.

use crate::error::Error;
use crate::goal::{Goal, value};
use crate::lab_trials::Words;
use crate::search::{Scenario, Scenarios, Search};
use lab::{Experiment, Nanos, RunResult, Sources};
use rayon::prelude::*;
use schema::{Metric, RedrawText, SearchMethod, SearchResult, SearchSchema};

/// What is asked.
#[derive(Clone, Debug)]
pub struct SearchRequest<'r> {
    /// The experiment. The search's own choices derive from its seed.
    pub words: Words<'r>,
    /// The figure, and where it is to go.
    pub goal: Goal,
    /// How runs are chosen.
    pub method: SearchMethod,
    /// Number of runs at most.
    pub runs: u64,
    /// A value at which it is enough: `300us`.
    pub until: Option<&'r str>,
}

/// Looks for the worst run. `told` is called after each batch with the number of runs so far. The answer does
/// not depend on the number of threads. When the experiment's `stop` is set, it is what was found until then.
///
/// # Errors
/// An unknown figure, a value that is none; a first run that fails. (Later ones that fail are counted.)
pub fn search(
    request: &SearchRequest<'_>,
    files: &dyn Sources,
    told: &dyn Fn(u64),
) -> Result<SearchResult, Error> {
    let plan = request.words.plan(&[], 1, files)?;
    let asked = Experiment { redraws: Vec::new(), ..plan.of_arm(&plan.base) };
    // How close a replay comes to its recording says nothing of the figure.
    let experiment = Experiment { fidelity: false, ..asked.clone() };
    let first = experiment.run()?.result;
    let figures = report::compare::measure(&first);
    let metrics: Vec<Metric> = figures.into_iter().map(|figure| figure.metric).collect();
    let metric = request.goal.metric(&metrics)?;
    let until = request.until.map(|text| {
        value(text, metric.unit).map_err(|problem| Error::Until { text: text.to_owned(), problem })
    });
    let search = Search {
        method: request.method,
        direction: request.goal.direction,
        seed: experiment.seed,
        length: experiment.duration.unwrap_or(Nanos(first.engine.simulated_ns)).max(Nanos(1)),
        runs: request.runs,
        until: until.transpose()?,
    };
    let runs = LabScenarios { words: &request.words, experiment: &experiment, key: &metric.key };
    let found = search.run(&runs, &|made, _| told(made));
    let mut text = asked.text().unwrap_or_default();
    text.seed = found.worst.seed;
    text.redraws = redraws(&found.worst);
    Ok(SearchResult {
        schema: SearchSchema,
        command: None,
        version: first.engine.version,
        loads: first.loads.iter().map(|load| load.load().to_owned()).collect(),
        goal: request.goal.text.clone(),
        direction: request.goal.direction,
        metric,
        method: request.method,
        runs: found.runs,
        stopped: found.is_stopped,
        failed: found.failed,
        records: found.records,
        reached: found.reached,
        experiment: text,
    })
}

fn redraws(scenario: &Scenario) -> Vec<RedrawText> {
    scenario.redraws.iter().map(|redraw| RedrawText { at_ns: redraw.at.0, seed: redraw.seed }).collect()
}

/// Runs scenarios of an experiment, on all cores.
struct LabScenarios<'e> {
    words: &'e Words<'e>,
    experiment: &'e Experiment,
    key: &'e str,
}

impl Scenarios for LabScenarios<'_> {
    fn run(&self, scenarios: &[Scenario]) -> Option<Vec<Option<u64>>> {
        let figure = |run: &RunResult| {
            let figures = report::compare::measure(run);
            figures.iter().find(|figure| figure.metric.key == self.key).map(|figure| figure.value)
        };
        let run = |Scenario { seed, redraws }: &Scenario| {
            let one = Experiment { seed: *seed, redraws: redraws.clone(), ..self.experiment.clone() };
            one.run().ok().and_then(|run| figure(&run.result))
        };
        let figures = scenarios.par_iter().map(run).collect();
        (!self.words.is_stopped()).then_some(figures)
    }
}
