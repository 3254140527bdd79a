//! Checks of the repository itself: what its documents promise of the source, and the house rules that no
//! other tool knows. Each check is a function from texts to findings; beside it stands a canary, which plants
//! a violation, so that no check can be blind. They read the working tree and need no build of the other
//! crates.

mod audit;
mod classes;
mod dead_files;
mod layers;
mod map;
mod references;
mod source;
mod spec;
mod tree;
mod width;
mod wings;
mod words;
