//! What a sweep comes to: for each combination of values, the figures over the seeds.

use crate::archive::Archive;
use crate::driver::Index;
use crate::error::Error;
use crate::metrics::Metrics;
use crate::plan::Plan;
use report::nine_digits;
use schema::{Metric, SweepAxis, SweepFigure, SweepMetric, SweepPoint, SweepResult, SweepSchema};

/// So many main figures are summed up where nobody says which.
const MOST_FIGURES: usize = 4;

/// A figure over the seeds.
#[derive(Clone, Copy, Default)]
struct Sum {
    runs: u32,
    sum: u128,
    min: u64,
    max: u64,
}

impl Sum {
    fn add(&mut self, value: u64) {
        self.min = if self.runs == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.sum += u128::from(value);
        self.runs += 1;
    }
}

/// Of all rows that are there.
pub fn of(plan: &Plan, archive: &Archive<'_>, index: &Index) -> Result<SweepResult, Error> {
    let metrics = metrics(plan, archive, index)?;
    let mut seen = vec![false; plan.runs()];
    let mut sums = vec![vec![Sum::default(); metrics.len()]; plan.point_count()];
    let mut errors: Vec<Vec<(usize, String)>> = vec![Vec::new(); plan.point_count()];
    for name in archive.names()? {
        let file = archive.read(&name)?;
        let failures = file.texts("error")?;
        let columns: Vec<Vec<Option<u64>>> =
            metrics.iter().map(|metric| file.numbers(&metric.key)).collect::<Result<_, _>>()?;
        for (row, hash) in file.runs()?.into_iter().enumerate() {
            for run in index.runs(hash) {
                if std::mem::replace(&mut seen[run], true) {
                    continue;
                }
                let point = plan.point_of(run);
                errors[point].extend(failures[row].clone().map(|error| (run, error)));
                for (sum, column) in sums[point].iter_mut().zip(&columns) {
                    column[row].into_iter().for_each(|value| sum.add(value));
                }
            }
        }
    }
    let runs_of = |point: usize| {
        let first = point * plan.seeds().len();
        seen[first..first + plan.seeds().len()].iter().filter(|seen| **seen).count() as u64
    };
    let points = errors.into_iter().zip(sums).enumerate().map(|(point, (errors, sums))| {
        let places = plan.places(point).into_iter().zip(plan.axes());
        SweepPoint {
            values: places.map(|(place, axis)| axis.values[place].clone()).collect(),
            runs: runs_of(point),
            failed: errors.len() as u64,
            error: errors.into_iter().min().map(|(_, error)| error),
            figures: metrics.iter().zip(sums).filter_map(|(metric, sum)| figure(metric, sum)).collect(),
        }
    });
    let points: Vec<SweepPoint> = points.collect();
    Ok(SweepResult {
        schema: SweepSchema,
        command: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        title: plan.title.clone(),
        loads: plan.template().base.loads.iter().map(|load| load.load.clone()).collect(),
        axes: plan
            .axes()
            .iter()
            .map(|a| SweepAxis { name: a.name.clone(), values: a.values.clone() })
            .collect(),
        seeds: plan.seeds().to_vec(),
        runs: plan.runs() as u64,
        failed: points.iter().map(|point| point.failed).sum(),
        metrics: metrics.iter().map(SweepMetric::from).collect(),
        points,
        verdicts: Vec::new(),
    })
}

fn figure(metric: &Metric, sum: Sum) -> Option<SweepFigure> {
    let Sum { runs, sum, min, max } = sum;
    let mean = nine_digits(sum as f64 / f64::from(runs));
    (runs > 0).then(|| SweepFigure { key: metric.key.clone(), runs: runs.into(), mean, min, max })
}

/// Those that were asked for, or else the main ones of the first run that has any, by their keys.
fn metrics(plan: &Plan, archive: &Archive<'_>, index: &Index) -> Result<Vec<Metric>, Error> {
    let mut known = Metrics::default();
    let mut first: Option<(usize, Vec<Metric>)> = None;
    for name in archive.names()? {
        let file = archive.read(&name)?;
        let errors = file.texts("error")?;
        for (row, hash) in file.runs()?.into_iter().enumerate() {
            let Some(run) = index.runs(hash).next() else { continue };
            file.metrics().iter().for_each(|metric| known.add(metric));
            if errors[row].is_some() || first.as_ref().is_some_and(|(first, _)| *first <= run) {
                continue;
            }
            let main = file.metrics().iter().filter(|metric| metric.headline);
            let mut has = Vec::new();
            for metric in main {
                has.extend(file.numbers(&metric.key)?[row].map(|_| metric.clone()));
            }
            first = Some((run, has));
        }
    }
    if !plan.metrics.is_empty() {
        return Ok(plan.metrics.iter().filter_map(|key| known.get(key).cloned()).collect());
    }
    let mut main = first.map(|(_, main)| main).unwrap_or_default();
    main.sort_by(|one, other| one.key.cmp(&other.key));
    main.truncate(MOST_FIGURES);
    Ok(main)
}
