//! Clamps of utilisation as options, which `uclampset` sets for real programs (deadline-groups B11).

use super::command::usage;
use super::error::LoadError;
use scheduler::ClampRequest;

/// As typed.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct ClampOptions {
    /// Least utilisation that each task counts as having, as uclampset -m: 0 to 1024 (real-time tasks 1024,
    /// others 0); since Linux 5.3.
    #[arg(long, value_name = "UTIL", value_parser = clap::value_parser!(u16).range(0..=1024))]
    util_min: Option<u16>,
    /// Most utilisation that each task counts as having, as uclampset -M: 0 to 1024 (1024); since Linux 5.3.
    #[arg(long, value_name = "UTIL", value_parser = clap::value_parser!(u16).range(0..=1024))]
    util_max: Option<u16>,
}

impl ClampOptions {
    /// Refuses what sched_setattr does.
    pub fn check(self, load: &str) -> Result<(), LoadError> {
        match self.request().is_none_or(ClampRequest::is_legal) {
            true => Ok(()),
            false => {
                Err(usage(load, "--util-min may not be above --util-max, as sched_setattr wants it (EINVAL)"))
            }
        }
    }

    /// What each task asks for; `None`: nothing.
    pub fn request(self) -> Option<ClampRequest> {
        let request = ClampRequest { min: self.util_min, max: self.util_max };
        (request != ClampRequest::default()).then_some(request)
    }
}
