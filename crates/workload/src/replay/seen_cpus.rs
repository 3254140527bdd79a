//! What to know of replays of recordings of some of a machine's CPUs, as `perf sched record -C 1` makes them:
//! what happened on the others is not in them, and a replay would have those CPUs for itself.

use trace::SeenCpus;

/// A sentence.
pub(super) fn warning(seen: &SeenCpus) -> String {
    let own = seen.seen.len();
    format!(
        "the recording has {seen}: it is one of some of the machine's CPUs, and what they did there is missing. A \
         replay on all CPUs has the others for itself; as many as were recorded are cpus={own}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::tests::trace;

    /// Of two CPUs the recorder wrote down the second: of a task that it wakes on the first, nothing is seen.
    #[test]
    fn a_recording_of_one_cpu_is_found_by_whom_it_sends_elsewhere() {
        let of_one =
            "0 1 idle R a\n100 1 a wakes b on 0\n200 1 a S idle\n300 1 irq@idle wakes a\n310 1 idle R a";
        let found = SeenCpus::of(&trace(of_one)).expect("one of two CPUs");
        assert_eq!((found.seen.as_slice(), found.missing.as_slice(), found.sent), (&[1][..], &[0][..], 1));
        let said = warning(&found);
        assert!(said.contains("switches of CPU 1 only, and tasks were sent to CPU 0 once"), "{said}");
        assert!(said.ends_with("as many as were recorded are cpus=1"), "{said}");
        let of_both = format!("{of_one}\n400 0 idle R b\n500 0 b S idle");
        assert_eq!(SeenCpus::of(&trace(&of_both)), None);
    }

    #[test]
    fn a_cpu_to_which_nobody_was_sent_may_have_idled() {
        assert_eq!(SeenCpus::of(&trace("0 1 idle R a\n200 1 a S idle\n300 1 irq@idle wakes a on 1")), None);
    }
}
