//! Tasks that are SCHED_DEADLINE ones because the user says so, whatever load they are of (deadline-groups
//! A2).

use crate::by_task::{ByTask, OfForked};
use crate::replay::TaskSelector;
use crate::units;
use machine::TaskSpec;
use scheduler::{DlParams, Pid, Policy};

/// Says of each task of a run whether it begins as a deadline task, and with which parameters: with those of
/// the last rule that means it. Who is not meant has the policy that its load gives it. Cheap to clone; all
/// clones count whom the rules met.
#[derive(Clone, Debug)]
pub struct Deadlines(ByTask<DlParams>);

impl Deadlines {
    /// Of these rules.
    pub fn new(rules: impl IntoIterator<Item = (TaskSelector, DlParams)>) -> Deadlines {
        Deadlines(ByTask::new(rules))
    }

    /// A task of a setup with its policy, as all that it forks.
    #[must_use]
    pub fn first(&self, pid: Pid, spec: TaskSpec) -> TaskSpec {
        self.with(self.0.of_first(pid, &spec), spec)
    }

    /// A recording has whom this is true of.
    pub fn meet(&self, is_there: impl FnMut(&TaskSelector) -> bool) {
        self.0.of(is_there);
    }

    fn with(&self, params: Option<DlParams>, spec: TaskSpec) -> TaskSpec {
        if self.0.is_empty() {
            return spec;
        }
        let policy = params.map_or(spec.policy, Policy::Deadline);
        self.watched(TaskSpec { policy, ..spec })
    }

    /// The rules that have met nobody so far, by their places.
    pub fn unmet(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.unmet()
    }
}

impl OfForked for Deadlines {
    fn forked(&self, spec: TaskSpec) -> TaskSpec {
        self.with(self.0.of_forked(&spec), spec)
    }
}

/// Parameters as [`params`] reads them, to the nanosecond.
pub(crate) fn text(params: DlParams) -> String {
    let [runtime, deadline, period] =
        [params.runtime(), params.deadline(), params.period()].map(|time| format!("{}ns", time.0));
    let flag = if params.reclaims() { ",reclaim" } else { "" };
    format!("{runtime}/{deadline}/{period}{flag}")
}

/// Reads run time, deadline and period: `10ms/30ms/100ms`, or `10ms/100ms` where the deadline is the end of
/// the period; with `,reclaim` behind that for SCHED_FLAG_RECLAIM. Microseconds where no unit is written.
///
/// # Errors
/// No such form, or what the kernel refuses.
pub fn params(text: &str) -> Result<DlParams, String> {
    match text.split_once(',') {
        None => units::deadline(text),
        Some((times, "reclaim")) => units::deadline(times).map(DlParams::reclaiming),
        Some((_, flag)) => Err(format!("no flag is called `{flag}`; write reclaim behind the comma")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Block, Program, Template};
    use scheduler::Nanos;

    fn task(comm: &str) -> TaskSpec {
        Template::new(comm, Program::new(Block::new()).expect("a program")).spec()
    }

    #[test]
    fn the_last_rule_that_means_a_task_says_its_parameters() {
        let [long, short] = ["10ms/100ms", "1ms/5ms/10ms,reclaim"].map(|text| params(text).expect("legal"));
        let rule = |whom: &str, params| (whom.parse().expect("a task"), params);
        let deadlines = Deadlines::new([rule("w*", long), rule("w1", short), rule("x", long)]);
        let policy = |comm| deadlines.first(Pid(1000), task(comm)).policy;
        assert_eq!([policy("w0"), policy("w1")], [long, short].map(Policy::Deadline));
        assert_eq!(policy("sh"), Policy::Normal);
        assert_eq!(deadlines.forked(task("w0")).policy, Policy::Deadline(long));
        assert_eq!(deadlines.unmet().collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn parameters_are_those_of_the_kernel() {
        let read = params("10ms/30ms/100ms,reclaim").expect("legal");
        let ms = [10, 30, 100].map(Nanos::from_millis);
        assert_eq!([read.runtime(), read.deadline(), read.period()], ms);
        assert!(read.reclaims() && !params("10ms/100ms").expect("legal").reclaims());
        for wrong in ["10ms", "100ms/10ms", "1/2/3/4", "10ms/100ms,fast"] {
            assert!(params(wrong).is_err(), "{wrong}");
        }
    }
}
