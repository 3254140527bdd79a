//! The class as a whole, in the situations of the spec's tables and edge cases.

mod basics;
