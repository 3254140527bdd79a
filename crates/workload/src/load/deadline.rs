//! `--deadline` and `--reclaim`: loads whose tasks may be SCHED_DEADLINE ones (deadline-groups A2, A7).

use super::command::usage;
use super::error::LoadError;
use scheduler::{DlParams, Policy};

/// What the `--deadline` of one load takes.
pub(super) trait Budget: Clone + Send + Sync + 'static {
    /// How its value is written.
    const FORM: &'static str;
    /// What the value says, with examples; the last one leaves the deadline out.
    const TAKES: &'static str;
    /// What the user should know besides.
    const MORE: &'static str;
    /// Options of the load that do not go with it.
    const EXCLUDES: &'static [&'static str];

    /// What was typed.
    fn parse(text: &str) -> Result<Self, String>;
}

/// Both options, as typed.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub(super) struct DeadlineOptions<B: Budget> {
    #[arg(
        long,
        value_name = B::FORM,
        value_parser = B::parse,
        conflicts_with_all = B::EXCLUDES,
        help = format!(
            "SCHED_DEADLINE with this {} where the deadline is the end of the period; microseconds without \
             a unit{}",
            B::TAKES,
            B::MORE,
        ),
    )]
    deadline: Option<B>,
    /// The deadline tasks use what others leave of a CPU, too (SCHED_FLAG_RECLAIM, GRUB).
    #[arg(long)]
    reclaim: bool,
}

impl<B: Budget> DeadlineOptions<B> {
    /// Whether both go together.
    pub fn check(&self, load: &str) -> Result<(), LoadError> {
        if self.reclaim && self.deadline.is_none() {
            return Err(usage(load, "only deadline tasks reclaim: add --deadline"));
        }
        Ok(())
    }

    /// What the tasks may use, if they are deadline tasks.
    pub fn budget(&self) -> Option<&B> {
        self.deadline.as_ref()
    }

    /// The policy of tasks with these parameters.
    pub fn policy(&self, params: DlParams) -> Policy {
        Policy::Deadline(if self.reclaim { params.reclaiming() } else { params })
    }
}
