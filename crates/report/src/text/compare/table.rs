//! The table of what changed.

use super::{LABEL_COLUMNS, mark, of_replay, signed, value};
use crate::numbers::change;
use crate::text::table::Align::{Left, Right};
use crate::text::table::{Heading, Table};
use schema::comparison::{MetricComparison, VariantComparison};

/// Columns for the name of a metric beside how far a replay is off.
const NARROW_LABEL_COLUMNS: u16 = 19;

const INTERVAL: Heading = ("95% interval", Right);
const REPLAY_OFF: Heading = ("replay off", Right);

/// Its columns; the first has marks.
pub const COLUMNS: [Heading; 8] = [
    ("", Left),
    ("metric", Left),
    ("base", Right),
    ("with", Right),
    ("differs", Right),
    INTERVAL,
    ("change", Right),
    REPLAY_OFF,
];

/// A row for each of these metrics.
pub fn table(variant: &VariantComparison, metrics: &[&MetricComparison]) -> String {
    if metrics.is_empty() {
        return String::new();
    }
    // Where no seed makes a difference, no interval does.
    let with_interval = !variant.exact;
    let of_replay = of_replay(variant);
    let is_there =
        |column: &Heading| (with_interval || *column != INTERVAL) && (of_replay || *column != REPLAY_OFF);
    let columns: Vec<Heading> = COLUMNS.into_iter().filter(is_there).collect();
    let mut table = Table::new(&columns);
    let narrow = with_interval && of_replay;
    table.limit(1, if narrow { NARROW_LABEL_COLUMNS } else { LABEL_COLUMNS });
    if narrow {
        table.limit(7, 6);
    }
    for metric in metrics {
        let mut cells = vec![
            mark(metric).to_owned(),
            metric.metric.label.clone(),
            value(metric, metric.base),
            value(metric, metric.variant),
            signed(metric, metric.difference),
        ];
        if with_interval {
            cells.push(metric.interval.map_or("-".to_owned(), |interval| {
                format!("{} to {}", signed(metric, interval.low), signed(metric, interval.high))
            }));
        }
        cells.push(if metric.base > 0.0 { change(metric.difference / metric.base) } else { "-".to_owned() });
        if of_replay {
            cells.push(off(metric).unwrap_or_else(|| "-".to_owned()));
        }
        table.row(cells);
    }
    table.render()
}

/// Whether the column of changes shows more than a zero.
pub fn can_be_seen(metric: &MetricComparison) -> bool {
    const SMALLEST: f64 = 0.000_5;
    metric.base <= 0.0 || metric.difference.abs() / metric.base >= SMALLEST
}

/// How far the replay itself is off, as a share of the base as the change is: in per cent, from tenfold on as
/// a factor; in the figure's unit where the base is nothing.
pub fn off(metric: &MetricComparison) -> Option<String> {
    let error = metric.replay_error?.abs();
    Some(if metric.base > 0.0 {
        change(error / metric.base).trim_start_matches('+').to_owned()
    } else {
        value(metric, error)
    })
}
