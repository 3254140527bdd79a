//! Published experiments beside simulated ones: which figures, how close they must come, and whether they do.
//!
//! An experiment file says what to look at ([`RowSpec`], [`TableSpec`]) and how many of it must agree
//! ([`RequirementSpec`]). [`judge()`] takes these and the figures of the runs ([`crate::compare::measure`]),
//! and makes a [`Reproduction`](schema::reproduction::Reproduction) of it. How the runs are made is not this
//! module's business.

mod claims;
mod crossing;
mod fold;
mod judge;
mod spec;

pub use claims::{ByHand, Claims, FiguresOfVariant};
pub use crossing::{Crossing, crossings};
pub use fold::Fold;
pub use judge::{
    Described, Figure, Figures, JudgeError, Judged, Observed, VariantRuns, figures, is_as_pattern, judge,
};
pub use spec::{
    ColumnSpec, ExperimentSpec, MetricNames, Place, Published, RequirementSpec, RowSpec, SpecFault,
    SweepValue, TableSpec, VariantSpec,
};

#[cfg(test)]
mod tests;
