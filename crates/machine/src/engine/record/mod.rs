//! What is written down as it happens.

pub(crate) mod recorder;
