//! How true the simulator is: which figures have to come how close to recorded ones, whether they do, and the
//! page that says so.
//!
//! How figures are made is not this module's business: it is given a
//! [`Validation`](schema::validation::Validation)'s references.

mod bounds;
mod judge;
mod page;

pub use bounds::{Bound, Bounds, BoundsError, Within};
pub use judge::{judge, median};
pub use page::page;

#[cfg(test)]
mod tests;
