//! The way from knobs to an answer, whoever makes the runs.
//!
//! 1. Each value alone, first with two seeds: what changes no figure at all is inert. The others get all
//!    seeds of the screen, and Benjamini-Hochberg says which helped, over all of them at once.
//! 2. Values that helped, their pairs, and the best of each knob together, by successive halving: the better
//!    half goes on with twice as many seeds, twice.
//! 3. Of the winner, whatever can be left out without a difference is; by other seeds, as under those by
//!    which it won each part of it looks needed.
//! 4. What is left is run with seeds that nothing was chosen by. Only that is the answer: what was chosen as
//!    the best of many looks better than it is.

use crate::error::Error;
use crate::judge::{Judged, Question, base_has_all, judge};
use crate::trials::{Candidate, Made, Trials};
use report::numbers::{count, duration};
use report::stats::{MeanDifference, benjamini_hochberg};
use schema::{TuneEffect, TuneRound, TuneState, TuneTrial, TuneVerdict, Unit};

/// Seeds with which each value is tried first.
const PILOT: usize = 2;
/// So many of the values that helped are combined, the best first.
const POOL: usize = 8;
/// In the rounds of halving, so many times as many seeds as in the screen.
const ROUNDS: [u64; 3] = [1, 2, 4];
/// So many to see what can be left out.
const PRUNE: u64 = 2;
/// And so many to confirm.
const CONFIRM: u64 = 2;

/// What to tune over.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// What is asked.
    pub question: Question,
    /// Of each knob the texts of its values.
    pub knobs: Vec<Vec<String>>,
    /// The first seed.
    pub first_seed: u64,
    /// Seeds of the screen.
    pub seeds: u32,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Found {
    /// Each value alone.
    pub screen: Vec<TuneTrial>,
    /// Combinations.
    pub rounds: Vec<TuneRound>,
    /// What came of it.
    pub verdict: TuneVerdict,
    /// What was confirmed, or was to be; the base where nothing was.
    pub chosen: Candidate,
    /// That, with fresh seeds.
    pub confirmed: Option<TuneTrial>,
    /// Runs that were made.
    pub runs: u64,
}

impl Tuning {
    fn seeds(&self, from: u64, count: u64) -> Vec<u64> {
        (from..from + count).map(|n| self.first_seed.wrapping_add(n)).collect()
    }

    /// Those by which the winner is made smaller.
    fn pruning_seeds(&self) -> Vec<u64> {
        let screen = u64::from(self.seeds);
        self.seeds(ROUNDS[ROUNDS.len() - 1] * screen, PRUNE * screen)
    }

    /// The seeds that nothing is chosen by.
    #[must_use]
    pub fn fresh_seeds(&self) -> Vec<u64> {
        let screen = u64::from(self.seeds);
        self.seeds((ROUNDS[ROUNDS.len() - 1] + PRUNE) * screen, CONFIRM * screen)
    }

    /// The settings of a candidate in words.
    #[must_use]
    pub fn texts(&self, candidate: &Candidate) -> Vec<String> {
        candidate.settings().iter().map(|(knob, value)| self.knobs[*knob][*value].clone()).collect()
    }

    /// Finds what to set.
    ///
    /// # Errors
    /// A run of the base that fails or lacks a figure; a constraint that neither the base nor anything else
    /// meets; those of [`Trials::run`].
    pub fn run(&self, trials: &dyn Trials) -> Result<Found, Error> {
        let mut search = Search { tuning: self, made: Made::new(trials) };
        let seeds = self.seeds(0, u64::from(self.seeds));
        search.base(&seeds)?;
        let unmet = search.unmet(&seeds);
        let (screen, mut useful) = search.screen(&seeds, &unmet)?;
        let shown = screen.iter().map(|judged| judged.trial.clone()).collect();
        let mut found = Found {
            screen: shown,
            rounds: Vec::new(),
            verdict: TuneVerdict::NothingHelps,
            chosen: Candidate::base(),
            confirmed: None,
            runs: search.made.count(),
        };
        if useful.is_empty() {
            let of_run = screen.iter().filter(|judged| judged.has_run());
            search.if_unmet(&unmet, &seeds, of_run)?;
            return Ok(found);
        }
        useful.sort_by(|a, b| order(a).total_cmp(&order(b)));
        useful.truncate(POOL);
        let (winner, rounds) = search.halve(&useful)?;
        found.rounds = rounds;
        let winner = search.without_what_does_nothing(winner)?;
        found.runs = search.made.count();
        if winner.state() == TuneState::Broken {
            search.if_unmet(
                &unmet,
                &seeds,
                screen.iter().filter(|judged| judged.has_run()).chain([&winner]),
            )?;
            found.verdict = TuneVerdict::BreaksConstraints;
            return Ok(found);
        }
        let fresh = self.fresh_seeds();
        search.base(&fresh)?;
        search.made.make([&winner.candidate], &fresh)?;
        let confirmed = search.judge(&winner.candidate, &fresh);
        let helps = confirmed.trial.effect == TuneEffect::Helps || !unmet.is_empty() && confirmed.has_run();
        let holds = confirmed.state() == TuneState::Met;
        found.verdict = if helps && holds { TuneVerdict::Found } else { TuneVerdict::NotConfirmed };
        found.confirmed = Some(confirmed.trial);
        found.chosen = winner.candidate;
        found.runs = search.made.count();
        Ok(found)
    }
}

/// The better first: what meets the constraints, then what brings the goal nearest.
fn order(judged: &Judged) -> f64 {
    match judged.state() {
        TuneState::Broken => f64::INFINITY,
        TuneState::Met | TuneState::Open => judged.toward,
    }
}

struct Search<'t> {
    tuning: &'t Tuning,
    made: Made<'t>,
}

impl Search<'_> {
    fn judge(&self, candidate: &Candidate, seeds: &[u64]) -> Judged {
        let tuning = self.tuning;
        judge(&tuning.question, tuning.texts(candidate), &self.made, candidate, seeds)
    }

    /// Runs the base, without which nothing can be said.
    fn base(&mut self, seeds: &[u64]) -> Result<(), Error> {
        let base = Candidate::base();
        self.made.make([&base], seeds)?;
        if let Some(error) = self.made.take_failure(&base, seeds) {
            return Err(error.into());
        }
        base_has_all(&self.tuning.question, &self.made, seeds)
    }

    /// The constraints that the base does not meet, by their numbers.
    fn unmet(&self, seeds: &[u64]) -> Vec<usize> {
        let base = self.judge(&Candidate::base(), seeds);
        let all = base.trial.constraints.iter().enumerate();
        all.filter(|(_, held)| held.state != TuneState::Met).map(|(number, _)| number).collect()
    }

    /// Every value alone, and those of them that help the goal, or a constraint that the base does not meet.
    fn screen(&mut self, seeds: &[u64], unmet: &[usize]) -> Result<(Vec<Judged>, Vec<Judged>), Error> {
        let values = self.tuning.knobs.iter().enumerate();
        let singles: Vec<Candidate> =
            values.flat_map(|(knob, all)| (0..all.len()).map(move |n| Candidate::single(knob, n))).collect();
        let pilot = &seeds[..PILOT.min(seeds.len())];
        self.made.make(&singles, pilot)?;
        let first: Vec<Judged> = singles.iter().map(|single| self.judge(single, pilot)).collect();
        let live: Vec<&Candidate> =
            first.iter().filter(|judged| judged.has_run()).map(|judged| &judged.candidate).collect();
        self.made.make(live, seeds)?;
        let mut all: Vec<Judged> = first
            .iter()
            .map(
                |judged| if judged.has_run() { self.judge(&judged.candidate, seeds) } else { judged.clone() },
            )
            .collect();
        let useful = believe(&mut all, unmet);
        Ok((all, useful))
    }

    /// The best combination, and all rounds on the way to it.
    fn halve(&mut self, pool: &[Judged]) -> Result<(Judged, Vec<TuneRound>), Error> {
        let mut candidates = combinations(pool);
        let mut rounds = Vec::new();
        let mut best = pool[0].clone();
        for times in ROUNDS {
            let seeds = self.tuning.seeds(0, times * u64::from(self.tuning.seeds));
            self.base(&seeds)?;
            self.made.make(&candidates, &seeds)?;
            let mut judged: Vec<Judged> = candidates.iter().map(|one| self.judge(one, &seeds)).collect();
            judged.sort_by(|a, b| {
                let sizes = a.candidate.settings().len().cmp(&b.candidate.settings().len());
                let failed = (!a.has_run()).cmp(&!b.has_run());
                failed.then(a.state().cmp(&b.state())).then(a.toward.total_cmp(&b.toward)).then(sizes)
            });
            best = judged[0].clone();
            let trials = judged.iter().map(|judged| judged.trial.clone()).collect();
            rounds.push(TuneRound { seeds: seeds.len() as u64, trials });
            judged.truncate(judged.len().div_ceil(2));
            candidates = judged.into_iter().map(|judged| judged.candidate).collect();
        }
        Ok((best, rounds))
    }

    /// Leaves out each setting without which the goal is not further away and the constraints hold as well.
    fn without_what_does_nothing(&mut self, winner: Judged) -> Result<Judged, Error> {
        if winner.candidate.settings().len() < 2 {
            return Ok(winner);
        }
        let seeds = self.tuning.pruning_seeds();
        self.base(&seeds)?;
        self.made.make([&winner.candidate], &seeds)?;
        let mut best = self.judge(&winner.candidate, &seeds);
        while best.candidate.settings().len() > 1 {
            let fewer: Vec<Candidate> = best.candidate.with_one_fewer().collect();
            self.made.make(&fewer, &seeds)?;
            let is_as_good = |one: &Judged| {
                one.has_run() && one.state() <= best.state() && !self.is_worse(one, &best, &seeds)
            };
            let judged = fewer.iter().map(|one| self.judge(one, &seeds)).filter(is_as_good);
            let Some(smaller) = judged.min_by(|a, b| a.toward.total_cmp(&b.toward)) else { break };
            best = smaller;
        }
        // As it stood when it won, where nothing could be left out.
        Ok(if best.candidate == winner.candidate { winner } else { best })
    }

    /// Whether the goal is further away with the first than with the second, as far as these seeds tell.
    fn is_worse(&self, one: &Judged, other: &Judged, seeds: &[u64]) -> bool {
        let goal = |judged: &Judged, seed: u64| match self.made.get(&judged.candidate, seed) {
            Some(Ok(sample)) => sample.figures[0].map(|value| value as f64),
            _ => None,
        };
        let difference = |seed: &u64| Some(goal(one, *seed)? - goal(other, *seed)?);
        let Some(differences) = seeds.iter().map(difference).collect::<Option<Vec<f64>>>() else {
            return true;
        };
        let question = &self.tuning.question;
        let found = MeanDifference::of(&differences, question.metric.resolution as f64);
        let is_told = found.interval.is_none_or(|interval| !interval.contains(0.0));
        question.goal.signed(found.mean) > 0.0 && is_told
    }

    /// That nothing meets a constraint which the base does not meet.
    fn if_unmet<'j>(
        &self,
        unmet: &[usize],
        seeds: &[u64],
        tried: impl Iterator<Item = &'j Judged>,
    ) -> Result<(), Error> {
        let Some(&number) = unmet.first() else { return Ok(()) };
        let base = self.judge(&Candidate::base(), seeds);
        let nearest = tried.min_by(|a, b| a.beyond[number].total_cmp(&b.beyond[number]));
        let nearest = nearest.filter(|nearest| nearest.beyond[number] < base.beyond[number]).unwrap_or(&base);
        let constraint = &self.tuning.question.constraints[number];
        let value = |judged: &Judged| {
            let with = judged.trial.constraints[number].figure.with;
            match constraint.metric.unit {
                Unit::Nanoseconds => duration(with),
                Unit::Count => count(with),
            }
        };
        let with = nearest.trial.settings.join(" and ");
        Err(Error::Unmet {
            text: constraint.text.clone(),
            base: value(&base),
            nearest: value(nearest),
            with: if with.is_empty() { "the base itself".to_owned() } else { with },
        })
    }
}

/// Takes back what may be chance among so many values; gives those that help.
fn believe(all: &mut [Judged], unmet: &[usize]) -> Vec<Judged> {
    let goal = |judged: &Judged| judged.trial.p_value.filter(|_| judged.has_run());
    let repairs = |judged: &Judged| -> Vec<f64> {
        let of_run = judged.has_run().then_some(unmet).into_iter().flatten();
        of_run.map(|number| judged.repairs[*number].p_value.unwrap_or(1.0)).collect()
    };
    let p_values: Vec<f64> =
        all.iter().flat_map(|judged| goal(judged).into_iter().chain(repairs(judged))).collect();
    let mut discoveries = benjamini_hochberg(&p_values).into_iter();
    let mut useful = Vec::new();
    for judged in all {
        let is_discovery = goal(judged).is_some() && discoveries.next().unwrap_or(false);
        if !is_discovery && judged.has_run() {
            judged.trial.effect = TuneEffect::NotTold;
        }
        let repaired = repairs(judged).len();
        let mut repairs = unmet.iter().take(repaired).map(|number| judged.repairs[*number].helps);
        let found = discoveries.by_ref().take(repaired).collect::<Vec<bool>>();
        let repairs = repairs.by_ref().zip(found).any(|(helps, is_discovery)| helps && is_discovery);
        if judged.trial.effect == TuneEffect::Helps || repairs {
            useful.push(judged.clone());
        }
    }
    useful
}

/// Each of these, every two of them, and the best three, four, … of different knobs.
fn combinations(pool: &[Judged]) -> Vec<Candidate> {
    let singles: Vec<&Candidate> = pool.iter().map(|judged| &judged.candidate).collect();
    let mut all: Vec<Candidate> = singles.iter().map(|single| (*single).clone()).collect();
    for (number, one) in singles.iter().enumerate() {
        all.extend(singles[number + 1..].iter().filter_map(|other| one.and(other)));
    }
    let mut together = Candidate::base();
    for single in singles {
        let Some(more) = together.and(single) else { continue };
        together = more;
        if together.settings().len() > 2 {
            all.push(together.clone());
        }
    }
    all
}
