//! A laboratory for the Linux CPU scheduler.
