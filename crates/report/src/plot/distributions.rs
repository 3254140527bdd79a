//! Several distributions of durations over each other: how often each length, and which share is longer.

use super::legend::LEGEND;
use super::scale::{Quantity, Scale};
use super::{Axis, COLOURS, FONT, SIZE};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::collections::BTreeMap;

/// What the charts say.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words<'w> {
    /// Captions of both.
    pub often: &'w str,
    pub longer: &'w str,
    /// What is on the x axis, and of what the shares on the y axis are.
    pub length: &'w str,
    pub of: &'w str,
    /// What is said in the legend where there is nothing.
    pub none: &'w str,
}

/// One of the distributions.
#[derive(Debug, Clone)]
pub(super) struct Curve {
    name: String,
    known: Known,
}

#[derive(Debug, Clone)]
enum Known {
    /// How many there are of each length, nanoseconds.
    Counts(BTreeMap<u64, u64>),
    /// Shares that are as long or longer, per cent, by length, the shortest first.
    Longer(Vec<(u64, f64)>),
}

impl Curve {
    pub fn of_counts(name: String, counts: BTreeMap<u64, u64>) -> Curve {
        Curve { name, known: Known::Counts(counts) }
    }

    pub fn of_longer(name: String, longer: Vec<(u64, f64)>) -> Curve {
        Curve { name, known: Known::Longer(longer) }
    }

    fn ends(&self) -> Option<[u64; 2]> {
        match &self.known {
            Known::Counts(counts) => Some([*counts.first_key_value()?.0, *counts.last_key_value()?.0]),
            Known::Longer(longer) => Some([longer.first()?.0, longer.last()?.0]),
        }
    }
}

/// So many bars would fit beside each other.
const BARS: usize = 64;
/// Of each chart.
const HEIGHT: u32 = 320;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// A place in a chart: a length, and a share of all in per cent.
type Point = (f64, f64);

pub(super) struct Charts<'w> {
    words: Words<'w>,
    names: Vec<String>,
    x: Scale,
    /// Of each the outline of its bars; empty where counts are not known.
    often: Vec<Vec<Point>>,
    /// Of each which share is longer.
    longer: Vec<Vec<Point>>,
    /// Of each, whether points are all that is known of it.
    is_points: Vec<bool>,
}

impl<'w> Charts<'w> {
    /// None where all are empty.
    pub fn of(all: &[Curve], words: Words<'w>) -> Option<Charts<'w>> {
        let ends = all.iter().filter_map(Curve::ends).flatten();
        // On a logarithmic axis there is no 0.
        let ends: Vec<f64> = ends.map(|ns| ns.max(1) as f64).collect();
        if ends.is_empty() {
            return None;
        }
        let x = Scale::of(ends.into_iter(), Quantity::Time);
        let name = |curve: &Curve| {
            let most =
                curve.ends().map_or(words.none.to_owned(), |[_, most]| format!("at most {}", label(most)));
            format!("{}, {most}", curve.name)
        };
        let bars = |curve: &Curve| match &curve.known {
            Known::Counts(counts) => often(counts, &x),
            Known::Longer(_) => Vec::new(),
        };
        let shares = |curve: &Curve| match &curve.known {
            Known::Counts(counts) => longer(counts, &x),
            Known::Longer(points) => points.iter().map(|(ns, share)| (place(*ns, &x), *share)).collect(),
        };
        Some(Charts {
            words,
            names: all.iter().map(name).collect(),
            often: all.iter().map(bars).collect(),
            longer: all.iter().map(shares).collect(),
            is_points: all.iter().map(|curve| matches!(curve.known, Known::Longer(_))).collect(),
            x,
        })
    }

    /// One picture of both charts, or of the second where nothing can be counted.
    pub fn svg(&self) -> String {
        let mut svg = String::new();
        self.draw(&mut svg).expect("a string takes everything that is written to it");
        svg
    }

    fn draw(&self, svg: &mut String) -> Drawn {
        let letters = self.names.iter().map(|name| name.chars().count() as u32).max().unwrap_or(0);
        let beside = LEGEND.sample + 2 * LEGEND.gap + letters * LEGEND.character;
        let is_counted = self.often.iter().any(|bars| !bars.is_empty());
        let height = if is_counted { 2 * HEIGHT } else { HEIGHT };
        let area = SVGBackend::with_string(svg, (SIZE.0 + beside, height)).into_drawing_area();
        area.fill(&WHITE)?;
        let (charts, legend) = area.split_horizontally(SIZE.0);
        let (above, below) = charts.split_vertically(height - HEIGHT);
        if is_counted {
            let most = self.often.iter().flatten().map(|(_, share)| *share).fold(0.0, f64::max);
            let y = Scale::of([0.0, most].into_iter(), Quantity::Share);
            self.chart(&above, self.words.often, &self.often, &y)?;
        }
        let least = self.longer.iter().flatten().map(|(_, share)| *share).fold(100.0, f64::min);
        let y = Scale::of([least, 100.0].into_iter(), Quantity::Share);
        let drawn =
            |(line, is_points): (&Vec<Point>, &bool)| if *is_points { line.clone() } else { steps(line) };
        let longer: Vec<Vec<Point>> = self.longer.iter().zip(&self.is_points).map(drawn).collect();
        self.chart(&below, self.words.longer, &longer, &y)?;
        for (number, name) in self.names.iter().enumerate() {
            let (left, height) = (LEGEND.gap as i32, LEGEND.top + number as i32 * LEGEND.row);
            let right = left + LEGEND.sample as i32;
            legend.draw(&PathElement::new([(left, height), (right, height)], style(number)))?;
            let place = (right + LEGEND.gap as i32 / 2, height - LEGEND.row / 3);
            legend.draw(&Text::new(name.as_str(), place, (FONT, 12)))?;
        }
        area.present()
    }

    fn chart(&self, area: &Area<'_>, caption: &str, lines: &[Vec<Point>], y: &Scale) -> Drawn {
        let mut chart = ChartBuilder::on(area)
            .caption(caption, (FONT, 16))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(70)
            .build_cartesian_2d(Axis::of(&self.x), Axis::of(y))?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .x_desc(self.words.length)
            .y_desc(self.words.of)
            .x_labels(self.x.points().len())
            .y_labels(y.points().len())
            .x_label_formatter(&|at| self.x.label(*at))
            .y_label_formatter(&|at| y.label(*at))
            .draw()?;
        for (number, line) in lines.iter().enumerate() {
            let points = || line.iter().map(|(at, share)| (*at, y.place(*share)));
            chart.draw_series(LineSeries::new(points(), style(number)))?;
            if self.is_points[number] {
                chart.draw_series(points().map(|at| Circle::new(at, 4, style(number).filled())))?;
            }
        }
        Ok(())
    }
}

fn style(number: usize) -> ShapeStyle {
    COLOURS[number % COLOURS.len()].stroke_width(if number < COLOURS.len() { 2 } else { 1 })
}

fn label(ns: u64) -> String {
    let text = crate::numbers::duration_ns(ns).replace("us", "µs");
    match text.find(char::is_alphabetic) {
        Some(unit) => format!("{} {}", &text[..unit], &text[unit..]),
        None => text,
    }
}

fn place(ns: u64, x: &Scale) -> f64 {
    x.place(ns.max(1) as f64)
}

/// The outline of bars of equal width in the picture.
fn often(all: &BTreeMap<u64, u64>, x: &Scale) -> Vec<Point> {
    let range = x.range();
    let width = (range.end - range.start) / BARS as f64;
    let mut counts = [0u64; BARS];
    for (ns, count) in all {
        let bar = ((place(*ns, x) - range.start) / width) as usize;
        counts[bar.min(BARS - 1)] += count;
    }
    let total = all.values().sum::<u64>().max(1) as f64;
    let corners = |(bar, count): (usize, &u64)| {
        let share = 100.0 * *count as f64 / total;
        [(range.start + bar as f64 * width, share), (range.start + (bar + 1) as f64 * width, share)]
    };
    counts.iter().enumerate().flat_map(corners).collect()
}

/// The share falls at each length that occurs, and stays as it is up to the next one.
fn steps(line: &[Point]) -> Vec<Point> {
    let corners = line.windows(2).flat_map(|two| [two[0], (two[0].0, two[1].1)]);
    corners.chain(line.last().copied()).collect()
}

/// Of each length that occurs, which share is as long or longer; at most a point for a pixel.
fn longer(all: &BTreeMap<u64, u64>, x: &Scale) -> Vec<Point> {
    let range = x.range();
    let least = (range.end - range.start) / 1_000.0;
    let total = all.values().sum::<u64>() as f64;
    let mut left = total;
    let mut points: Vec<Point> = Vec::new();
    for (ns, count) in all {
        let at = place(*ns, x);
        if points.last().is_none_or(|(last, _)| at - last >= least) {
            points.push((at, 100.0 * left / total));
        }
        left -= *count as f64;
    }
    // The longest is one, where several are as long, too.
    if let Some((ns, _)) = all.last_key_value() {
        let end = (place(*ns, x), 100.0 / total);
        if points.last() != Some(&end) {
            points.push(end);
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: Words<'_> =
        Words { often: "How often", longer: "Longer", length: "length", of: "of all", none: "nothing" };

    fn charts(curve: Curve) -> Charts<'static> {
        Charts::of(&[curve], WORDS).expect("charts")
    }

    #[test]
    fn bars_count_each_once_and_shares_fall_from_all_to_the_longest() {
        let each = (1..=1_000).map(|n| (n * 1_000, 1)).collect();
        let charts = charts(Curve::of_counts("base".to_owned(), each));
        let bars: f64 = charts.often[0].chunks(2).map(|bar| bar[0].1).sum();
        assert!((bars - 100.0).abs() < 1e-9, "{bars}");
        let shares = &charts.longer[0];
        assert!((shares[0].1 - 100.0).abs() < 1e-9);
        assert!((shares.last().expect("a point").1 - 0.1).abs() < 1e-9);
        assert!(shares.windows(2).all(|two| two[1].1 < two[0].1 && two[1].0 >= two[0].0));
        // Half of all are longer than 500 µs.
        let at = charts.x.place(500_000.0);
        let half = shares.iter().find(|(place, _)| *place >= at).expect("a point").1;
        assert!((half - 50.0).abs() < 1.0, "{half}");
    }

    /// Nine of 1 µs and one of 100 µs, told one by one or by number.
    #[test]
    fn what_is_counted_often_weighs_as_much() {
        let shares = &charts(Curve::of_counts(String::new(), [(1_000, 9), (100_000, 1)].into())).longer[0];
        let [(_, all), (_, longest)] = shares[..] else { panic!("{shares:?}") };
        assert!((all - 100.0).abs() < 1e-9 && (longest - 10.0).abs() < 1e-9, "{shares:?}");
    }

    /// Nobody waits 10 µs: between 1 and 100 as many are longer all the way.
    #[test]
    fn a_share_falls_in_steps() {
        assert_eq!(steps(&[(1.0, 100.0), (100.0, 10.0)]), [(1.0, 100.0), (1.0, 10.0), (100.0, 10.0)]);
        assert_eq!(steps(&[]), []);
        let charts = charts(Curve::of_counts(String::new(), [(1_000, 9), (100_000, 1)].into()));
        let svg = charts.svg();
        let line = svg.split("<polyline").last().expect("a line");
        let points = line.split("points=\"").nth(1).and_then(|line| line.split('"').next()).expect("points");
        let points: Vec<(&str, &str)> = points.split_whitespace().filter_map(|p| p.split_once(',')).collect();
        assert!(points.windows(2).all(|two| two[0].0 == two[1].0 || two[0].1 == two[1].1), "{points:?}");
    }

    /// Of points there is nothing to count, so the first chart is left out.
    #[test]
    fn known_points_are_drawn_as_such() {
        let svg = charts(Curve::of_longer("it".to_owned(), vec![(1_000, 100.0), (90_000, 1.0)])).svg();
        assert_eq!((svg.matches("<circle").count(), svg.contains("How often")), (2, false));
        assert!(svg.contains("it, at most 90.0 µs"), "{svg}");
    }
}
