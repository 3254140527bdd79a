//! The replay on the machine.
