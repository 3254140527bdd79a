//! Pictures of experiments that vary something: a chart for each figure, a line for each variant, SVG.

use crate::numbers::digits3;
use crate::reproduce::crossings;
use plotters::prelude::*;
use schema::reproduction::{ReproducedExperiment, ReproducedRow, RowUnit};
use std::ops::Range;

/// A chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plot {
    /// Experiment and figure, fit for the name of a file.
    pub name: String,
    /// The picture.
    pub svg: String,
}

/// A chart for each figure that has several values in the sweep; none without a sweep. A bar goes from the
/// least to the most of any seed. What the document says is a cross (of a dashed line a triangle) in the
/// colour of its variant.
#[must_use]
pub fn swept(experiment: &ReproducedExperiment) -> Vec<Plot> {
    let Some(sweep) = &experiment.sweep else { return Vec::new() };
    let rows = experiment.variants.iter().flat_map(|variant| &variant.rows);
    let mut whats: Vec<&str> = Vec::new();
    for row in rows.filter(|row| row.at.is_some()) {
        if !whats.contains(&row.what.as_str()) {
            whats.push(&row.what);
        }
    }
    let charts = whats.into_iter().map(|what| Chart::of(experiment, sweep, what));
    charts.filter(|chart| chart.lines.iter().any(|line| line.simulated.len() > 1)).map(|c| c.plot()).collect()
}

/// A variant's values.
struct Line {
    name: String,
    simulated: Vec<Point>,
    /// Least and most of any seed, for each of them.
    seeds: Vec<[Point; 2]>,
    published: Vec<Point>,
}

#[derive(Clone, Copy)]
struct Point {
    x: f64,
    y: f64,
}

struct Chart {
    name: String,
    caption: String,
    x_name: String,
    y_name: String,
    lines: Vec<Line>,
    /// Of a sweep over names: number and name of each that was run, in order.
    names: Vec<(u64, String)>,
}

/// Colours that the colour-blind can tell apart (Okabe and Ito 2008).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
];
/// Of the chart; the legend stands on its right, where no line can be behind it.
const SIZE: (u32, u32) = (800, 500);
const FONT: &str = "sans-serif";

/// In pixels.
struct Legend {
    /// Height of the first line's sample, and from one to the next.
    top: i32,
    row: i32,
    /// Length of a sample, and what is free on its left and behind the names.
    sample: u32,
    gap: u32,
    /// Width of a letter, on average.
    character: u32,
}
const LEGEND: Legend = Legend { top: 52, row: 18, sample: 18, gap: 12, character: 6 };

impl Chart {
    fn of(experiment: &ReproducedExperiment, sweep: &str, what: &str) -> Chart {
        let mut unit = RowUnit::Count;
        let mut lines = Vec::new();
        let mut names: Vec<(u64, String)> = Vec::new();
        for variant in &experiment.variants {
            let rows = || variant.rows.iter().filter(|row| row.what == what);
            let place = |row: &ReproducedRow, y| row.at.map(|x| Point { x, y });
            let simulated: Vec<Point> = rows().filter_map(|row| place(row, row.simulated)).collect();
            let bar = |row: &ReproducedRow| Some([place(row, row.low)?, place(row, row.high)?]);
            let seeds = rows().filter_map(bar).collect();
            let published = rows().filter_map(|row| place(row, row.published?)).collect();
            names.extend(rows().filter_map(|row| Some((row.at? as u64, row.at_name.clone()?))));
            unit = rows().next().map_or(unit, |row| row.unit);
            if !simulated.is_empty() {
                lines.push(Line { name: variant.name.clone(), simulated, seeds, published });
            }
        }
        let suffix = match unit {
            RowUnit::Count | RowUnit::Ratio => "",
            RowUnit::Nanoseconds => " (ns)",
            RowUnit::Microseconds => " (us)",
            RowUnit::Milliseconds => " (ms)",
            RowUnit::Seconds => " (s)",
        };
        let words = what.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        names.sort();
        names.dedup();
        let crossings = if names.is_empty() { crossings(experiment) } else { Vec::new() };
        let at = crossings.iter().find(|crossing| crossing.what == what).and_then(|crossing| crossing.at);
        let crossing = at.map_or(String::new(), |at| format!("; the lines cross at {sweep} {at:.0}"));
        Chart {
            name: format!("{}.{}", experiment.name, words.join("-")),
            caption: format!("{}: {what}{crossing}", experiment.name),
            x_name: sweep.to_owned(),
            y_name: format!("{what}{suffix}"),
            lines,
            names,
        }
    }

    fn plot(&self) -> Plot {
        let mut svg = String::new();
        self.draw(&mut svg).expect("a string takes everything that is written to it");
        Plot { name: self.name.clone(), svg }
    }

    fn draw(&self, svg: &mut String) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
        let of_line =
            |line: &Line| line.seeds.as_flattened().iter().chain(&line.published).copied().collect();
        let places = || self.lines.iter().flat_map(|line| -> Vec<Point> { of_line(line) });
        let x = match self.names.as_slice() {
            [] => Scale::of(places().map(|place| place.x)),
            names => Scale::of_names(names),
        };
        let y = Scale::of(places().map(|place| place.y));
        let legend = self.lines.iter().map(|line| line.name.chars().count() as u32).max().unwrap_or(0);
        let size = (SIZE.0 + LEGEND.sample + 2 * LEGEND.gap + legend * LEGEND.character, SIZE.1);
        let area = SVGBackend::with_string(svg, size).into_drawing_area();
        area.fill(&WHITE)?;
        let (area, legend) = area.split_horizontally(SIZE.0);
        let mut chart = ChartBuilder::on(&area)
            .caption(&self.caption, (FONT, 18))
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(76)
            .build_cartesian_2d(x.range(), y.range())?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .x_desc(&self.x_name)
            .y_desc(&self.y_name)
            .x_labels(x.labels())
            .y_labels(y.labels())
            .x_label_formatter(&|at| x.label(*at))
            .y_label_formatter(&|at| y.label(*at))
            .draw()?;
        for (number, line) in self.lines.iter().enumerate() {
            let colour = &COLOURS[number % COLOURS.len()];
            // More lines than colours: the others are thin and dashed.
            let again = number >= COLOURS.len();
            let style = colour.stroke_width(if again { 1 } else { 2 });
            let at = |place: &Point| (x.place(place.x), y.place(place.y));
            let points = line.simulated.iter().map(at);
            let (left, height) = (LEGEND.gap as i32, LEGEND.top + number as i32 * LEGEND.row);
            let right = left + LEGEND.sample as i32;
            let sample = [(left, height), (right, height)];
            if again {
                chart.draw_series(DashedLineSeries::new(points, 6, 4, style))?;
                let halves = [[sample[0], (left + 7, height)], [(right - 7, height), sample[1]]];
                halves.into_iter().try_for_each(|half| legend.draw(&PathElement::new(half, style)))?;
            } else {
                chart.draw_series(LineSeries::new(points, style))?;
                legend.draw(&PathElement::new(sample, style))?;
            }
            let name = (right + LEGEND.gap as i32 / 2, height - LEGEND.row / 3);
            legend.draw(&Text::new(line.name.as_str(), name, (FONT, 12)))?;
            let bars = line.seeds.iter().map(|bar| bar.iter().map(at).collect::<Vec<_>>());
            chart.draw_series(bars.map(|bar| PathElement::new(bar, colour.stroke_width(1))))?;
            chart.draw_series(line.simulated.iter().map(|p| Circle::new(at(p), 3, colour.filled())))?;
            let published = line.published.iter().map(at);
            if again {
                chart.draw_series(published.map(|p| TriangleMarker::new(p, 6, style)))?;
            } else {
                chart.draw_series(published.map(|p| Cross::new(p, 6, style)))?;
            }
        }
        area.present()
    }
}

/// An axis: logarithmic where the values span more than a decade, otherwise linear from zero; or names.
struct Scale {
    names: Vec<(u64, String)>,
    logarithmic: bool,
    low: f64,
    high: f64,
}

impl Scale {
    fn of(values: impl Iterator<Item = f64>) -> Scale {
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
        let logarithmic = low > 0.0 && high / low > 10.0;
        let low = if logarithmic { low } else { low.min(0.0) };
        Scale { names: Vec::new(), logarithmic, low, high }
    }

    /// One step for each name, whatever was left out between them.
    fn of_names(names: &[(u64, String)]) -> Scale {
        Scale { names: names.to_vec(), logarithmic: false, low: 1.0, high: names.len() as f64 }
    }

    fn place(&self, value: f64) -> f64 {
        match self.names.iter().position(|(number, _)| *number == value as u64) {
            Some(rank) => rank as f64 + 1.0,
            None if self.logarithmic => value.log2(),
            None => value,
        }
    }

    /// With some room at the ends.
    fn range(&self) -> Range<f64> {
        let (low, high) = match self.names.len() {
            0 => (self.place(self.low), self.place(self.high)),
            _ => (self.low, self.high),
        };
        let room = (high - low).max(f64::MIN_POSITIVE) * 0.06;
        if self.logarithmic || !self.names.is_empty() { low - room..high + room } else { low..high + room }
    }

    fn labels(&self) -> usize {
        let range = self.range();
        if !self.names.is_empty() {
            return self.names.len();
        }
        if self.logarithmic { (range.end - range.start).ceil() as usize + 1 } else { 10 }
    }

    /// Powers of two on a logarithmic axis.
    fn label(&self, at: f64) -> String {
        if !self.names.is_empty() {
            let here = self.names.get((at as usize).wrapping_sub(1)).filter(|_| at.fract() == 0.0);
            return here.map_or(String::new(), |(_, name)| name.clone());
        }
        let value = match (self.logarithmic, at.fract() == 0.0) {
            (true, false) => return String::new(),
            (true, true) => at.exp2(),
            (false, _) => at,
        };
        match value.abs() {
            _ if value.fract() == 0.0 => value.to_string(),
            // Two decimals would not tell them apart.
            size if size < 0.1 => format!("{value:.1e}"),
            _ => digits3(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::example::reproduction as example;

    #[test]
    fn each_swept_figure_has_a_chart_with_a_line_for_each_variant() {
        let plots = swept(&example::swept());
        assert_eq!(plots.len(), 1);
        assert_eq!(plots[0].name, "009.search-cost");
        let svg = &plots[0].svg;
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        // A circle for each value.
        assert_eq!(svg.matches("<circle").count(), 6);
        for text in ["before", "after", "cpus", "256", "search cost", "cross at cpus 6"] {
            assert!(svg.contains(text), "{text}");
        }
    }

    #[test]
    fn the_legend_stands_beside_the_chart() {
        let svg = &swept(&example::swept())[0].svg;
        let x_of = |line: &str| line.split_once("x=\"")?.1.split_once('"')?.0.parse::<u32>().ok();
        let lines: Vec<&str> = svg.lines().collect();
        for name in ["before", "after"] {
            let text = lines.iter().position(|line| *line == name).expect(name);
            let x = x_of(lines[text - 1]).expect("the place of a text");
            assert!(x >= SIZE.0, "{name} stands at {x}");
        }
    }

    #[test]
    fn what_is_not_swept_has_no_chart() {
        let mut experiment = example::swept();
        experiment.sweep = None;
        assert_eq!(swept(&experiment), []);
    }

    /// What a quick run leaves out takes no room.
    #[test]
    fn an_axis_of_names_has_a_step_for_each() {
        let scale = Scale::of_names(&[(1, "2.6.36".to_owned()), (8, "6.18".to_owned())]);
        let labels = [1.0, 8.0].map(|at| scale.label(scale.place(at)));
        assert_eq!(labels, ["2.6.36", "6.18"]);
        assert_eq!((scale.place(8.0), scale.label(1.5).as_str()), (2.0, ""));
    }

    #[test]
    fn an_axis_is_logarithmic_over_more_than_a_decade() {
        let labels = |values: [f64; 2]| {
            let scale = Scale::of(values.into_iter());
            (scale.logarithmic, scale.label(scale.place(values[1])))
        };
        assert_eq!(labels([2.0, 256.0]), (true, "256".to_owned()));
        assert_eq!(labels([2.0, 8.0]), (false, "8".to_owned()));
    }
}
