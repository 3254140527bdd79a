//! Runs that do not depend on each other.

/// What comes of each, in their order, on all cores.
#[cfg(feature = "threads")]
pub fn map<T: Sync, R: Send>(items: &[T], of: impl Fn(&T) -> R + Send + Sync) -> Vec<R> {
    use rayon::prelude::*;
    items.par_iter().map(of).collect()
}

/// What comes of each, one after the other.
#[cfg(not(feature = "threads"))]
pub fn map<T, R>(items: &[T], of: impl Fn(&T) -> R) -> Vec<R> {
    items.iter().map(of).collect()
}
