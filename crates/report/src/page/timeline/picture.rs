//! A timeline as a picture (SVG), for where no browser moves through it: rows of CPUs and tasks, and how long
//! woken tasks waited.

use super::rows::{Rows, Slice};
use super::{State, Task, Timeline};
use crate::numbers::{digits4, many, moment};
use std::fmt::Write;

/// In pixels: the picture, the names of rows, and the part that has the time.
const WIDTH: usize = 1_000;
const NAMES: usize = 150;
const COLUMNS: usize = WIDTH - NAMES - 20;
const ROW: usize = 16;
const HISTOGRAM: usize = 120;
/// More tasks than this are left out: those that ran and waited least.
const MOST_TASKS: usize = 40;
/// Bars of the histogram for each tenfold.
const BARS: usize = 8;

const CPU: &str = "#2563c9";
/// Of labels of axes, and of what is said beside.
const TICK: &str = "fill=\"#66717f\" text-anchor=\"middle\"";
const ASIDE: &str = "fill=\"#66717f\"";
/// In the order in which a column of pixels shows them, from the bottom.
const STATES: [(State, &str, &str); 6] = [
    (State::Running, "#2f9e77", "running"),
    (State::Runnable, "#f2b134", "woken, waiting for its CPU"),
    (State::Preempted, "#e8743b", "preempted, waiting for a CPU"),
    (State::Throttled, "#c43c5e", "throttled"),
    (State::Blocked, "#a99bd0", "blocked"),
    (State::Sleeping, "#d3dae2", "sleeping"),
];

impl Timeline {
    /// Draws it as SVG: what is narrower than a pixel as the part that it takes of it. Of tasks, and of how
    /// long they waited, it shows those that are meant.
    #[must_use]
    pub fn svg(&self, is_meant: impl Fn(&Task) -> bool) -> String {
        let rows = Rows::of(self);
        let meant: Vec<usize> = (1..self.tasks.len())
            .filter(|task| is_meant(&self.tasks[*task]) && !rows.tasks[*task].is_empty())
            .collect();
        let shown = self.busiest(&meant, &rows);
        let top = 30;
        let tasks_top = top + 30 + rows.cpus.len() * ROW + 10;
        let bottom = tasks_top + shown.len() * ROW;
        let histogram_top = bottom + 70;
        let height = histogram_top + HISTOGRAM + 40;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        );
        let span = format!("{} to {}", moment(self.start_ns), moment(self.start_ns + self.length_ns));
        text(&mut svg, 10, 20, "font-size=\"14\"", &format!("{}, {}", self.name, micro(&span)));
        axis(&mut svg, self, top + 24, bottom);
        for (cpu, slices) in rows.cpus.iter().enumerate() {
            let y = top + 30 + cpu * ROW;
            text(&mut svg, 10, y + 12, "", &format!("CPU {cpu}"));
            let columns = self.columns(slices, |_| true);
            levels(&mut svg, &columns, &vec![0.0; COLUMNS], y, CPU);
        }
        for (place, task) in shown.iter().enumerate() {
            let y = tasks_top + place * ROW;
            let of = &self.tasks[*task];
            let name = of.names.last().map_or("", String::as_str);
            text(&mut svg, 10, y + 12, "", &format!("{name} {}", of.pid));
            let mut below = vec![0.0; COLUMNS];
            for (state, colour, _) in STATES {
                let columns = self.columns(&rows.tasks[*task], |what| what == state);
                // Who does nothing is a line, not a block.
                if matches!(state, State::Blocked | State::Sleeping) {
                    line(&mut svg, &columns, y, colour);
                } else {
                    levels(&mut svg, &columns, &below, y, colour);
                    below.iter_mut().zip(&columns).for_each(|(below, more)| *below += more);
                }
            }
        }
        let hidden = meant.len() - shown.len();
        if hidden > 0 {
            text(&mut svg, 10, bottom + 14, ASIDE, &format!("{hidden} more tasks ran and waited less"));
        }
        legend(&mut svg, bottom + 34);
        let latencies_ns = rows.latencies_of(|task| is_meant(&self.tasks[task]));
        histogram(&mut svg, &latencies_ns, histogram_top);
        svg + "</svg>\n"
    }

    /// Those of them that ran and waited most, in the order of their numbers; those of whom not even a pixel
    /// is to be seen come last.
    fn busiest(&self, of: &[usize], rows: &Rows) -> Vec<usize> {
        let is_active = |slice: &&Slice<State>| !matches!(slice.what, State::Sleeping | State::Blocked);
        let active = |task: usize| -> u64 {
            rows.tasks[task].iter().filter(is_active).map(|slice| slice.to_ns - slice.from_ns).sum()
        };
        let mut tasks = of.to_vec();
        tasks.sort_by_key(|task| (std::cmp::Reverse(active(*task)), *task));
        tasks.truncate(MOST_TASKS);
        tasks.sort_by_key(|task| (active(*task) < self.length_ns / COLUMNS as u64, *task));
        tasks
    }

    /// Which part of each column of pixels the slices take that are meant.
    fn columns<K: Copy>(&self, slices: &[Slice<K>], is_meant: impl Fn(K) -> bool) -> Vec<f64> {
        let mut columns = vec![0.0; COLUMNS];
        let per_column = (self.length_ns as f64 / COLUMNS as f64).max(f64::MIN_POSITIVE);
        for slice in slices.iter().filter(|slice| is_meant(slice.what)) {
            let [from, to] = [slice.from_ns, slice.to_ns].map(|time| time as f64 / per_column);
            let reached = columns.iter_mut().enumerate().take(to.ceil() as usize).skip(from as usize);
            for (column, part) in reached {
                *part += to.min(column as f64 + 1.0) - from.max(column as f64);
            }
        }
        columns
    }
}

fn text(svg: &mut String, x: usize, y: usize, style: &str, text: &str) {
    let text = super::super::document::escaped(text);
    // A string takes everything that is written to it.
    let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" {style}>{text}</text>");
}

/// A time in the unit that suits, as people write it.
fn micro(text: &str) -> String {
    text.replace("us", "µs")
}

/// A time on an axis: `2.5 ms`.
fn time(ns: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    let found = units.into_iter().find(|(scale, _)| ns >= 0.999_95 * scale);
    let (scale, name) = found.unwrap_or((1.0, "ns"));
    if ns == 0.0 { "0".to_owned() } else { format!("{} {name}", digits4(ns / scale)) }
}

/// Times above the rows, at 1, 2 or 5 times a power of ten, and lines through them.
fn axis(svg: &mut String, timeline: &Timeline, y: usize, bottom: usize) {
    let length = timeline.length_ns.max(1) as f64;
    let power = 10f64.powf((length / 8.0).log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power).find(|step| *step >= length / 8.0);
    let step = step.unwrap_or(length);
    let start = timeline.start_ns as f64;
    let mut at = (start / step).ceil() * step;
    while at <= start + length {
        let x = NAMES as f64 + (at - start) / length * COLUMNS as f64;
        let _ = writeln!(svg, "<path d=\"M{x:.1} {y}V{bottom}\" stroke=\"#e2e6eb\"/>");
        text(svg, x as usize, y - 2, TICK, &time(at));
        at += step;
    }
}

/// Columns of pixels as high as their part, on top of what is below them; equal neighbours are one.
fn levels(svg: &mut String, columns: &[f64], below: &[f64], y: usize, colour: &str) {
    let height = ROW as f64 - 4.0;
    let level = |part: f64| (part * 12.0).round() / 12.0;
    let mut path = String::new();
    let mut column = 0;
    while column < columns.len() {
        let (part, under) = (level(columns[column]), level(below[column]));
        let same = |other: &usize| (level(columns[*other]), level(below[*other])) == (part, under);
        let end = (column..columns.len()).find(|other| !same(other)).unwrap_or(columns.len());
        if part > 0.0 {
            let top = y as f64 + 2.0 + height * (1.0 - part.min(1.0 - under) - under);
            let _ = write!(
                path,
                "M{} {top:.1}h{}v{:.1}h-{}z",
                NAMES + column,
                end - column,
                height * part.min(1.0 - under),
                end - column
            );
        }
        column = end;
    }
    if !path.is_empty() {
        let _ = writeln!(svg, "<path d=\"{path}\" fill=\"{colour}\"/>");
    }
}

/// A thin line where something lasts for most of a column.
fn line(svg: &mut String, columns: &[f64], y: usize, colour: &str) {
    let is_there: Vec<f64> = columns.iter().map(|part| f64::from(u8::from(*part > 0.5))).collect();
    let mut path = String::new();
    let mut column = 0;
    while column < is_there.len() {
        let end = (column..is_there.len()).find(|other| is_there[*other] != is_there[column]);
        let end = end.unwrap_or(is_there.len());
        if is_there[column] > 0.0 {
            let _ = write!(path, "M{} {}h{}", NAMES + column, y + ROW / 2, end - column);
        }
        column = end;
    }
    if !path.is_empty() {
        let _ = writeln!(svg, "<path d=\"{path}\" stroke=\"{colour}\" stroke-width=\"2.5\"/>");
    }
}

fn legend(svg: &mut String, y: usize) {
    let mut x = NAMES;
    for (colour, name) in
        std::iter::once((CPU, "CPU busy")).chain(STATES.map(|(_, colour, name)| (colour, name)))
    {
        let _ =
            writeln!(svg, "<rect x=\"{x}\" y=\"{}\" width=\"10\" height=\"10\" fill=\"{colour}\"/>", y - 9);
        text(svg, x + 14, y, "", name);
        x += 30 + 6 * name.len();
    }
}

/// How often woken tasks waited how long, on a logarithmic axis.
fn histogram(svg: &mut String, latencies_ns: &[u64], top: usize) {
    text(svg, 10, top - 8, "font-size=\"13\"", "From wakeup to running");
    let (Some(least), Some(most)) = (latencies_ns.iter().min(), latencies_ns.iter().max()) else {
        text(svg, 10, top + 12, ASIDE, "no task was woken");
        return;
    };
    let decade = |ns: u64| (ns.max(1) as f64).log10();
    let (first, last) =
        (decade(*least).floor(), (decade(*most) + 1e-9).ceil().max(decade(*least).floor() + 1.0));
    let bars = ((last - first) as usize) * BARS;
    let mut counts = vec![0u64; bars];
    for ns in latencies_ns {
        let bar = ((decade(*ns) - first) * BARS as f64) as usize;
        counts[bar.min(bars - 1)] += 1;
    }
    let highest = counts.iter().copied().max().unwrap_or(1).max(1);
    text(svg, 10, top + 10, ASIDE, &format!("highest bar: {}", many(highest, "wakeup")));
    let base = (top + HISTOGRAM) as f64;
    let width = COLUMNS as f64 / bars as f64;
    for (bar, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let height = (*count as f64 / highest as f64 * HISTOGRAM as f64).max(1.0);
        let x = NAMES as f64 + bar as f64 * width;
        let _ = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\" fill=\"{CPU}\"/>",
            base - height,
            width - 1.0
        );
    }
    for power in 0..=(last - first) as usize {
        let x = NAMES + power * BARS * COLUMNS / bars;
        let _ = writeln!(svg, "<path d=\"M{x} {base}v5\" stroke=\"#66717f\"/>");
        text(svg, x, top + HISTOGRAM + 18, TICK, &time(10f64.powf(first + power as f64)));
    }
}
