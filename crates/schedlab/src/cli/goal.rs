//! `--minimize FIGURE` or `--maximize FIGURE`: clap asks for one of the two.

use schema::TuneDirection;
use tune::Goal;

/// What the one that was given means.
pub fn goal(minimize: Option<&str>, maximize: Option<&str>) -> Goal {
    let (text, direction) = match maximize {
        Some(text) => (text, TuneDirection::Maximize),
        None => (minimize.unwrap_or_default(), TuneDirection::Minimize),
    };
    Goal { text: text.to_owned(), direction }
}
