//! Perfetto traces with ftrace events: what Perfetto's own recorders write, and what we write.
//!
//! The file is one message, a sequence of packets (`protos/perfetto/trace/trace.proto`); those that matter
//! here are bundles of ftrace events of a CPU, lists of threads, and facts about the machine. Numbers and
//! meanings of fields are those of the public schema.

mod activity;
mod bundle;
mod compact;
mod events;
mod reader;
mod wire;

pub(crate) use reader::{is_perfetto, read};
