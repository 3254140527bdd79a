//! What a page says beside its timelines: facts, figures, tables, curves and explanations, as its script
//! reads them. `web/src/content.ts` has the same types.

mod comparison;
mod inspection;
mod reproduction;
mod run;
mod sweep;
mod why;

use schema::comparison::MetricComparison;
use serde::Serialize;
pub use why::{Blamed, BlamedRow, Explained, ExplainedStretch, Why};

/// All that a page shows but its timelines.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Content {
    /// What the page is about, in a line.
    pub title: String,
    /// Version of schedlab.
    pub version: String,
    /// The command line that made it, where there was one.
    pub command: Option<String>,
    /// What ran: machine, kernel, loads, seeds.
    pub facts: Vec<Fact>,
    /// Why figures may mean something else than a reader expects.
    pub warnings: Vec<String>,
    /// The figures that one looks at first.
    pub figures: Vec<Figure>,
    /// One for each variant of a comparison.
    pub variants: Vec<Variant>,
    /// How a comparison was judged.
    pub method: Option<String>,
    /// Why tasks were late, if that was asked.
    pub why: Option<Why>,
    /// Curves: what a sweep varies.
    pub charts: Vec<Chart>,
    /// Tables.
    pub tables: Vec<Table>,
    /// What loads print as the real tools do.
    pub texts: Vec<Text>,
    /// What else a reader must know.
    pub notes: Vec<String>,
}

/// Something that is so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// `kernel`.
    pub name: String,
    /// `6.18.y`.
    pub value: String,
}

/// In what a number is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Words.
    Text,
    /// A number that is a name: a pid, a CPU.
    Id,
    /// A number of things.
    Count,
    /// Nanoseconds.
    Ns,
    /// A share: 1 is all.
    Share,
}

/// A figure that stands by itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// What it is.
    pub label: String,
    /// Its value, in its unit.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number in the unit of its column.
    Number(f64),
    /// Nothing.
    Empty(()),
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Column {
    /// What stands in it.
    pub label: String,
    /// In which unit.
    pub unit: Unit,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// Its caption.
    pub title: String,
    /// How to read it, where that is not plain.
    pub note: Option<String>,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows: a cell for each column.
    pub rows: Vec<Vec<Cell>>,
}

/// Text whose lines and blanks are part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Text {
    /// What it is.
    pub title: String,
    /// The text.
    pub text: String,
}

/// A variant of a comparison beside the base.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// How much changed, in words.
    pub verdict: String,
    /// The main figures that changed, in words.
    pub sentences: Vec<String>,
    /// All figures.
    pub differences: Vec<Difference>,
}

/// A figure under the base and under a variant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// As the comparison has it.
    #[serde(flatten)]
    pub metric: MetricComparison,
    /// Whether it changes by a smaller factor than the replay itself is off by.
    pub doubtful: bool,
}

/// Curves over what was varied.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// Its caption.
    pub title: String,
    /// What was varied.
    pub x_label: String,
    /// The names of the values 1, 2, …, where names were varied.
    pub x_names: Vec<String>,
    /// What came out.
    pub y_label: String,
    /// In which unit.
    pub y_unit: Unit,
    /// One for each variant.
    pub lines: Vec<Curve>,
}

/// A curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// Its points, by their place.
    pub points: Vec<CurvePoint>,
}

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Where.
    pub x: f64,
    /// What came out.
    pub y: f64,
    /// The least of any seed.
    pub low: f64,
    /// The most of any seed.
    pub high: f64,
    /// What the document says.
    pub published: Option<f64>,
}

/// A duration as the page writes them: `1.23 ms`.
fn duration(ns: f64) -> String {
    let text = crate::numbers::duration(ns).replace("us", "µs");
    match text.find(char::is_alphabetic) {
        Some(unit) => format!("{} {}", &text[..unit], &text[unit..]),
        None => text,
    }
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell::Text(text.into())
    }

    /// A counter. Numbers of JavaScript are exact up to 2⁵³: in nanoseconds a hundred days.
    pub fn count(number: u64) -> Cell {
        Cell::Number(number as f64)
    }

    /// A number that may be missing.
    pub fn maybe(number: Option<f64>) -> Cell {
        number.map_or(Cell::Empty(()), Cell::Number)
    }
}

impl Table {
    /// Without a row.
    pub fn new(title: impl Into<String>, columns: &[(&str, Unit)]) -> Table {
        let column = |(label, unit): &(&str, Unit)| Column { label: (*label).to_owned(), unit: *unit };
        Table {
            title: title.into(),
            note: None,
            columns: columns.iter().map(column).collect(),
            rows: Vec::new(),
        }
    }
}

impl Content {
    /// Says something that is so.
    pub fn fact(&mut self, name: &str, value: impl Into<String>) {
        self.facts.push(Fact { name: name.to_owned(), value: value.into() });
    }

    /// Adds a figure.
    pub fn figure(&mut self, label: impl Into<String>, value: f64, unit: Unit) {
        self.figures.push(Figure { label: label.into(), value, unit });
    }

    /// Adds a table, if it has a row.
    pub fn table(&mut self, table: Table) {
        if !table.rows.is_empty() {
            self.tables.push(table);
        }
    }
}
