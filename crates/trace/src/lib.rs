//! Scheduler traces in and out: trace.dat, ftrace text, Perfetto.
