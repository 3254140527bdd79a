//! Tasks, and what they share.

pub(crate) mod mutex;
pub(crate) mod process;
pub(crate) mod sections;
pub(crate) mod served;
pub(crate) mod warmth;
pub(crate) mod world;
