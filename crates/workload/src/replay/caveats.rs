//! What must be known of a recording before its replay is trusted. It stays true of a workload file that is
//! made of it, and so stands there, too.

use super::recording::Recording;
use super::{autogroup, quotas};
use trace::{Repair, Severity, Trace};

/// Sentences about the recording as a whole.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Caveats {
    /// What changes the meaning of the result.
    pub warnings: Vec<String>,
    /// What else to know.
    pub notes: Vec<String>,
}

impl Caveats {
    /// Of a trace after its repair.
    /// `uncertain_ns`: by how much its CPU times may be wrong in all.
    pub(super) fn of(trace: &Trace, recording: &Recording, repair: Repair, uncertain_ns: u64) -> Caveats {
        let mut warnings: Vec<String> = missing_switches(repair, uncertain_ns).into_iter().collect();
        if recording.groups.is_empty() {
            warnings.extend(quotas::warnings(trace, recording));
            warnings.extend(autogroup::warning(trace, &recording.tasks));
        }
        let serious = trace.notes.iter().filter(|note| note.kind.severity() != Severity::Info);
        warnings.extend(serious.map(ToString::to_string));
        Caveats { warnings, notes: Vec::new() }
    }
}

/// A time as people read it, where nanoseconds would say more than is known.
pub(super) fn seconds(ns: u64, decimals: usize) -> String {
    format!("{:.decimals$} s", ns as f64 / 1e9)
}

fn missing_switches(Repair { switches, uncertain_ns }: Repair, of_cpu_times_ns: u64) -> Option<String> {
    let what = if switches == 1 { "switch that is" } else { "switches that are" };
    let seconds = |ns: u64| seconds(ns, 3);
    let consequence = match of_cpu_times_ns {
        0 => format!(
            "by up to {} in all too early or late; CPU times are the kernel's own (sched_stat_runtime)",
            seconds(uncertain_ns)
        ),
        ns => format!("CPU times may be wrong by {} in all", seconds(ns)),
    };
    (switches > 0).then(|| format!("{switches} {what} missing in the trace: inferred, {consequence}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_switches_are_told_with_what_they_make_uncertain() {
        let repair = Repair { switches: 2, uncertain_ns: 58_300_000 };
        assert_eq!(
            missing_switches(repair, 58_300_000).as_deref(),
            Some(
                "2 switches that are missing in the trace: inferred, CPU times may be wrong by 0.058 s in all"
            )
        );
        let told = missing_switches(repair, 0).expect("a warning");
        assert!(told.ends_with(
            "0.058 s in all too early or late; CPU times are the kernel's own (sched_stat_runtime)"
        ));
        assert_eq!(missing_switches(Repair::default(), 0), None);
    }
}
