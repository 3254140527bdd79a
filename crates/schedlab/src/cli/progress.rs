//! A progress bar for what takes long, if there is somebody to see it.

use super::voice::Voice;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// Nothing is shown before this.
const PATIENCE: Duration = Duration::from_secs(2);

/// How many of the runs have ended.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    voice: Voice,
}

impl Progress {
    pub fn new(runs: u64, voice: Voice) -> Progress {
        Progress::of_template(runs, "{bar:40} {pos}/{len} runs, {eta} to go", voice)
    }

    /// Of runs that do not take equally long: whoever calls [`Progress::at`] knows how long.
    pub fn of_uneven(runs: u64, voice: Voice) -> Progress {
        Progress::of_template(runs, "{bar:40} {pos}/{len} runs{msg}", voice)
    }

    fn of_template(runs: u64, template: &str, voice: Voice) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(runs), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Progress { bar, voice }
    }

    /// A run has ended.
    pub fn one_more(&self) {
        if self.bar.is_hidden() && self.bar.elapsed() > PATIENCE {
            self.bar.set_draw_target(self.voice.progress());
        }
        self.bar.inc(1);
    }

    /// A run has ended that was not among those at the beginning: what comes before decides how many there
    /// are.
    pub fn another(&self) {
        self.bar.inc_length(1);
        self.one_more();
    }

    /// So many runs have ended, and the others will take so long, as far as that is known.
    pub fn at(&self, done: u64, left: Option<Duration>) {
        if self.bar.is_hidden() && self.bar.elapsed() > PATIENCE {
            self.bar.set_draw_target(self.voice.progress());
        }
        self.bar.set_position(done);
        self.bar.set_message(left.map_or(String::new(), |left| format!(", {:#} to go", HumanDuration(left))));
    }

    /// So many runs have ended, of so many that are known to be needed.
    pub fn at_of(&self, done: u64, known: u64) {
        self.bar.set_length(known);
        self.at(done, None);
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// What is being done, where nobody knows how much is left.
#[derive(Debug)]
pub struct Spinner(ProgressBar);

impl Spinner {
    /// The template has `{msg}` for what is done.
    pub fn new(template: &str, voice: Voice) -> Spinner {
        let bar = ProgressBar::with_draw_target(None, voice.progress());
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        Spinner(bar)
    }

    /// This comes next.
    pub fn says(&self, what: &str) {
        self.0.set_message(what.to_owned());
        self.0.tick();
    }

    /// Takes it away.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}
