//! What a page says of a sweep.

use super::{Cell, Chart, Content, Curve, CurvePoint, Table, Unit};
use schema::{SweepFigure, SweepMetric, SweepPoint, SweepResult};

impl Content {
    /// Of a sweep.
    #[must_use]
    pub fn of_sweep(sweep: &SweepResult) -> Content {
        let mut content = Content {
            title: sweep.title.clone().unwrap_or_else(|| sweep.loads.join(" + ")),
            version: sweep.version.clone(),
            command: sweep.command.clone(),
            notes: sweep.verdicts.clone(),
            ..Content::default()
        };
        for load in &sweep.loads {
            content.fact("load", load);
        }
        for axis in &sweep.axes {
            content.fact(&axis.name, axis.values.join(", "));
        }
        content.fact("seeds", sweep.seeds.len().to_string());
        content.figure("runs", sweep.runs as f64, Unit::Count);
        content.figure("failed", sweep.failed as f64, Unit::Count);
        for point in sweep.points.iter().filter(|point| point.failed > 0) {
            let why = point.error.as_deref().unwrap_or("no reason was kept");
            content.warnings.push(format!("{} failed: {why}", point.values.join(", ")));
        }
        for metric in &sweep.metrics {
            content.charts.extend(chart(sweep, metric));
            content.table(table(sweep, metric));
        }
        content
    }
}

fn unit(metric: &SweepMetric) -> Unit {
    match metric.unit {
        schema::Unit::Count => Unit::Count,
        schema::Unit::Nanoseconds => Unit::Ns,
    }
}

fn figure<'p>(point: &'p SweepPoint, metric: &SweepMetric) -> Option<&'p SweepFigure> {
    point.figures.iter().find(|figure| figure.key == metric.key)
}

fn said(value: &str) -> &str {
    if value.is_empty() { "(none)" } else { value }
}

/// The last axis that has several values lies along the chart; each combination of the others is a line.
fn chart(sweep: &SweepResult, metric: &SweepMetric) -> Option<Chart> {
    let along = sweep.axes.iter().rposition(|axis| axis.values.len() > 1)?;
    let axis = &sweep.axes[along];
    let mut lines: Vec<Curve> = Vec::new();
    for point in &sweep.points {
        let Some(figure) = figure(point, metric) else { continue };
        let varies = |place: &usize| *place != along && sweep.axes[*place].values.len() > 1;
        let others = (0..point.values.len()).filter(varies);
        // Of two numbers nobody knows which is which.
        let named = others.map(|place| format!("{} {}", sweep.axes[place].name, said(&point.values[place])));
        let name = named.collect::<Vec<_>>().join(", ");
        let x = axis.values.iter().position(|value| *value == point.values[along])? as f64;
        let (low, high) = (figure.min as f64, figure.max as f64);
        let place = CurvePoint { x, y: figure.mean, low, high, published: None };
        match lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push(place),
            None => lines.push(Curve { name, points: vec![place] }),
        }
    }
    let chart = Chart {
        title: metric.label.clone(),
        x_label: axis.name.clone(),
        x_names: axis.values.clone(),
        y_label: metric.label.clone(),
        y_unit: unit(metric),
        lines,
    };
    Some(chart).filter(|chart| chart.lines.iter().any(|line| line.points.len() > 1))
}

fn table(sweep: &SweepResult, metric: &SweepMetric) -> Table {
    let mut columns: Vec<(&str, Unit)> =
        sweep.axes.iter().map(|axis| (axis.name.as_str(), Unit::Text)).collect();
    let unit = unit(metric);
    columns.extend([("runs", Unit::Count), ("mean", unit), ("least", unit), ("most", unit)]);
    let mut table = Table::new(metric.label.as_str(), &columns);
    for point in &sweep.points {
        let mut row: Vec<Cell> = point.values.iter().map(Cell::text).collect();
        match figure(point, metric) {
            Some(figure) => row.extend([
                Cell::count(figure.runs),
                Cell::Number(figure.mean),
                Cell::count(figure.min),
                Cell::count(figure.max),
            ]),
            None => row.extend([Cell::count(0), Cell::Empty(()), Cell::Empty(()), Cell::Empty(())]),
        }
        table.rows.push(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::example;

    /// Of `2.6.36, 2` nobody knows what the 2 is.
    #[test]
    fn lines_are_named_by_axis_and_value() {
        let content = Content::of_sweep(&example::sweep());
        let names: Vec<&str> = content.charts[0].lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["kernel 2.6.36", "kernel 6.1"]);
    }

    #[test]
    fn the_verdict_on_a_replay_stands_on_the_page() {
        let verdict = "the replay of t.dat is good for switches (1.0 % off)".to_owned();
        let sweep = SweepResult { verdicts: vec![verdict.clone()], ..example::sweep() };
        assert_eq!(Content::of_sweep(&sweep).notes, [verdict]);
    }
}
