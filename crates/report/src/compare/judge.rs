//! Which differences are real.

use schema::comparison::{Configuration, MetricComparison, VariantComparison, Verdict};
use schema::{Measurement, Metric};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::extract::{count_absent_causes, measure};
use crate::stats::{MeanDifference, benjamini_hochberg, mean, nine_digits, paired_ratio};
use schema::RunResult;

/// Compares the runs of one variant with those of the base; both lists are in the order of the seeds.
pub fn variant(
    configuration: Configuration,
    base: &[&RunResult],
    variant: &[&RunResult],
) -> VariantComparison {
    let mut base: Vec<Vec<Measurement>> = base.iter().map(|run| measure(run)).collect();
    let mut variant: Vec<Vec<Measurement>> = variant.iter().map(|run| measure(run)).collect();
    count_absent_causes(&mut base.iter_mut().chain(&mut variant).collect::<Vec<_>>());
    let exact = base.len() > 1 && all_equal(&base) && all_equal(&variant);
    let (base_keys, variant_keys) = (keys(&base), keys(&variant));

    let mut metrics: Vec<MetricComparison> =
        pair_up(&base, &variant).into_iter().zip(0..).map(|(pairs, rank)| pairs.judge(rank, exact)).collect();
    if !exact {
        correct_for_many_tests(&mut metrics);
    }
    metrics.sort_by(order);
    metrics.iter_mut().for_each(round_for_json);
    VariantComparison {
        configuration,
        exact,
        // Who made the runs knows.
        same_as_base: false,
        metrics,
        only_in_base: base_keys.difference(&variant_keys).map(|&key| key.to_owned()).collect(),
        only_in_variant: variant_keys.difference(&base_keys).map(|&key| key.to_owned()).collect(),
    }
}

fn all_equal(runs: &[Vec<Measurement>]) -> bool {
    runs.windows(2).all(|two| two[0] == two[1])
}

fn keys(runs: &[Vec<Measurement>]) -> BTreeSet<&str> {
    runs.iter().flatten().map(|figure| figure.metric.key.as_str()).collect()
}

/// The values of one figure, for the seeds for which both configurations have it.
struct Pairs<'a> {
    metric: &'a Metric,
    base: Vec<f64>,
    variant: Vec<f64>,
}

/// Every figure that both have for at least one seed, in the order of the figures.
fn pair_up<'a>(base: &'a [Vec<Measurement>], variant: &[Vec<Measurement>]) -> Vec<Pairs<'a>> {
    let mut index: BTreeMap<&str, usize> = BTreeMap::new();
    let mut all: Vec<Pairs<'a>> = Vec::new();
    for (base_run, variant_run) in base.iter().zip(variant) {
        let other: BTreeMap<&str, u64> =
            variant_run.iter().map(|figure| (figure.metric.key.as_str(), figure.value)).collect();
        for figure in base_run {
            let Some(&variant_value) = other.get(figure.metric.key.as_str()) else { continue };
            let at = *index.entry(&figure.metric.key).or_insert_with(|| {
                all.push(Pairs { metric: &figure.metric, base: Vec::new(), variant: Vec::new() });
                all.len() - 1
            });
            all[at].base.push(figure.value as f64);
            all[at].variant.push(variant_value as f64);
        }
    }
    all
}

impl Pairs<'_> {
    /// The comparison of this figure on its own; the correction for many figures comes later.
    fn judge(self, rank: u32, exact: bool) -> MetricComparison {
        let differences: Vec<f64> = self.variant.iter().zip(&self.base).map(|(v, b)| v - b).collect();
        let identical = differences.iter().all(|&difference| difference == 0.0);
        let mut found = MeanDifference::of(&differences, self.metric.resolution as f64);
        let (base, variant) = (mean(&self.base), mean(&self.variant));
        let ratio = if variant >= base {
            paired_ratio(&self.variant, &self.base)
        } else {
            paired_ratio(&self.base, &self.variant)
        };
        // Repeating the same shows no spread. That is no proof: it says nothing of how far the model is off,
        // and of a few seeds all may do the same by chance.
        let no_spread = differences.iter().all(|&difference| difference == differences[0]);
        let may_be_chance = no_spread && differences.len() < TELLING_SEEDS;
        let verdict = match found.interval {
            _ if identical => Verdict::Identical,
            None => Verdict::Untested,
            Some(_) if !exact && may_be_chance => Verdict::NotSignificant,
            Some(interval) if !exact && interval.contains(0.0) => Verdict::NotSignificant,
            Some(_) => Verdict::Changed,
        };
        if no_spread {
            found.interval = None;
        }
        if exact {
            found.p_value = None;
        }
        MetricComparison {
            metric: self.metric.clone(),
            rank,
            pairs: differences.len() as u32,
            base,
            variant,
            difference: found.mean,
            interval: found.interval,
            p_value: found.p_value,
            times: ratio.map(|ratio| ratio.value),
            times_plus_minus: ratio.and_then(|ratio| ratio.plus_minus).filter(|&half| half > 0.0),
            verdict,
            replay_error: None,
            poor: false,
            of_command: false,
        }
    }
}

/// From so many seeds on, that all differences have one sign is no chance at 5 %: it would be, in two of 2^n
/// cases, if each difference could have had the other sign as well.
const TELLING_SEEDS: usize = 6;

/// Takes back each change whose p-value may be chance among so many figures.
fn correct_for_many_tests(metrics: &mut [MetricComparison]) {
    let p_values: Vec<f64> = metrics.iter().filter_map(|metric| metric.p_value).collect();
    let mut discoveries = benjamini_hochberg(&p_values).into_iter();
    for metric in metrics.iter_mut().filter(|metric| metric.p_value.is_some()) {
        let discovery = discoveries.next().unwrap_or(false);
        if metric.verdict == Verdict::Changed && !discovery {
            metric.verdict = Verdict::NotSignificant;
        }
    }
}

/// Changed before untested before the rest; the first two by the size of the change, the rest as they come.
fn order(a: &MetricComparison, b: &MetricComparison) -> Ordering {
    let by_rank = a.rank.cmp(&b.rank);
    let group = |metric: &MetricComparison| metric.verdict.min(Verdict::NotSignificant);
    group(a).cmp(&group(b)).then_with(|| match group(a) {
        Verdict::Changed | Verdict::Untested => relative_size(b).total_cmp(&relative_size(a)).then(by_rank),
        _ => by_rank,
    })
}

fn relative_size(metric: &MetricComparison) -> f64 {
    metric.factor(metric.variant)
}

fn round_for_json(metric: &mut MetricComparison) {
    let floats = [&mut metric.base, &mut metric.variant, &mut metric.difference];
    let optional = [&mut metric.p_value, &mut metric.times, &mut metric.times_plus_minus];
    let interval = metric.interval.iter_mut().flat_map(|interval| [&mut interval.low, &mut interval.high]);
    for float in floats.into_iter().chain(optional.into_iter().flatten()).chain(interval) {
        *float = nine_digits(*float);
    }
}
