//! Tests of the binary from outside, in one program: building one more takes as long as running them all.
//! Apart stand those that need a process of their own: `readme` (its working directory) and `memory` (its
//! peak).

mod assumptions;
mod cli;
mod fit;
mod io;
mod loads;
mod outputs;
mod pictures;
mod record;
mod repeat;
mod report_page;
mod report_page_why;
mod schema;
mod side_by_side;
mod signals;
mod stopped;
mod sweep;
mod terminal;
mod tune;
mod verdicts;
mod wakeup_paths;
mod widths;
mod window;
