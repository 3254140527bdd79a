//! From the figures of runs and what is wanted of them to the report.

use schema::Unit;
use schema::comparison::Interval;
use schema::reproduction::{
    ReproducedPoint, ReproducedRequirement, ReproducedRow, ReproducedVariant, RowSpan, RowUnit,
};
use std::collections::BTreeMap;

use suggest::suggest;

use super::{ExperimentSpec, Fold, Place, Published, RequirementSpec, RowSpec, SweepValue, VariantSpec};
use crate::compare::measure;
use crate::stats::{ExtremeValue, bca_mean_interval, largest_interval, nine_digits};
use schema::RunResult;
use serde::{Deserialize, Serialize};

/// The figures of one run, by the key of their metric.
pub type Figures = BTreeMap<String, Figure>;

/// A figure with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Figure {
    value: f64,
    unit: Unit,
}

/// As it is kept: that of a run is a whole number, and comes back as it was.
#[derive(Serialize, Deserialize)]
struct Written {
    value: u64,
    unit: Unit,
}

impl From<Written> for Figure {
    fn from(Written { value, unit }: Written) -> Figure {
        Figure::new(value, unit)
    }
}

impl From<Figure> for Written {
    fn from(Figure { value, unit }: Figure) -> Written {
        Written { value: value as u64, unit }
    }
}

impl Figure {
    /// A value in its unit.
    #[must_use]
    pub fn new(value: u64, unit: Unit) -> Figure {
        Figure { value: value as f64, unit }
    }
}

/// All figures of a run.
#[must_use]
pub fn figures(run: &RunResult) -> Figures {
    let measured = measure(run).into_iter();
    measured.map(|m| (m.metric.key, Figure::new(m.value, m.metric.unit))).collect()
}

/// The runs of one variant at one value of the sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    /// The place in the sweep, if there is one.
    pub at: Option<Place>,
    /// The figures of one run for each seed; every variant has the same seeds in the same order, at least
    /// one.
    pub runs: Vec<Figures>,
}

/// What was run for one variant, in words.
#[derive(Debug, Clone, PartialEq)]
pub struct Described {
    /// See [`ReproducedVariant::loads`].
    pub loads: Vec<String>,
    /// See [`ReproducedVariant::settings`].
    pub settings: String,
    /// See [`ReproducedVariant::points`].
    pub points: Vec<ReproducedPoint>,
    /// See [`ReproducedVariant::simulated_ns`].
    pub simulated_ns: u64,
    /// See [`ReproducedVariant::events`].
    pub events: u64,
}

/// All runs of one variant.
#[derive(Debug, Clone, PartialEq)]
pub struct VariantRuns {
    /// What ran.
    pub described: Described,
    /// One for each value of the sweep, in order; a single one without a sweep.
    pub observed: Vec<Observed>,
}

/// Variants and requirements, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// In the order of the experiment.
    pub variants: Vec<ReproducedVariant>,
    /// In the order of the experiment.
    pub requirements: Vec<ReproducedRequirement>,
}

/// A row that cannot be judged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("variant `{variant}`, `{row}`: {problem}")]
pub struct JudgeError {
    /// Name of the variant.
    pub variant: String,
    /// What the row is.
    pub row: String,
    /// What is wrong with it, and what to do.
    pub problem: String,
}

/// Judges every row and every requirement. `runs` holds the runs of each variant, in the order of the
/// experiment.
///
/// # Errors
/// A row that names a metric which its runs do not have, more metrics than one without a way to fold them, a
/// variant that does not exist, or another number of published figures than there are values in the sweep.
pub fn judge(spec: &ExperimentSpec, runs: &[VariantRuns]) -> Result<Judged, JudgeError> {
    let pairs = spec.variants.iter().zip(runs);
    let variants: Vec<ReproducedVariant> =
        pairs.map(|(variant, of)| judge_variant(spec, runs, variant, of)).collect::<Result<_, _>>()?;
    let requirements = spec.requirements.iter();
    let requirements = requirements.map(|r| requirement(r, &variants, spec.full_length)).collect();
    Ok(Judged { variants, requirements })
}

fn judge_variant(
    spec: &ExperimentSpec,
    runs: &[VariantRuns],
    variant: &VariantSpec,
    of: &VariantRuns,
) -> Result<ReproducedVariant, JudgeError> {
    let mut rows = Vec::new();
    for row in &variant.rows {
        let error = |problem| JudgeError { variant: variant.name.clone(), row: row.what.clone(), problem };
        rows.extend(judge_row(spec, runs, row, of).map_err(error)?);
    }
    let Described { loads, settings, points, simulated_ns, events } = of.described.clone();
    let (name, role) = (variant.name.clone(), variant.role);
    Ok(ReproducedVariant { name, role, loads, settings, points, simulated_ns, events, rows })
}

/// The rows of the report for one row of the file: one for each value of the sweep.
fn judge_row(
    spec: &ExperimentSpec,
    runs: &[VariantRuns],
    row: &RowSpec,
    of: &VariantRuns,
) -> Result<Vec<ReproducedRow>, String> {
    let runs_of = |field: &str, name: &str| {
        let index = spec.variants.iter().position(|variant| variant.name == name);
        index.map(|index| &runs[index]).ok_or_else(|| {
            let known: Vec<&str> = spec.variants.iter().map(|variant| variant.name.as_str()).collect();
            format!("{field} = \"{name}\" is no variant; there are: {}", known.join(", "))
        })
    };
    let mut points = points_of(row, of)?;
    if let Some(base) = &row.relative_to {
        for (point, observed) in points.iter_mut().zip(&runs_of("relative_to", base)?.observed) {
            point.divide_by(&Point::new(row, observed)?);
        }
    }
    if let Some(other) = &row.less {
        for (point, other) in points.iter_mut().zip(points_of(row, runs_of("less", other)?)?) {
            point.take_off(&other);
        }
    }
    if let Some(threshold) = row.passes {
        points = vec![passage(&points, threshold)?];
    }
    let published = published(row, points.len())?;
    let wanted_here =
        |point: &&(Point, Option<f64>)| row.at.as_ref().is_none_or(|value| point.0.is_at(value));
    let points: Vec<(Point, Option<f64>)> = points.into_iter().zip(published).collect();
    if row.at.is_some() && !points.iter().any(|point| wanted_here(&point)) {
        return Err("`at` is no value of the sweep".to_owned());
    }
    if points.iter().any(|(point, _)| !point.folded(row.over_seeds).is_finite()) {
        return Err("the figure by which it is divided is 0".to_owned());
    }
    Ok(points
        .iter()
        .filter(wanted_here)
        .map(|(point, published)| report_row(row, point, *published, spec.full_length))
        .collect())
}

/// Where in the sweep each seed's figure passes a threshold for the last time.
fn passage(points: &[Point], threshold: f64) -> Result<Point, String> {
    let places = points.iter().map(|point| Some(point.at.as_ref()?.number)).collect::<Option<Vec<f64>>>();
    let places = places.filter(|places| places.len() > 1).ok_or("`passes` needs a sweep")?;
    let of_seed = |seed: usize| {
        let figure = |index: usize| points[index].values[seed];
        let is_above = |index: usize| figure(index) > threshold;
        let change = (1..places.len()).rfind(|&index| is_above(index) != is_above(index - 1));
        let Some(index) = change else { return places[if is_above(0) { 0 } else { places.len() - 1 }] };
        let share = (threshold - figure(index - 1)) / (figure(index) - figure(index - 1));
        places[index - 1] + (places[index] - places[index - 1]) * share
    };
    let seeds = points.iter().map(|point| point.values.len()).min().unwrap_or(0);
    let values = (0..seeds).map(of_seed).collect();
    Ok(Point { at: None, unit: RowUnit::Count, values, overall: None, over_seeds: Fold::Mean })
}

/// The figures of one row over the sweep, divided by one of them if the row says so.
fn points_of(row: &RowSpec, of: &VariantRuns) -> Result<Vec<Point>, String> {
    let mut points: Vec<Point> =
        of.observed.iter().map(|observed| Point::new(row, observed)).collect::<Result<_, _>>()?;
    if row.of_peak {
        let peak = points.iter().map(|point| point.folded(row.over_seeds)).fold(f64::MIN, f64::max);
        points.iter_mut().for_each(|point| point.divide_by_number(peak));
    }
    if let Some(value) = &row.of_value {
        let there = points.iter().find(|point| point.is_at(value));
        let figure = there.ok_or("`of_value` is no value of the sweep, or not one of a quick run")?;
        let figure = figure.folded(row.over_seeds);
        points.iter_mut().for_each(|point| point.divide_by_number(figure));
    }
    Ok(points)
}

/// One figure at one value of the sweep, for each seed.
struct Point {
    at: Option<Place>,
    unit: RowUnit,
    values: Vec<f64>,
    /// Instead of the values of each seed, when it is not one of them: a ratio of means is no mean of ratios.
    overall: Option<f64>,
    /// As it was before a division.
    over_seeds: Fold,
}

impl Point {
    fn new(row: &RowSpec, observed: &Observed) -> Result<Point, String> {
        let mut unit = RowUnit::Count;
        let mut values = Vec::new();
        for run in &observed.runs {
            let value = value(row, run)?;
            unit = value.unit;
            values.push(value.number);
        }
        let overall = if row.of_means { Some(value(row, &means(&observed.runs))?.number) } else { None };
        Ok(Point { at: observed.at.clone(), unit, values, overall, over_seeds: row.over_seeds })
    }

    fn is_at(&self, value: &SweepValue) -> bool {
        self.at.as_ref().is_some_and(|at| at.is(value))
    }

    fn folded(&self, fold: Fold) -> f64 {
        self.overall.or_else(|| fold.of(&self.values)).unwrap_or(f64::NAN)
    }

    fn divide_by(&mut self, base: &Point) {
        self.overall = Some(ratio(self.folded(self.over_seeds), base.folded(base.over_seeds)));
        self.values = self.values.iter().zip(&base.values).map(|(a, b)| ratio(*a, *b)).collect();
        self.unit = RowUnit::Ratio;
    }

    fn take_off(&mut self, other: &Point) {
        self.overall = Some(self.folded(self.over_seeds) - other.folded(other.over_seeds));
        self.values = self.values.iter().zip(&other.values).map(|(a, b)| a - b).collect();
    }

    fn divide_by_number(&mut self, number: f64) {
        self.overall = Some(ratio(self.folded(self.over_seeds), number));
        self.values.iter_mut().for_each(|value| *value = ratio(*value, number));
        self.unit = RowUnit::Ratio;
    }
}

/// Nothing of nothing is all of it.
fn ratio(a: f64, b: f64) -> f64 {
    if a == 0.0 && b == 0.0 { 1.0 } else { a / b }
}

struct Value {
    number: f64,
    unit: RowUnit,
}

/// The mean of each figure over the runs.
fn means(runs: &[Figures]) -> Figures {
    let Some((first, others)) = runs.split_first() else { return Figures::new() };
    let mut means = first.clone();
    for (key, figure) in &mut means {
        let sum = others.iter().filter_map(|run| run.get(key)).map(|other| other.value).sum::<f64>();
        figure.value = (figure.value + sum) / runs.len() as f64;
    }
    means
}

/// The figure of a row in one run.
fn value(row: &RowSpec, run: &Figures) -> Result<Value, String> {
    let mut found = Vec::new();
    for pattern in row.metric.patterns() {
        let before = found.len();
        found.extend(run.iter().filter(|(key, _)| is_as_pattern(pattern, key)).map(|(_, figure)| *figure));
        if found.len() == before {
            return Err(no_metric(pattern, run));
        }
    }
    let numbers: Vec<f64> = found.iter().map(|figure| figure.value).collect();
    let mut number = match (row.fold, numbers.as_slice()) {
        (None, [one]) => *one,
        (None, _) => {
            let several = numbers.len();
            return Err(format!("{several} metrics need a `fold`, such as fold = \"mean\""));
        }
        (Some(fold), _) => fold.of(&numbers).ok_or("too few metrics for this `fold`")?,
    };
    let mut unit = RowUnit::from(found[0].unit);
    if let Some(key) = &row.per {
        let per = run.get(key).ok_or_else(|| no_metric(key, run))?;
        number = ratio(number, per.value);
        if RowUnit::from(per.unit) == unit || per.unit == Unit::Nanoseconds {
            unit = RowUnit::Ratio;
        }
    }
    match row.unit {
        Some(wanted) if wanted != unit => {
            Ok(Value { number: number * unit.scale() / wanted.scale(), unit: wanted })
        }
        _ => Ok(Value { number, unit }),
    }
}

/// Whether a name is as a pattern says; `*` stands for any text.
#[must_use]
pub fn is_as_pattern(pattern: &str, key: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == key,
        Some((before, after)) => key.strip_prefix(before).is_some_and(|rest| {
            let starts = (0..=rest.len()).filter(|&start| rest.is_char_boundary(start));
            starts.into_iter().any(|start| is_as_pattern(after, &rest[start..]))
        }),
    }
}

fn no_metric(key: &str, run: &Figures) -> String {
    let advice = match suggest(key, run.keys()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`compare --format json` of its loads has the keys".to_owned(),
    };
    format!("its runs have no metric `{key}`; {advice}")
}

/// The published figure at each value of the sweep.
fn published(row: &RowSpec, points: usize) -> Result<Vec<Option<f64>>, String> {
    match &row.published {
        None => Ok(vec![None; points]),
        Some(Published::One(one)) => Ok(vec![Some(*one); points]),
        Some(Published::Sweep(figures)) if figures.len() == points => {
            Ok(figures.iter().map(|figure| Some(*figure).filter(|figure| !figure.is_nan())).collect())
        }
        Some(Published::Sweep(figures)) => {
            Err(format!("{} published figures for {points} values of the sweep", figures.len()))
        }
    }
}

fn report_row(row: &RowSpec, point: &Point, published: Option<f64>, full_length: bool) -> ReproducedRow {
    let Span { simulated, low, high, kind, enough } = span(row, point);
    let too_short = (row.full_only && !full_length) || !enough;
    let agrees = if too_short { None } else { agrees(row, published, simulated) };
    let wanted = wanted(row, published);
    let decisions = if wanted.is_some() { row.metric.decisions() } else { Vec::new() };
    ReproducedRow {
        what: row.what.clone(),
        cell: row.cell.clone(),
        at: point.at.as_ref().map(|at| at.number),
        at_name: point.at.as_ref().and_then(|at| at.name.clone()),
        published,
        simulated: nine_digits(simulated),
        low: nine_digits(low),
        high: nine_digits(high),
        span: kind,
        unit: point.unit,
        ratio: published.filter(|p| *p != 0.0).map(|p| nine_digits(simulated / p)),
        agrees,
        wanted,
        group: row.group.clone(),
        unreached: row.unreached.clone(),
        decisions,
    }
}

/// A figure over all seeds.
struct Span {
    simulated: f64,
    low: f64,
    high: f64,
    kind: RowSpan,
    /// Whether there are runs enough to tell.
    enough: bool,
}

/// One figure from the seeds', or with `largest_of_runs` what is to be expected of many more.
fn span(row: &RowSpec, point: &Point) -> Span {
    if let Some(runs) = row.largest_of_runs
        && let Some(fit) = ExtremeValue::fit(&point.values)
        && let Some(interval) = largest_interval(&point.values, runs)
    {
        let simulated = fit.median_of_largest(runs);
        let kind = RowSpan::Seeds;
        return Span { simulated, low: interval.low, high: interval.high, kind, enough: true };
    }
    let simulated = point.folded(row.over_seeds);
    if row.interval && point.values.len() > 1 && point.values.iter().all(|value| value.is_finite()) {
        let Interval { low, high } = bca_mean_interval(&point.values);
        return Span { simulated, low, high, kind: RowSpan::Interval, enough: true };
    }
    let of_seeds = || point.values.iter().copied().filter(|value| value.is_finite());
    Span {
        simulated,
        low: of_seeds().fold(simulated, f64::min),
        high: of_seeds().fold(simulated, f64::max),
        kind: RowSpan::Seeds,
        enough: row.largest_of_runs.is_none(),
    }
}

/// Whether a figure is as wanted; `None` if nothing is wanted of it.
fn agrees(row: &RowSpec, published: Option<f64>, simulated: f64) -> Option<bool> {
    let close = published.filter(|_| row.within_percent.is_some() || row.or_within.is_some()).map(|p| {
        let off = (simulated - p).abs();
        let share = row.within_percent.is_some_and(|percent| off <= p.abs() * percent / 100.0);
        share || row.or_within.is_some_and(|within| off <= within)
    });
    let above = row.at_least.map(|least| simulated >= least);
    let below = row.at_most.map(|most| simulated <= most);
    let wanted = [close, above, below];
    wanted.iter().any(Option::is_some).then(|| wanted.iter().all(|fits| *fits != Some(false)))
}

/// What is wanted of a figure, in words.
fn wanted(row: &RowSpec, published: Option<f64>) -> Option<String> {
    let close = match (published, row.within_percent, row.or_within) {
        (Some(_), Some(percent), Some(within)) => Some(format!("within {percent} % or {within}")),
        (Some(_), Some(percent), None) => Some(format!("within {percent} %")),
        (Some(_), None, Some(within)) => Some(format!("within {within}")),
        _ => None,
    };
    let bounds = match (row.at_least, row.at_most) {
        (Some(least), Some(most)) => Some(format!("{least} to {most}")),
        (Some(least), None) => Some(format!("at least {least}")),
        (None, Some(most)) => Some(format!("at most {most}")),
        (None, None) => None,
    };
    let parts: Vec<String> = [close, bounds].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn requirement(
    spec: &RequirementSpec,
    variants: &[ReproducedVariant],
    full_length: bool,
) -> ReproducedRequirement {
    let of_it = variants.iter().filter(|v| spec.variants.is_empty() || spec.variants.contains(&v.name));
    let rows = of_it.flat_map(|v| &v.rows).filter(|row| row.group.as_ref() == Some(&spec.group));
    let judged: Vec<bool> = rows.filter_map(|row| row.agrees).collect();
    let agree = judged.iter().filter(|agrees| **agrees).count();
    let enough = agree as f64 >= spec.share * judged.len() as f64;
    let judge = !judged.is_empty() && (full_length || !spec.full_only);
    ReproducedRequirement {
        what: spec.what.clone(),
        agree: agree as u64,
        of: judged.len() as u64,
        share: spec.share,
        met: judge.then_some(enough),
        unreached: spec.unreached.clone(),
    }
}
