//! What a page says of reproduced experiments.

use super::{Cell, Chart, Content, Curve, CurvePoint, Table, Unit};
use schema::reproduction::{ReproducedExperiment, ReproducedRow, Reproduction, Role, RowSpan, RowUnit};

impl Content {
    /// Of published experiments beside simulated ones.
    #[must_use]
    pub fn of_reproduction(reproduction: &Reproduction) -> Content {
        let titles = reproduction.experiments.iter().map(|one| format!("{}: {}", one.name, one.title));
        let titles: Vec<String> = titles.collect();
        let mut content = Content {
            title: match titles.as_slice() {
                [title] => title.clone(),
                _ => format!("{} published experiments", titles.len()),
            },
            version: reproduction.version.clone(),
            command: reproduction.command.clone(),
            ..Content::default()
        };
        if reproduction.quick {
            content
                .warnings
                .push("The runs were shortened: what is rare has had less time to come.".to_owned());
        }
        let judged = || reproduction.experiments.iter().flat_map(ReproducedExperiment::judged);
        let agree = judged().filter(|row| row.agrees == Some(true)).count();
        content.figure("judged figures that agree", agree as f64, Unit::Count);
        content.figure("judged figures", judged().count() as f64, Unit::Count);
        let failures: Vec<String> = reproduction.experiments.iter().flat_map(|one| one.failures()).collect();
        content.figure("should agree and do not", failures.len() as f64, Unit::Count);
        content.warnings.extend(failures.into_iter().map(|failure| format!("does not agree: {failure}")));
        for experiment in &reproduction.experiments {
            content.fact(&experiment.name, format!("{} ({})", experiment.title, experiment.source));
            content.notes.push(format!("{}: {}", experiment.name, experiment.about));
            content.charts.extend(charts(experiment));
            content.table(figures(experiment));
            content.table(requirements(experiment));
        }
        content
    }
}

/// A chart for each figure that has several values in the sweep.
fn charts(experiment: &ReproducedExperiment) -> Vec<Chart> {
    let Some(sweep) = &experiment.sweep else { return Vec::new() };
    let rows = || experiment.variants.iter().flat_map(|variant| &variant.rows);
    let mut whats: Vec<&str> = Vec::new();
    for row in rows().filter(|row| row.at.is_some()) {
        if !whats.contains(&row.what.as_str()) {
            whats.push(&row.what);
        }
    }
    let mut names: Vec<(u64, &str)> =
        rows().filter_map(|row| Some((row.at? as u64, row.at_name.as_deref()?))).collect();
    names.sort_unstable();
    names.dedup();
    let chart = |what: &str| {
        let unit = rows().find(|row| row.what == what).map_or(RowUnit::Count, |row| row.unit);
        let (y_unit, scale) = page_unit(unit);
        let point = |row: &ReproducedRow| {
            // Names keep their order, and what was left out takes no room.
            let x = match names.iter().position(|(number, _)| Some(*number as f64) == row.at) {
                Some(place) => place as f64,
                None => row.at?,
            };
            let [y, low, high] = [row.simulated, row.low, row.high].map(|value| value * scale);
            Some(CurvePoint { x, y, low, high, published: row.published.map(|value| value * scale) })
        };
        let lines = experiment.variants.iter().map(|variant| {
            let rows = variant.rows.iter().filter(|row| row.what == what);
            let mut points: Vec<CurvePoint> = rows.filter_map(point).collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            Curve { name: variant.name.clone(), points }
        });
        Chart {
            title: format!("{}: {what}", experiment.name),
            x_label: sweep.clone(),
            x_names: names.iter().map(|(_, name)| (*name).to_owned()).collect(),
            y_label: what.to_owned(),
            y_unit,
            lines: lines.filter(|line| !line.points.is_empty()).collect(),
        }
    };
    let charts = whats.into_iter().map(chart);
    charts.filter(|chart| chart.lines.iter().any(|line| line.points.len() > 1)).collect()
}

/// The unit of a page for one of a figure, and the factor between the two.
fn page_unit(unit: RowUnit) -> (Unit, f64) {
    match unit {
        RowUnit::Count | RowUnit::Ratio => (Unit::Count, 1.0),
        _ => (Unit::Ns, unit.scale()),
    }
}

/// Figures have units of their own, so they stand as words.
fn figures(experiment: &ReproducedExperiment) -> Table {
    use Unit::{Count, Text};
    let columns = [
        ("variant", Text),
        ("role", Text),
        ("figure", Text),
        ("at", Text),
        ("published", Text),
        ("simulated", Text),
        ("seeds", Text),
        ("simulated by published", Count),
        ("wanted", Text),
        ("verdict", Text),
    ];
    let mut table = Table::new(format!("{}: published and simulated", experiment.name), &columns);
    for variant in &experiment.variants {
        let role = match variant.role {
            Role::Fitted => "fitted",
            Role::Prediction => "prediction",
        };
        for row in &variant.rows {
            let (unit, scale) = page_unit(row.unit);
            let words = |value: f64| match unit {
                Unit::Ns => super::duration(value * scale),
                _ => crate::numbers::count(value),
            };
            let verdict = match (row.agrees, &row.unreached) {
                (Some(true), _) => "agrees".to_owned(),
                (Some(false), Some(reason)) => format!("does not agree: {reason}"),
                (Some(false), None) => "does not agree".to_owned(),
                (None, _) => String::new(),
            };
            table.rows.push(vec![
                Cell::text(&variant.name),
                Cell::text(role),
                Cell::text(&row.what),
                Cell::text(row.place().unwrap_or_default()),
                Cell::text(row.published.map(words).unwrap_or_default()),
                Cell::text(words(row.simulated)),
                Cell::text(span(row, words)),
                Cell::maybe(row.ratio),
                Cell::text(row.wanted.as_deref().unwrap_or_default()),
                Cell::text(verdict),
            ]);
        }
    }
    table
}

fn requirements(experiment: &ReproducedExperiment) -> Table {
    use Unit::{Count, Share, Text};
    let columns = [("group", Text), ("agree", Count), ("of", Count), ("wanted", Share)];
    let mut table = Table::new(format!("{}: groups of figures", experiment.name), &columns);
    let row = |group: &schema::reproduction::ReproducedRequirement| {
        let [agree, of] = [group.agree, group.of].map(|number| Cell::Number(number as f64));
        vec![Cell::text(&group.what), agree, of, Cell::Number(group.share)]
    };
    table.rows = experiment.requirements.iter().map(row).collect();
    table
}
/// From where to where a figure lies.
fn span(row: &ReproducedRow, words: impl Fn(f64) -> String) -> String {
    let interval = if row.span == RowSpan::Interval { " (95 % interval)" } else { "" };
    format!("{} to {}{interval}", words(row.low), words(row.high))
}
