//! From figures to how many of a kind are close enough.

use schema::validation::{ValidatedBound, ValidatedReference};

use super::Bound;
use crate::stats::nine_digits;

/// Of fewer figures a share says nothing, unless all are wanted.
const LEAST_FIGURES: usize = 5;

/// Each bound, with the figures of all references that it is about.
#[must_use]
pub fn judge(bounds: &[Bound], references: &[ValidatedReference]) -> Vec<ValidatedBound> {
    bounds.iter().map(|bound| judged(bound, references)).collect()
}

fn judged(bound: &Bound, references: &[ValidatedReference]) -> ValidatedBound {
    let runs = references.iter().flat_map(|reference| &reference.runs);
    let figures = runs.flat_map(|run| run.figures.iter().filter(|figure| bound.is_about(run, figure)));
    let pairs: Vec<(f64, f64)> =
        figures.filter_map(|figure| Some((figure.recorded?, figure.simulated))).collect();
    let is_close = |(recorded, simulated): &&(f64, f64)| bound.within.holds(*recorded, *simulated);
    let (reached, of) = (pairs.iter().filter(is_close).count(), pairs.len());
    let off = pairs.iter().map(|(recorded, simulated)| (simulated / recorded - 1.0).abs()).collect();
    let can_be_judged = of >= LEAST_FIGURES || of > 0 && bound.share == 1.0;
    ValidatedBound {
        what: bound.what.clone(),
        question: bound.question.clone(),
        within: bound.within.words(),
        wanted: bound.share,
        reached: reached as u64,
        of: of as u64,
        median_off: median(off).map(nine_digits),
        met: can_be_judged.then_some(reached as f64 >= bound.share * of as f64),
        unreached: bound.unreached.clone(),
    }
}

/// The middle one, or the mean of the two in the middle.
#[must_use]
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (half, odd) = (values.len() / 2, values.len() % 2 == 1);
    let upper = *values.get(half)?;
    Some(if odd { upper } else { (values[half - 1] + upper) / 2.0 })
}
