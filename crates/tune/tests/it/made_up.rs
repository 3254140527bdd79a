//! Runs that nobody simulates: the truth is written down, and noise of its own is on every run.

use report::stats::SplitMix64;
use schema::{Better, Metric, TuneDirection, Unit};
use std::cell::RefCell;
use tune::{Candidate, Constraint, Error, Goal, Question, Sample, Trials, Tuning};

/// What some settings do to goal and cost, under a seed.
pub type Truth = dyn Fn(&[(usize, usize)], u64) -> (f64, f64);

/// Goal and cost are 10,000 under the base, with noise that both arms share and noise of each run.
pub struct MadeUp<'t> {
    pub truth: &'t Truth,
    /// Standard deviation of the noise of each run.
    pub noise: f64,
    /// Of the world: another one draws other noise.
    pub world: u64,
    /// Settings that change no figure.
    pub inert: Vec<(usize, usize)>,
    pub runs: RefCell<u64>,
}

impl<'t> MadeUp<'t> {
    pub fn new(truth: &'t Truth) -> MadeUp<'t> {
        MadeUp { truth, noise: 20.0, world: 0, inert: Vec::new(), runs: RefCell::new(0) }
    }
}

/// The sum of twelve uniform numbers less six has nearly a normal distribution of variance 1.
fn normal(stream: &mut SplitMix64) -> f64 {
    let uniform = |stream: &mut SplitMix64| (stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    (0..12).map(|_| uniform(stream)).sum::<f64>() - 6.0
}

impl Trials for MadeUp<'_> {
    fn run(&self, work: &[(Candidate, u64)]) -> Result<Vec<Result<Sample, lab::Error>>, Error> {
        *self.runs.borrow_mut() += work.len() as u64;
        let run = |(candidate, seed): &(Candidate, u64)| {
            let live: Vec<(usize, usize)> =
                candidate.settings().iter().copied().filter(|one| !self.inert.contains(one)).collect();
            let mut key =
                self.world.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed.wrapping_mul(0xd6e8_feb8_6659_fd93);
            let shared = 500.0 * normal(&mut SplitMix64::new(key));
            for (knob, value) in &live {
                key = (key ^ (*knob as u64 * 1009 + *value as u64 + 1)).wrapping_mul(0xa076_1d64_78bd_642f);
            }
            let mut own = SplitMix64::new(key);
            let (goal, cost) = (self.truth)(&live, *seed);
            let mut figure =
                |effect: f64| (10_000.0 + shared + effect + self.noise * normal(&mut own)) as u64;
            let figures = vec![Some(figure(goal)), Some(figure(cost))];
            let fingerprint = u128::from(figures[0].unwrap_or(0)) << 64 | u128::from(figures[1].unwrap_or(0));
            Ok(Sample { figures, fingerprint })
        };
        Ok(work.iter().map(run).collect())
    }
}

pub fn metric(key: &str) -> Metric {
    Metric {
        key: key.to_owned(),
        label: key.to_owned(),
        unit: Unit::Count,
        better: Better::Lower,
        resolution: 1,
        headline: true,
    }
}

/// Over so many knobs of two values each; `constraint` is about `cost`.
pub fn tuning(knobs: usize, direction: TuneDirection, constraint: &str) -> Tuning {
    let constraint = Constraint::parse(constraint, &[metric("goal"), metric("cost")]).expect("a condition");
    Tuning {
        question: Question {
            goal: Goal { text: "goal".to_owned(), direction },
            metric: metric("goal"),
            constraints: vec![constraint],
        },
        knobs: (0..knobs).map(|knob| vec![format!("k{knob}=0"), format!("k{knob}=1")]).collect(),
        first_seed: 1,
        seeds: 8,
    }
}
