//! The worst case on purpose: which run, of all that the loads and the machine allow, is worst in a figure.
//!
//! What a run draws at random, it draws from keyed streams: what tasks do and when they come, disturbances
//! and timers of the CPUs, dice of the scheduler. A [`Scenario`] is a seed, and moments at which all
//! streams go on from another one, so every scenario is a run that could have been: each draw is within the
//! bounds that its load or machine states.
//!
//! The guided search is importance splitting with elites. A rare event has a history: a queue that has
//! built up, a timer that is about to expire. So most runs repeat one of the worst runs so far up to a
//! moment shortly before its worst, and draw anew from there. Where that moment is, the children themselves
//! tell, since each is a test: one that draws anew at some moment and has exactly its parent's figure was
//! worst before it, one that stays below was worst behind it. So the first children of an elite halve the
//! interval in which the moment lies; the others begin a little before it, by distances from one end of the
//! scale to the other. Every fourth run is a new seed, so that the search does not stay where it began.
//! (That is exact of maxima and sums. Of a mean or a percentile, which have no moment, it is a way to
//! choose.)
//!
//! Gradient methods and surrogate models were not taken: a figure is no smooth function of a seed.

use lab::Nanos;
use lab::machine::{Purpose, Redraw, Rng};
use schema::{SearchMethod, SearchRecord, TuneDirection};
use std::cmp::Ordering;

/// Runs that are chosen together, so that what is chosen does not depend on how many run at a time.
const BATCH: usize = 16;
/// Of these, so many have new seeds.
const NEW: usize = 4;
/// So many of the worst have children.
const ELITES: usize = 4;
/// An interval that is so many times as short as the run is short enough.
const FINE: u64 = 512;
/// Children draw anew between the length of a run over two to this power before their parent's worst moment,
/// and half of that length.
const SCALE: u64 = 12;

/// A run that could be.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Scenario {
    /// Everything random derives from it at first.
    pub seed: u64,
    /// And from these later on, in the order of time.
    pub redraws: Vec<Redraw>,
}

/// Whoever makes runs.
pub trait Scenarios {
    /// The figure of each, in this order; `None` of a run that failed or has no such figure. The same
    /// scenario always has the same. Nothing at all: somebody stopped it.
    fn run(&self, scenarios: &[Scenario]) -> Option<Vec<Option<u64>>>;
}

/// What is searched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Search {
    /// How.
    pub method: SearchMethod,
    /// Where the figure is to go.
    pub direction: TuneDirection,
    /// The search's own choices derive from it, and the seeds of its runs.
    pub seed: u64,
    /// Simulated time of a run, above 0.
    pub length: Nanos,
    /// So many runs at most.
    pub runs: u64,
    /// A value at which it is enough.
    pub until: Option<u64>,
}

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Searched {
    /// Runs that were made.
    pub runs: u64,
    /// Of these, the ones without a figure.
    pub failed: u64,
    /// Those that went beyond all before them.
    pub records: Vec<SearchRecord>,
    /// The first that reached the wanted value.
    pub reached: Option<SearchRecord>,
    /// The worst.
    pub worst: Scenario,
    /// Somebody stopped it; what it found until then is as if no more runs had been wanted.
    pub is_stopped: bool,
}

/// One of the worst runs so far, and the interval in which its worst moment lies.
#[derive(Clone, Debug)]
struct Elite {
    scenario: Scenario,
    value: u64,
    after: Nanos,
    until: Nanos,
}

impl Search {
    /// Searches; `told` is called after each batch with the number of runs and the worst figure so far.
    pub fn run(&self, scenarios: &dyn Scenarios, told: &dyn Fn(u64, Option<u64>)) -> Searched {
        let mut dice = Rng::keyed(self.seed, Purpose::Load, u64::MAX);
        let mut elites: Vec<Elite> = Vec::new();
        let mut found = Searched::default();
        while found.runs < self.runs && found.reached.is_none() {
            // The last batch is as long as what is left.
            let left = usize::try_from(self.runs - found.runs).unwrap_or(usize::MAX);
            let places = 0..BATCH.min(left);
            let chosen: Vec<Choice> = places.map(|place| self.choose(place, &elites, &mut dice)).collect();
            let batch: Vec<Scenario> = chosen.iter().map(|choice| choice.scenario.clone()).collect();
            let Some(values) = scenarios.run(&batch) else {
                found.is_stopped = true;
                break;
            };
            for (choice, value) in chosen.into_iter().zip(values) {
                found.runs += 1;
                let Some(value) = value else {
                    found.failed += 1;
                    continue;
                };
                self.note(&mut found, &choice.scenario, value);
                let (after, until) = self.learn(&mut elites, &choice, value);
                elites.push(Elite { scenario: choice.scenario, value, after, until });
            }
            // Stable: of equals the first stays. Two with one figure have one history.
            elites.sort_by(|a, b| self.worse_first(a.value, b.value));
            elites.dedup_by(|later, first| later.value == first.value);
            elites.truncate(ELITES);
            told(found.runs, elites.first().map(|elite| elite.value));
        }
        found
    }

    fn worse_first(&self, a: u64, b: u64) -> Ordering {
        match self.direction {
            TuneDirection::Maximize => b.cmp(&a),
            TuneDirection::Minimize => a.cmp(&b),
        }
    }

    fn note(&self, found: &mut Searched, scenario: &Scenario, value: u64) {
        let is_worse = |than: u64| self.worse_first(value, than).is_lt();
        if found.records.last().is_some_and(|last| !is_worse(last.value)) {
            return;
        }
        let record = SearchRecord { run: found.runs, value, redraws: scenario.redraws.len() as u64 };
        found.records.push(record);
        found.worst = scenario.clone();
        if found.reached.is_none()
            && self.until.is_some_and(|wanted| !self.worse_first(wanted, value).is_lt())
        {
            found.reached = Some(record);
        }
    }

    /// What a child tells of its parent's worst moment, and of its own: the interval in which that lies.
    fn learn(&self, elites: &mut [Elite], child: &Choice, value: u64) -> (Nanos, Nanos) {
        let all = (Nanos::ZERO, self.length);
        let Some(parent) = &child.parent else { return all };
        let elite = elites.iter_mut().find(|elite| elite.scenario == parent.scenario);
        match self.worse_first(value, parent.value) {
            // What is worse than all that its parent did is not of their common history.
            Ordering::Less => (parent.at, self.length),
            Ordering::Equal => {
                if let Some(elite) = elite {
                    elite.until = elite.until.min(parent.at).max(elite.after);
                }
                (Nanos::ZERO, parent.at)
            }
            Ordering::Greater => {
                if let Some(elite) = elite {
                    elite.after = elite.after.max(parent.at).min(elite.until);
                }
                all
            }
        }
    }

    /// The run at this place of a batch.
    fn choose(&self, place: usize, elites: &[Elite], dice: &mut Rng) -> Choice {
        let seed = dice.bits();
        let is_new = self.method == SearchMethod::Random || place < NEW || elites.is_empty();
        if is_new {
            return Choice { scenario: Scenario { seed, redraws: Vec::new() }, parent: None };
        }
        // The worst have the most children.
        let rank = (dice.below(elites.len() as u64)).min(dice.below(elites.len() as u64)) as usize;
        let elite = &elites[rank];
        let (after, until) = (elite.after.0, elite.until.0);
        let at = if until - after > self.length.0 / FINE {
            // Anywhere in the middle half: several children of one batch are not to ask the same.
            after + (until - after) / 4 + dice.below((until - after) / 2)
        } else {
            // As often between 1 and 2 steps before it as between 512 and 1024.
            let step = (self.length.0 >> SCALE).max(1) << dice.below(SCALE - 1);
            until.saturating_sub(step + dice.below(step))
        };
        let at = Nanos(at.max(1));
        let mut redraws: Vec<Redraw> =
            elite.scenario.redraws.iter().copied().filter(|redraw| redraw.at < at).collect();
        redraws.push(Redraw { at, seed });
        let parent = Some(Parent { value: elite.value, scenario: elite.scenario.clone(), at });
        Choice { scenario: Scenario { seed: elite.scenario.seed, redraws }, parent }
    }
}

/// A run to be made.
struct Choice {
    scenario: Scenario,
    parent: Option<Parent>,
}

/// Of whom it is a child, and from which moment on it is another run.
struct Parent {
    value: u64,
    scenario: Scenario,
    at: Nanos,
}

#[cfg(test)]
mod tests {
    use super::*;
    use TuneDirection::Maximize;

    /// A queue of which every microsecond one is taken, and zero to two come: a walk that goes back to 0.
    struct Queue;

    const STEP: u64 = 1_000;
    const LENGTH: Nanos = Nanos(400 * STEP);

    impl Scenarios for Queue {
        fn run(&self, scenarios: &[Scenario]) -> Option<Vec<Option<u64>>> {
            let figure = |scenario: &Scenario| {
                let mut redraws = scenario.redraws.iter().peekable();
                let mut rng = Rng::keyed(scenario.seed, Purpose::Load, 0);
                let (mut waiting, mut most) = (0u64, 0);
                for at in (0..LENGTH.0).step_by(STEP as usize) {
                    while let Some(redraw) = redraws.next_if(|redraw| redraw.at.0 <= at) {
                        rng = Rng::keyed(redraw.seed, Purpose::Load, 0);
                    }
                    // Three of ten times one more, four of ten times one fewer.
                    match rng.below(10) {
                        0..3 => waiting += 1,
                        3..7 => waiting = waiting.saturating_sub(1),
                        _ => (),
                    }
                    most = most.max(waiting);
                }
                Some(most)
            };
            Some(scenarios.iter().map(figure).collect())
        }
    }

    fn search(method: SearchMethod, seed: u64, until: Option<u64>) -> Search {
        Search { method, direction: Maximize, seed, length: LENGTH, runs: 20_000, until }
    }

    /// How many runs each takes to the first queue of 28, of which the walk's stationary distribution,
    /// The last batch is cut, and what came before is the same.
    #[test]
    fn it_makes_as_many_runs_as_it_may() {
        let runs = |runs| Search { runs, ..search(SearchMethod::Guided, 7, None) }.run(&Queue, &|_, _| ());
        let (some, more) = (runs(20), runs(32));
        assert_eq!((some.runs, more.runs), (20, 32));
        assert!(more.records.starts_with(&some.records), "{:?} {:?}", some.records, more.records);
    }

    /// (3/4)^n, says that a run of 400 steps has one in about 5000.
    #[test]
    fn the_guided_search_comes_to_a_rare_event_in_fewer_runs() {
        let runs = |method, seed| search(method, seed, Some(28)).run(&Queue, &|_, _| ()).runs;
        let of = |method| {
            let mut all: Vec<u64> = (1..=10).map(|seed| runs(method, seed)).collect();
            all.sort_unstable();
            all
        };
        let (guided, random) = (of(SearchMethod::Guided), of(SearchMethod::Random));
        assert!(4 * guided[5] < random[5], "{guided:?} {random:?}");
    }

    #[test]
    fn the_worst_is_what_its_scenario_gives_again() {
        for method in [SearchMethod::Guided, SearchMethod::Random] {
            let search = Search { runs: 320, ..search(method, 7, None) };
            let found = search.run(&Queue, &|_, _| ());
            let last = found.records.last().expect("runs");
            assert_eq!(Queue.run(std::slice::from_ref(&found.worst)), Some(vec![Some(last.value)]));
            assert!(found.records.windows(2).all(|two| two[0].value < two[1].value));
            assert_eq!((found.runs, found.failed, found.reached), (320, 0, None));
            assert_eq!(search.run(&Queue, &|_, _| ()), found, "the same again");
            assert_eq!(last.redraws == 0, method == SearchMethod::Random);
        }
    }

    #[test]
    fn less_may_be_worse() {
        let least =
            Search { direction: TuneDirection::Minimize, runs: 64, ..search(SearchMethod::Guided, 3, None) };
        let found = least.run(&Queue, &|_, _| ());
        assert!(found.records.windows(2).all(|two| two[0].value > two[1].value), "{:?}", found.records);
    }
}
