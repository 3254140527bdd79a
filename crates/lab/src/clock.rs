//! Clocks of the computer on which the library runs. It brings none itself: a browser has others than Linux.

use scheduler::Nanos;

/// Time on a clock since whenever that began; only differences say something.
pub type Clock = fn() -> Nanos;
