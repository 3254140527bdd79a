//! Pictures, SVG and PNG. Of experiments that vary something: a chart for each figure, a line for each
//! variant. Of latencies: what they are due to, how they differ between configurations, and from what was
//! recorded.

mod blame;
mod distributions;
mod latencies;
mod legend;
#[cfg(feature = "png")]
mod png;
mod scale;
mod validation;

use crate::reproduce::crossings;
pub use blame::blame;
pub use latencies::{Latencies, latencies};
use legend::{LEGEND, Symbol};
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
#[cfg(feature = "png")]
pub use png::{PngError, png};
use scale::{Quantity, Scale};
use schema::reproduction::{ReproducedExperiment, ReproducedRow, RowSpan, RowUnit};
pub use validation::validated;

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

/// A scale with its labels, for plotters, which would put them elsewhere.
struct Axis {
    range: RangedCoordf64,
    points: Vec<f64>,
}

impl Axis {
    fn of(scale: &Scale) -> Axis {
        Axis { range: scale.range().into(), points: scale.points() }
    }
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.range.map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { Vec::new() } else { self.points.clone() }
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.range.range()
    }
}

fn is_time(unit: RowUnit) -> bool {
    !matches!(unit, RowUnit::Count | RowUnit::Ratio)
}

/// A variant's values.
struct Line {
    name: String,
    simulated: Vec<Point>,
    /// Low and high end, for each of them.
    seeds: Vec<[Point; 2]>,
    published: Vec<Point>,
}

impl Line {
    /// Whether another line of these points goes where this one does.
    fn is_hidden_by(&self, points: &[Point]) -> bool {
        let is_near = |(a, b): (&Point, &Point)| a.x == b.x && (a.y - b.y).abs() <= 0.002 * a.y.abs();
        self.simulated.len() == points.len() && self.simulated.iter().zip(points).all(is_near)
    }

    fn has_bars(&self) -> bool {
        self.seeds.iter().any(|[low, high]| low.y != high.y)
    }
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
    quantity: Quantity,
    lines: Vec<Line>,
    /// What the bars of the lines show.
    bars: RowSpan,
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

impl Chart {
    fn of(experiment: &ReproducedExperiment, sweep: &str, what: &str) -> Chart {
        let (mut unit, mut bars) = (RowUnit::Count, RowSpan::Seeds);
        let mut lines = Vec::new();
        let mut names: Vec<(u64, String)> = Vec::new();
        for variant in &experiment.variants {
            let rows = || variant.rows.iter().filter(|row| row.what == what);
            // Times in one unit, so that the axis can choose the one that suits.
            let place = |row: &ReproducedRow, y: f64| {
                let scale = if is_time(row.unit) { row.unit.scale() } else { 1.0 };
                row.at.map(|x| Point { x, y: y * scale })
            };
            let simulated: Vec<Point> = rows().filter_map(|row| place(row, row.simulated)).collect();
            let bar = |row: &ReproducedRow| Some([place(row, row.low)?, place(row, row.high)?]);
            let seeds = rows().filter_map(bar).collect();
            let published = rows().filter_map(|row| place(row, row.published?)).collect();
            names.extend(rows().filter_map(|row| Some((row.at? as u64, row.at_name.clone()?))));
            (unit, bars) = rows().next().map_or((unit, bars), |row| (row.unit, row.span));
            if !simulated.is_empty() {
                let below = lines.iter().find(|line: &&Line| line.is_hidden_by(&simulated));
                let name = match below {
                    Some(below) => format!("{}, the line of {}", variant.name, below.name),
                    None => variant.name.clone(),
                };
                lines.push(Line { name, simulated, seeds, published });
            }
        }
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
            y_name: what.to_owned(),
            quantity: if is_time(unit) { Quantity::Time } else { Quantity::Number },
            lines,
            bars,
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
            [] => Scale::of(places().map(|place| place.x), Quantity::Number),
            names => Scale::of_names(names),
        };
        let y = Scale::of(places().map(|place| place.y), self.quantity);
        let symbols = self.symbols();
        let names = self.lines.iter().map(|line| line.name.as_str());
        let words = names.chain(symbols.iter().map(|symbol| symbol.words()));
        let legend = words.map(|word| word.chars().count() as u32).max().unwrap_or(0);
        let size = (SIZE.0 + LEGEND.sample + 2 * LEGEND.gap + legend * LEGEND.character, SIZE.1);
        let area = SVGBackend::with_string(svg, size).into_drawing_area();
        area.fill(&WHITE)?;
        let (area, legend) = area.split_horizontally(SIZE.0);
        let mut chart = ChartBuilder::on(&area)
            .caption(&self.caption, (FONT, 18))
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(76)
            .build_cartesian_2d(Axis::of(&x), Axis::of(&y))?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .x_desc(&self.x_name)
            .y_desc(&self.y_name)
            .x_labels(x.points().len())
            .y_labels(y.points().len())
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
        for (number, symbol) in symbols.into_iter().enumerate() {
            // One row is left free below the lines.
            symbol.draw(&legend, self.lines.len() + 1 + number)?;
        }
        area.present()
    }

    /// Those that stand in the chart, where there are any but points of lines.
    fn symbols(&self) -> Vec<Symbol> {
        let (first, again) = self.lines.split_at(self.lines.len().min(COLOURS.len()));
        let is_published = |lines: &[Line]| lines.iter().any(|line| !line.published.is_empty());
        let stand = [
            (is_published(first), Symbol::Published),
            (is_published(again), Symbol::PublishedOfDashed),
            (self.lines.iter().any(Line::has_bars), Symbol::Bar(self.bars)),
        ];
        let others: Vec<Symbol> = stand.into_iter().filter_map(|(is, symbol)| is.then_some(symbol)).collect();
        if others.is_empty() { others } else { [vec![Symbol::Simulated], others].concat() }
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
        // A circle for each value, and one in the legend.
        assert_eq!(svg.matches("<circle").count(), 6 + 1);
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
    fn a_line_that_hides_another_says_so_and_symbols_are_explained() {
        let mut experiment = example::swept();
        assert!(!swept(&experiment)[0].svg.contains("the line of"));
        let first = experiment.variants[0].rows.clone();
        experiment.variants[1].rows = first;
        let svg = &swept(&experiment)[0].svg;
        assert!(svg.contains("after, the line of before"), "{svg}");
        assert!(svg.contains("simulated") && svg.contains("published"));
        for row in experiment.variants.iter_mut().flat_map(|variant| &mut variant.rows) {
            (row.published, row.low, row.high) = (None, row.simulated, row.simulated);
        }
        assert!(!swept(&experiment)[0].svg.contains("simulated"), "every symbol is a point of a line");
    }

    #[test]
    fn what_is_not_swept_has_no_chart() {
        let mut experiment = example::swept();
        experiment.sweep = None;
        assert_eq!(swept(&experiment), []);
    }
}
