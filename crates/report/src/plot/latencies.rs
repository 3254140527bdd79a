//! How long woken tasks waited under several configurations: how often each latency, and which share waits
//! longer, over each other.

use super::legend::LEGEND;
use super::scale::{Quantity, Scale};
use super::{Axis, COLOURS, FONT, Plot, SIZE};
use plotters::coord::Shift;
use plotters::prelude::*;

/// Of one configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Latencies {
    /// Its name.
    pub name: String,
    /// From each wakeup until the task ran, nanoseconds.
    pub each_ns: Vec<u64>,
}

/// So many bars would fit beside each other.
const BARS: usize = 64;
/// Of each of both charts.
const HEIGHT: u32 = 320;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Two charts in one picture; none where nobody was woken.
#[must_use]
pub fn latencies(all: &[Latencies]) -> Option<Plot> {
    let charts = Charts::of(all)?;
    let mut svg = String::new();
    charts.draw(&mut svg).expect("a string takes everything that is written to it");
    Some(Plot { name: "latencies".to_owned(), svg })
}

/// A place in a chart: a latency, and a share of the wakeups in per cent.
type Point = (f64, f64);

struct Charts {
    names: Vec<String>,
    x: Scale,
    /// Of each configuration the outline of its bars.
    often: Vec<Vec<Point>>,
    /// Of each which share waits longer.
    longer: Vec<Vec<Point>>,
}

impl Charts {
    fn of(all: &[Latencies]) -> Option<Charts> {
        let sorted = |one: &Latencies| {
            let mut each = one.each_ns.clone();
            each.sort_unstable();
            each
        };
        let sorted: Vec<Vec<u64>> = all.iter().map(sorted).collect();
        let ends = sorted.iter().flat_map(|each| each.first().into_iter().chain(each.last()));
        // On a logarithmic axis there is no 0.
        let ends: Vec<f64> = ends.map(|ns| (*ns).max(1) as f64).collect();
        if ends.is_empty() {
            return None;
        }
        let x = Scale::of(ends.into_iter(), Quantity::Time);
        let name = |(one, each): (&Latencies, &Vec<u64>)| {
            let most =
                each.last().map_or("nobody woken".to_owned(), |most| format!("at most {}", label(*most)));
            format!("{}, {most}", one.name)
        };
        Some(Charts {
            names: all.iter().zip(&sorted).map(name).collect(),
            often: sorted.iter().map(|each| often(each, &x)).collect(),
            longer: sorted.iter().map(|each| longer(each, &x)).collect(),
            x,
        })
    }

    fn draw(&self, svg: &mut String) -> Drawn {
        let letters = self.names.iter().map(|name| name.chars().count() as u32).max().unwrap_or(0);
        let beside = LEGEND.sample + 2 * LEGEND.gap + letters * LEGEND.character;
        let area = SVGBackend::with_string(svg, (SIZE.0 + beside, 2 * HEIGHT)).into_drawing_area();
        area.fill(&WHITE)?;
        let (charts, legend) = area.split_horizontally(SIZE.0);
        let (above, below) = charts.split_vertically(HEIGHT);
        let most = self.often.iter().flatten().map(|(_, share)| *share).fold(0.0, f64::max);
        let y = Scale::of([0.0, most].into_iter(), Quantity::Share);
        self.chart(&above, "How often a woken task waited so long", &self.often, &y)?;
        let least = self.longer.iter().flatten().map(|(_, share)| *share).fold(100.0, f64::min);
        let y = Scale::of([least, 100.0].into_iter(), Quantity::Share);
        self.chart(&below, "Which share waited longer", &self.longer, &y)?;
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
            .x_desc("from wakeup to running")
            .y_desc("of all wakeups")
            .x_labels(self.x.points().len())
            .y_labels(y.points().len())
            .x_label_formatter(&|at| self.x.label(*at))
            .y_label_formatter(&|at| y.label(*at))
            .draw()?;
        for (number, line) in lines.iter().enumerate() {
            let points = line.iter().map(|(at, share)| (*at, y.place(*share)));
            chart.draw_series(LineSeries::new(points, style(number)))?;
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

/// The outline of bars of equal width in the picture.
fn often(sorted: &[u64], x: &Scale) -> Vec<Point> {
    let range = x.range();
    let width = (range.end - range.start) / BARS as f64;
    let mut counts = [0u64; BARS];
    for ns in sorted {
        let bar = ((x.place((*ns).max(1) as f64) - range.start) / width) as usize;
        counts[bar.min(BARS - 1)] += 1;
    }
    let corners = |(bar, count): (usize, &u64)| {
        let share = 100.0 * *count as f64 / sorted.len().max(1) as f64;
        [(range.start + bar as f64 * width, share), (range.start + (bar + 1) as f64 * width, share)]
    };
    counts.iter().enumerate().flat_map(corners).collect()
}

/// Of each latency that occurs, which share is as long or longer; at most a point for a pixel.
fn longer(sorted: &[u64], x: &Scale) -> Vec<Point> {
    let range = x.range();
    let least = (range.end - range.start) / 1_000.0;
    let mut points: Vec<Point> = Vec::new();
    for (below, ns) in sorted.iter().enumerate() {
        let at = x.place((*ns).max(1) as f64);
        let share = 100.0 * (sorted.len() - below) as f64 / sorted.len() as f64;
        if below + 1 == sorted.len() || points.last().is_none_or(|(last, _)| at - last >= least) {
            points.push((at, share));
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, each_ns: &[u64]) -> Latencies {
        Latencies { name: name.to_owned(), each_ns: each_ns.to_vec() }
    }

    #[test]
    fn bars_count_each_wakeup_once_and_shares_fall_from_all_to_the_longest() {
        let each: Vec<u64> = (1..=1_000).map(|n| n * 1_000).collect();
        let charts = Charts::of(&[of("base", &each)]).expect("charts");
        let bars: f64 = charts.often[0].chunks(2).map(|bar| bar[0].1).sum();
        assert!((bars - 100.0).abs() < 1e-9, "{bars}");
        let shares = &charts.longer[0];
        assert!((shares[0].1 - 100.0).abs() < 1e-9);
        assert!((shares.last().expect("a point").1 - 0.1).abs() < 1e-9);
        assert!(shares.windows(2).all(|two| two[1].1 < two[0].1 && two[1].0 >= two[0].0));
        // Half of all wait longer than 500 µs.
        let at = charts.x.place(500_000.0);
        let half = shares.iter().find(|(place, _)| *place >= at).expect("a point").1;
        assert!((half - 50.0).abs() < 1.0, "{half}");
    }

    #[test]
    fn a_picture_has_both_configurations_in_units_that_people_read() {
        let each = |factor: u64| (1..500).map(|n| n * n * factor).collect::<Vec<u64>>();
        let svg = latencies(&[of("base", &each(3)), of("cpus=1", &each(40))]).expect("a picture").svg;
        for text in ["base, at most 747 µs", "cpus=1, at most 9.96 ms", "10 µs", "100 %", "1 %"] {
            assert!(svg.contains(text), "{text} in {svg}");
        }
        assert!(latencies(&[of("base", &[])]).is_none());
        assert!(latencies(&[of("base", &[7]), of("other", &[])]).is_some());
    }
}
