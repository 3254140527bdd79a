//! Names of things and times, as types: a pid is no CPU, and a time no count.
//!
//! The scheduler has types of its own by these names, because it depends on nothing; what tells data of a run
//! translates them.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! ids {
    ($($(#[$doc:meta])* $type:ident($inner:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[cfg_attr(test, schemars(inline))]
        #[serde(transparent)]
        pub struct $type(pub $inner);

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

ids! {
    /// A CPU of a simulated machine, from 0.
    CpuId(u16);
    /// Thread id; 0 is the idle task of each CPU. Never negative, except that the context of an event of a
    /// recording is -1 where the file does not know it.
    Pid(i32);
    /// A point in simulated time since the start of the run, or a span of it, in nanoseconds.
    Nanos(u64);
    /// A priority as the kernel counts: -1 deadline tasks, 0 to 98 real-time (99 minus the user's priority),
    /// 100 to 139 nice -20 to 19, 140 idle.
    Prio(i16);
}

impl Pid {
    /// The idle task, of any CPU.
    pub const IDLE: Pid = Pid(0);
    /// Context of an event where the file does not say who ran.
    pub const UNKNOWN: Pid = Pid(-1);
}

impl Prio {
    /// The idle tasks'.
    pub const IDLE: Prio = Prio(140);
}

impl CpuId {
    /// As an index into a table with an entry per CPU.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}
