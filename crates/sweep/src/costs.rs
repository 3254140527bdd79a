//! How long runs are expected to take. Each value of an axis makes a run so many times as long, whatever the
//! others are: that much a few runs tell. Nothing but the order of work and the time left depends on it.

use crate::plan::Plan;

/// Of an event, until it has been measured, nanoseconds.
const EVENT_NS: f64 = 400.0;
/// What a run takes besides its events, in events.
const OF_A_RUN: f64 = 1000.0;
/// Rows that are looked at.
const MOST_ROWS: usize = 4096;
/// How often effects are made to fit each other.
const ROUNDS: usize = 20;

/// A model of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Costs {
    /// Logarithm of the events of a run, in the mean.
    mean: f64,
    /// What each value of each axis adds to that.
    effects: Vec<Vec<f64>>,
    /// Nanoseconds an event.
    event_ns: f64,
}

impl Costs {
    /// From what runs took: their numbers and events.
    pub fn of(plan: &Plan, known: &[(usize, u64)]) -> Costs {
        let step = known.len().div_ceil(MOST_ROWS).max(1);
        let rows: Vec<(Vec<usize>, f64)> = known
            .iter()
            .step_by(step)
            .map(|&(run, events)| (plan.places(plan.point_of(run)), (events as f64 + OF_A_RUN).ln()))
            .collect();
        let mean = rows.iter().map(|(_, cost)| cost).sum::<f64>() / rows.len().max(1) as f64;
        let mut effects: Vec<Vec<f64>> =
            plan.axes().iter().map(|axis| vec![0.0; axis.values().len()]).collect();
        for _ in 0..ROUNDS {
            for axis in 0..effects.len() {
                let mut sums = vec![(0.0, 0.0); effects[axis].len()];
                for (places, cost) in &rows {
                    let others: f64 = (0..effects.len())
                        .filter(|other| *other != axis)
                        .map(|other| effects[other][places[other]])
                        .sum();
                    let sum = &mut sums[places[axis]];
                    *sum = (sum.0 + cost - mean - others, sum.1 + 1.0);
                }
                let fitted = sums.iter().map(|(sum, count)| if *count > 0.0 { sum / count } else { 0.0 });
                effects[axis] = fitted.collect();
            }
        }
        Costs { mean, effects, event_ns: EVENT_NS }
    }

    /// With what an event took, as far as that was measured: events and nanoseconds of work.
    pub fn measured(self, events: f64, ns: f64) -> Costs {
        Costs { event_ns: if events > 0.0 && ns > 0.0 { ns / events } else { self.event_ns }, ..self }
    }

    /// How long a run takes whose axes have these values, nanoseconds.
    pub fn ns(&self, places: &[usize]) -> f64 {
        let effects: f64 = places.iter().zip(&self.effects).map(|(place, of)| of[*place]).sum();
        (self.mean + effects).exp() * self.event_ns
    }
}

/// What a run's events, and all else that it does, come to in events.
pub fn weight(events: u64) -> f64 {
    events as f64 + OF_A_RUN
}

/// The pilot runs, which show what each value costs: one with each, the other axes at their middle. They are
/// runs of the sweep like all others.
pub fn pilots(plan: &Plan) -> Vec<usize> {
    /// With more values than this, not each is tried.
    const MOST: usize = 64;
    let middle: Vec<usize> = plan.axes().iter().map(|axis| axis.values().len() / 2).collect();
    let mut points = vec![plan.point_at(&middle)];
    for (number, axis) in plan.axes().iter().enumerate() {
        for place in 0..axis.values().len() {
            let mut places = middle.clone();
            places[number] = place;
            points.push(plan.point_at(&places));
        }
    }
    points.sort_unstable();
    points.dedup();
    let step = points.len().div_ceil(MOST).max(1);
    points.into_iter().step_by(step).map(|point| point * plan.seeds().len()).collect()
}
