//! What an experiment file wants to see: rows, tables of rows, and how many of them must agree.

use serde::Deserialize;

use super::Fold;
use schema::reproduction::{Cell, Role, RowUnit};
use std::fmt;

/// What is judged in one experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct ExperimentSpec {
    /// Name for the command line.
    pub name: String,
    /// Its variants, in the order of the report.
    pub variants: Vec<VariantSpec>,
    /// How many rows of a group must agree.
    pub requirements: Vec<RequirementSpec>,
    /// Whether the runs have the published length; rows that need it are not judged otherwise.
    pub full_length: bool,
}

/// What is looked at in the runs of one variant.
#[derive(Debug, Clone, PartialEq)]
pub struct VariantSpec {
    /// Its name in the report; rows of other variants refer to it.
    pub name: String,
    /// Whether its figures were used to choose parameters.
    pub role: Role,
    /// The rows, tables expanded.
    pub rows: Vec<RowSpec>,
}

/// One figure, and what it should be; of a row without a tolerance or a bound it is only said what it is.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowSpec {
    /// What the figure is, for people.
    pub what: String,
    /// Key of the metric, or of several; a `*` stands for any text.
    pub metric: MetricNames,
    /// How several metrics become one figure; needed for more than one.
    pub fold: Option<Fold>,
    /// Key of a metric to divide it by.
    pub per: Option<String>,
    /// A variant whose figure of the same kind divides this one.
    pub relative_to: Option<String>,
    /// Divide by the largest value over the sweep.
    #[serde(default)]
    pub of_peak: bool,
    /// Divide by the figure at this value of the sweep.
    pub of_value: Option<SweepValue>,
    /// A variant whose figure of the same kind, divided likewise, is taken off this one.
    pub less: Option<String>,
    /// How the values of all seeds become one.
    #[serde(default)]
    pub over_seeds: Fold,
    /// Fold the means of the metrics over the seeds, in place of the metrics of each seed.
    #[serde(default)]
    pub of_means: bool,
    /// In place of `over_seeds`: the median of the largest value of so many runs, by an extreme value
    /// distribution fitted to the seeds' values.
    pub largest_of_runs: Option<f64>,
    /// Say how sure the mean over the seeds is, and not between which values they lie.
    #[serde(default)]
    pub interval: bool,
    /// In place of the figure: the value of the sweep at which it passes this, in proportion between two
    /// that were run; the first or the last value where it is above or below all along. The figure's unit is
    /// that of `unit`.
    pub passes: Option<f64>,
    /// The unit of published figures and bounds; otherwise that of the metric.
    pub unit: Option<RowUnit>,
    /// Judged at this value of the sweep only; otherwise at each.
    pub at: Option<SweepValue>,
    /// The published figure; one for each value of a sweep.
    pub published: Option<Published>,
    /// Agrees when it is at most so far from the published figure.
    pub within_percent: Option<f64>,
    /// Agrees also when it is at most so far from the published figure.
    pub or_within: Option<f64>,
    /// Agrees when it is not below this.
    pub at_least: Option<f64>,
    /// Agrees when it is not above this.
    pub at_most: Option<f64>,
    /// Rows of a group need not agree one by one: a requirement says how many must.
    pub group: Option<String>,
    /// Judged in runs of the published length only.
    #[serde(default)]
    pub full_only: bool,
    /// Why it is known not to agree.
    pub unreached: Option<String>,
    /// Its place in a table.
    #[serde(skip)]
    pub cell: Option<Cell>,
}

impl RowSpec {
    /// Whether something is wanted of the figure. Otherwise it is only reported, and counts neither as
    /// agreement nor as disagreement.
    #[must_use]
    pub fn expects(&self) -> bool {
        self.is_close_to_something() || self.at_least.is_some() || self.at_most.is_some()
    }

    fn is_close_to_something(&self) -> bool {
        self.within_percent.is_some() || self.or_within.is_some()
    }

    /// Refuses what would look like a check and is none.
    ///
    /// # Errors
    /// A bound that no figure can miss, a tolerance without a published figure, a group or an excuse for a
    /// row of which nothing is wanted.
    pub fn check(&self) -> Result<(), SpecFault> {
        let fault = |problem: &str| {
            Err(SpecFault { place: format!("row `{}`", self.what), problem: problem.to_owned() })
        };
        // Every metric is a count or a time; only a difference can be negative.
        let may_be_negative = self.fold == Some(Fold::SteepestRise) || self.less.is_some();
        if self.at_least.is_some_and(|least| least <= 0.0) && !may_be_negative {
            return fault("every figure is at least 0: leave `at_least` out, and the row is only reported");
        }
        let bounds = self.at_least.unwrap_or(f64::NEG_INFINITY)..=self.at_most.unwrap_or(f64::INFINITY);
        let is_number = |bound: Option<f64>| bound.is_none_or(|bound| !bound.is_nan());
        if bounds.is_empty() || !is_number(self.at_least) || !is_number(self.at_most) {
            return fault("no figure can lie within these bounds: `at_least` goes up to `at_most`");
        }
        if self.is_close_to_something() && self.published.is_none() {
            return fault("a tolerance needs a `published` figure to be close to");
        }
        if matches!(self.over_seeds, Fold::Sum | Fold::SteepestRise) {
            return fault("`over_seeds` is mean, max or min");
        }
        let of_mean = self.over_seeds == Fold::Mean && self.largest_of_runs.is_none() && !self.of_means;
        if self.interval && !of_mean {
            return fault("`interval` is that of the mean over the seeds: it has no other fold beside it");
        }
        if self.passes.is_some() && (self.at.is_some() || self.of_peak || self.of_value.is_some()) {
            return fault("`passes` is a value of the sweep: leave `at`, `of_peak` and `of_value` out");
        }
        if !self.largest_of_runs.is_none_or(|runs| runs >= 1.0) {
            return fault("`largest_of_runs` is a number of runs: at least 1");
        }
        if !self.expects() && self.group.is_some() {
            return fault("a row of a `group` needs a tolerance or a bound, or it is never counted");
        }
        if !self.expects() && self.unreached.is_some() {
            return fault("`unreached` says why a row does not agree, and nothing is wanted of this one");
        }
        Ok(())
    }
}

/// A value of the sweep, as an experiment file names it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum SweepValue {
    /// A number.
    Number(f64),
    /// A word, such as a kernel.
    Name(String),
}

/// Where in the sweep something was run.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// The value; of a sweep over names the number of the name, from 1 on.
    pub number: f64,
    /// The name, if it is one.
    pub name: Option<String>,
}

impl Place {
    /// Whether that is the value.
    #[must_use]
    pub fn is(&self, value: &SweepValue) -> bool {
        match value {
            SweepValue::Number(number) => self.name.is_none() && self.number == *number,
            SweepValue::Name(name) => self.name.as_ref() == Some(name),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => f.write_str(name),
            None => self.number.fmt(f),
        }
    }
}

/// One metric or several.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum MetricNames {
    /// A key or a pattern.
    One(String),
    /// Several, in order.
    Many(Vec<String>),
}

impl MetricNames {
    /// The keys and patterns in order.
    #[must_use]
    pub fn patterns(&self) -> &[String] {
        match self {
            MetricNames::One(one) => std::slice::from_ref(one),
            MetricNames::Many(many) => many,
        }
    }

    /// Those of them that are numbers of decisions: the decisions' names.
    #[must_use]
    pub fn decisions(&self) -> Vec<String> {
        let name = |key: &String| key.strip_prefix("decisions.").map(str::to_owned);
        self.patterns().iter().filter_map(name).collect()
    }
}

/// What a document says.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Published {
    /// One figure.
    One(f64),
    /// One for each value of the sweep; `nan` where the document has none.
    Sweep(Vec<f64>),
}

/// A published table: a row of cells for each thread, client or whatever.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableSpec {
    /// Key of a cell's metric, with `{row}` and `{column}`.
    pub metric: String,
    /// What the rows are called.
    pub rows: Vec<String>,
    /// The columns.
    pub columns: Vec<ColumnSpec>,
    /// A list of cells for each row; `nan` where the document has none.
    pub published: Vec<Vec<f64>>,
    /// See [`RowSpec::unit`].
    pub unit: Option<RowUnit>,
    /// See [`RowSpec::over_seeds`].
    #[serde(default)]
    pub over_seeds: Fold,
    /// See [`RowSpec::within_percent`].
    pub within_percent: Option<f64>,
    /// See [`RowSpec::or_within`].
    pub or_within: Option<f64>,
    /// The group of its cells.
    pub group: String,
}

/// A column of a published table. What it does not say is as in the table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnSpec {
    /// Its heading, and `{column}` of the metric.
    pub name: String,
    /// See [`RowSpec::over_seeds`].
    pub over_seeds: Option<Fold>,
    /// See [`RowSpec::within_percent`].
    pub within_percent: Option<f64>,
    /// See [`RowSpec::or_within`].
    pub or_within: Option<f64>,
    /// Another group than that of the table.
    pub group: Option<String>,
}

/// How many rows of a group must agree.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequirementSpec {
    /// In words.
    pub what: String,
    /// Rows of this group.
    pub group: String,
    /// Of these variants only; empty: of all.
    #[serde(default)]
    pub variants: Vec<String>,
    /// The least share of them that agrees, 0 to 1.
    pub share: f64,
    /// Judged in runs of the published length only.
    #[serde(default)]
    pub full_only: bool,
    /// Why it is known not to be met.
    pub unreached: Option<String>,
}

/// Something that an experiment file must not say.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct SpecFault {
    /// Variant and row.
    pub place: String,
    /// What is wrong, and what to write instead.
    pub problem: String,
}

impl TableSpec {
    /// A row for each cell that the document has.
    ///
    /// # Errors
    /// A table that is not as many cells high and wide as it has rows and columns.
    pub fn expand(&self) -> Result<Vec<RowSpec>, SpecFault> {
        let fault = |problem: String| SpecFault { place: "table".to_owned(), problem };
        if self.published.len() != self.rows.len() {
            let (cells, rows) = (self.published.len(), self.rows.len());
            return Err(fault(format!("`published` has {cells} rows and `rows` names {rows}")));
        }
        let mut specs = Vec::new();
        for (row, cells) in self.rows.iter().zip(&self.published) {
            if cells.len() != self.columns.len() {
                let (cells, columns) = (cells.len(), self.columns.len());
                return Err(fault(format!("row {row} has {cells} cells, and there are {columns} columns")));
            }
            let columns = self.columns.iter().zip(cells).filter(|(_, published)| !published.is_nan());
            specs.extend(columns.map(|(column, &published)| self.cell(row, column, published)));
        }
        Ok(specs)
    }

    fn cell(&self, row: &str, column: &ColumnSpec, published: f64) -> RowSpec {
        // A column with a tolerance of its own has that one whole.
        let own = column.within_percent.is_some() || column.or_within.is_some();
        let metric = self.metric.replace("{row}", row).replace("{column}", &column.name);
        RowSpec {
            what: format!("{row} {}", column.name),
            metric: MetricNames::One(metric),
            fold: None,
            per: None,
            relative_to: None,
            of_peak: false,
            of_value: None,
            less: None,
            over_seeds: column.over_seeds.unwrap_or(self.over_seeds),
            largest_of_runs: None,
            interval: false,
            passes: None,
            of_means: false,
            unit: self.unit,
            at: None,
            published: Some(Published::One(published)),
            within_percent: if own { column.within_percent } else { self.within_percent },
            or_within: if own { column.or_within } else { self.or_within },
            at_least: None,
            at_most: None,
            group: Some(column.group.as_ref().unwrap_or(&self.group).clone()),
            full_only: false,
            unreached: None,
            cell: Some(Cell { row: row.to_owned(), column: column.name.clone() }),
        }
    }
}
