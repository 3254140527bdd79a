//! A progress bar for what takes long, if there is somebody to see it.

use super::voice::Voice;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
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
        let bar = ProgressBar::with_draw_target(Some(runs), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} runs, {eta} to go");
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

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
