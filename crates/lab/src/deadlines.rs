//! Tasks of any load that the user makes SCHED_DEADLINE ones (deadline-groups A2). Whether there is room for
//! them the kernel says, as it begins to run them.

use crate::error::Error;
use scheduler::{DlParams, Nanos};
use schema::{DeadlineText, ExperimentText};
use workload::deadlines::params;
use workload::replay::TaskSelector;

/// Reads `TASK=R/D/P`: `worker=4ms/8ms/16ms`, `cc*=10ms/100ms,reclaim`.
///
/// # Errors
/// No such form, or times that the kernel refuses.
pub fn deadline(word: &str) -> Result<DeadlineText, String> {
    let (task, times) = word.split_once('=').ok_or(
        "write TASK=RUNTIME/DEADLINE/PERIOD, such as worker=10ms/30ms/100ms, or TASK=RUNTIME/PERIOD",
    )?;
    let whom: TaskSelector = if task == "all" { "*" } else { task }.parse()?;
    Ok(text_of(&(whom, params(times)?)))
}

fn text_of((whom, params): &(TaskSelector, DlParams)) -> DeadlineText {
    DeadlineText {
        task: whom.word(),
        runtime_ns: params.runtime().0,
        deadline_ns: params.deadline().0,
        period_ns: params.period().0,
        reclaims: params.reclaims(),
    }
}

/// Those of a text.
pub(crate) fn of_text(text: &ExperimentText) -> Result<Vec<(TaskSelector, DlParams)>, Error> {
    let read = |DeadlineText { task, runtime_ns, deadline_ns, period_ns, reclaims }: &DeadlineText| {
        let whom = task.parse()?;
        let params = DlParams::new(Nanos(*runtime_ns), Nanos(*deadline_ns), Nanos(*period_ns));
        let params = params.map_err(|why| why.to_string())?;
        Ok((whom, if *reclaims { params.reclaiming() } else { params }))
    };
    let of = |deadline: &DeadlineText| {
        read(deadline)
            .map_err(|problem| Error::Settings { word: format!("deadline={}", deadline.task), problem })
    };
    text.deadlines.iter().map(of).collect()
}

/// Says them in a text.
pub(crate) fn said(deadlines: &[(TaskSelector, DlParams)]) -> Vec<DeadlineText> {
    deadlines.iter().map(text_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_and_written() {
        let read = deadline("cc*=4ms/8ms/16ms,reclaim").expect("legal");
        let [runtime_ns, deadline_ns, period_ns] = [4_000_000, 8_000_000, 16_000_000];
        let task = "cc*".to_owned();
        assert_eq!(read, DeadlineText { task, runtime_ns, deadline_ns, period_ns, reclaims: true });
        let text = ExperimentText { deadlines: vec![read.clone()], ..ExperimentText::default() };
        assert_eq!(said(&of_text(&text).expect("legal")), std::slice::from_ref(&read));
        let late = DeadlineText { deadline_ns: 1, ..read };
        let text = ExperimentText { deadlines: vec![late], ..ExperimentText::default() };
        assert!(of_text(&text).is_err_and(|error| error.to_string().contains("deadline=cc*")));
    }

    #[test]
    fn what_is_no_deadline_is_told() {
        for (word, says) in [
            ("worker", "TASK=RUNTIME/DEADLINE/PERIOD"),
            ("worker=4ms", "RUNTIME/DEADLINE/PERIOD"),
            ("worker=8ms/4ms", "deadline"),
            ("worker=4ms/8ms,fast", "reclaim"),
        ] {
            let told = deadline(word).expect_err("refused");
            assert!(told.contains(says), "{word}: {told}");
        }
    }
}
