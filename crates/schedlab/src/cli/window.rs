//! Options for a stretch of a run or of a recording.

use schedlab::Error;
use scheduler::Nanos;
use schema::Stretch;
use workload::units;

// As typed. (A doc comment here would become the help text of the commands.)
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct StretchOptions {
    /// Tell of the time from here on, since the first event of a recording or the start of the run; seconds
    /// without a unit.
    ///
    /// Tasks, latencies, CPUs, counters and the comparison with a recording are then those of this stretch.
    /// What is simulated is so from the beginning all the same. Where a recording is looked at or explained,
    /// a time behind its end is one on its own clock, as `why` shows it.
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    from: Option<Nanos>,
    /// Tell of the time up to here [default: the end].
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    to: Option<Nanos>,
}

impl StretchOptions {
    /// What was asked for; `None`: all of it.
    ///
    /// # Errors
    /// An end that is not behind the beginning.
    pub fn stretch(self) -> Result<Option<Stretch>, Error> {
        let from = self.from.unwrap_or(Nanos::ZERO);
        if let Some(to) = self.to.filter(|to| *to <= from) {
            return Err(Error::NoStretch { from, to });
        }
        let stretch = Stretch { from_ns: from.0, to_ns: self.to.map(|to| to.0) };
        Ok((self.from.is_some() || self.to.is_some()).then_some(stretch))
    }
}

fn time(text: &str) -> Result<Nanos, String> {
    units::duration(text, Nanos::from_secs(1))
}
