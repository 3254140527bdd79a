//! How far a replay may be trusted: one grade for each question that it may be asked.
//!
//! The distances come from the replay beside its recording, the limits from one file,
//! `validation/bounds.toml`.

use schema::{
    Answer, Fidelity, Grade, Question, ReplayFinish, ReplaySummary, ReplayTask, ReplayVerdict, Seconds,
};

use super::thresholds::{Limits, limits};
use super::weighed_by_recorded;

/// From the sums over all tasks, the tasks, and when what was recorded is done.
pub fn of(sum: &ReplaySummary, tasks: &[ReplayTask], finish: Option<&ReplayFinish>) -> ReplayVerdict {
    let order = &sum.order;
    let switches = order.recorded.max(order.simulated);
    let mean = Distance {
        off: weighed_by_recorded(tasks, Fidelity::abs_error),
        of: weighed_by_recorded(tasks, |mean| mean.recorded),
    };
    let p99 = Distance::of(sum.wakeup_latency_p99_ns.abs_error(), sum.wakeup_latency_p99_ns.recorded);
    let answers = Question::ALL.map(|question| match question {
        Question::CpuTime => {
            let off = Distance::of(sum.cpu_time_abs_error_ns, sum.cpu_time_ns.recorded);
            let uncertain = Distance::of(sum.cpu_time_uncertain_ns, sum.cpu_time_ns.recorded);
            let close = answer(question, off.permille(), sum.cpu_time_ns.recorded / 1_000);
            to_a_recording_within(uncertain.permille(), close, limits(question))
        }
        Question::Switches => {
            let off = Distance::of(sum.nr_switches_abs_error, sum.nr_switches.recorded);
            answer(question, off.permille(), sum.nr_switches.recorded)
        }
        Question::Order => {
            let off = Distance::of(switches - order.common, switches);
            answer(question, off.permille(), order.recorded)
        }
        Question::Latency => {
            answer(question, mean.permille().max(p99.permille()), sum.wakeup_latencies.recorded)
        }
        Question::FinishingTime => {
            let recorded = finish.and_then(|finish| finish.recorded_s).map_or(0, Seconds::as_ns);
            let simulated = finish.and_then(|finish| finish.seconds).map(Seconds::as_ns);
            if finish.is_some_and(|finish| !finish.is_answer()) {
                return Answer { grade: Grade::Unknown, ..answer(question, 0, 0) };
            }
            // What had not finished when the run ended is off by all of it, at least.
            let off = simulated.map_or(recorded, |simulated| simulated.abs_diff(recorded));
            answer(question, Distance::of(off, recorded).permille(), recorded / 1_000)
        }
    });
    let known = answers.iter().map(|answer| answer.grade).filter(|grade| *grade != Grade::Unknown);
    let [cpu_time, switches, order, latency, finishing_time] = answers;
    ReplayVerdict {
        overall: known.max().unwrap_or(Grade::Unknown),
        sentence: sentence(&answers, why_unknown(finish)),
        cpu_time,
        switches,
        order,
        latency,
        finishing_time,
    }
}

/// The questions for which its own figures are poor.
pub fn poor_questions(task: &ReplayTask) -> Vec<Question> {
    let figures = [
        (Question::CpuTime, task.cpu_time_ns, task.cpu_time_ns.recorded / 1_000),
        (Question::Switches, task.nr_switches, task.nr_switches.recorded),
        (Question::Latency, task.wakeup_latency_mean_ns, task.wakeup_latencies.recorded),
    ];
    let is_poor = |(question, pair, counted): &(Question, Fidelity, u64)| {
        *counted >= limits(*question).least && is_poor(*question, *pair)
    };
    figures.into_iter().filter(is_poor).map(|(question, ..)| question).collect()
}

/// Whether a figure that belongs to this question is too far from the recorded one.
pub fn is_poor(question: Question, figure: Fidelity) -> bool {
    Distance::of(figure.abs_error(), figure.recorded).permille() > limits(question).fair_permille
}

/// The same answer where the recording itself is uncertain: what is close to it is no good answer then.
fn to_a_recording_within(permille: u64, answer: Answer, limits: Limits) -> Answer {
    if permille <= limits.good_permille {
        return answer;
    }
    let grade = if answer.grade == Grade::Good { Grade::Fair } else { answer.grade };
    Answer { grade, uncertain_permille: Some(permille), ..answer }
}

/// The answer for this distance, which so much of what is counted has shown.
fn answer(question: Question, off_permille: u64, counted: u64) -> Answer {
    let Limits { good_permille, fair_permille, least } = limits(question);
    let grade = match off_permille {
        _ if counted < least => Grade::Unknown,
        off if off <= good_permille => Grade::Good,
        off if off <= fair_permille => Grade::Fair,
        _ => Grade::Poor,
    };
    Answer { grade, off_permille, counted, uncertain_permille: None }
}

/// `good for CPU time (0.1 % off) and switches (4.0 % off), poor for latency (63 % off)`
/// with what `why` says of finishing times that are unknown.
fn sentence(answers: &[Answer; 5], why: &str) -> String {
    let all = || Question::ALL.into_iter().zip(answers);
    let with = |grade: Grade| -> Option<String> {
        let of_grade: Vec<String> = all()
            .filter(|(_, answer)| answer.grade == grade)
            .map(|(question, answer)| match grade {
                Grade::Unknown if question == Question::FinishingTime => question.name().to_owned() + why,
                Grade::Unknown => question.name().to_owned(),
                _ => {
                    let within = answer.uncertain_permille.map(percent);
                    let within = within.map_or(String::new(), |p| format!(", recorded to within {p}"));
                    format!("{} ({} off{within})", question.name(), percent(answer.off_permille))
                }
            })
            .collect();
        let (last, others) = of_grade.split_last()?;
        let list = if others.is_empty() { last.clone() } else { format!("{} and {last}", others.join(", ")) };
        Some(format!("{} for {list}", grade.name()))
    };
    let grades = [Grade::Good, Grade::Fair, Grade::Poor, Grade::Unknown];
    grades.into_iter().filter_map(with).collect::<Vec<_>>().join(", ")
}

/// Why nobody can say when such tasks would be done, in brackets.
fn why_unknown(finish: Option<&ReplayFinish>) -> &'static str {
    match finish {
        Some(ReplayFinish { of_some_cpus: true, .. }) => {
            " (only some of the machine's CPUs were recorded: what its tasks did on the others is missing)"
        }
        Some(ReplayFinish { by_clock: true, .. }) => " (its tasks end at one moment: by the clock, it seems)",
        Some(ReplayFinish { perhaps_by_clock: true, .. }) => {
            " (its tasks end at one moment: by the clock, or by equal work)"
        }
        _ => "",
    }
}

/// Thousandths as per cent: `4.1 %`, from ten per cent on without decimals.
fn percent(permille: u64) -> String {
    if permille < 100 {
        format!("{}.{} %", permille / 10, permille % 10)
    } else {
        format!("{} %", (permille + 5) / 10)
    }
}

/// How far off something is, and of how much.
#[derive(Debug, Clone, Copy)]
struct Distance {
    off: u128,
    of: u128,
}

impl Distance {
    fn of(off: u64, of: u64) -> Self {
        Self { off: off.into(), of: of.into() }
    }

    /// Relative, rounded as people do, but only what is equal is 0; where nothing was recorded, all of it is
    /// off.
    fn permille(self) -> u64 {
        match (self.off, self.of) {
            (0, _) => 0,
            (_, 0) => 1_000,
            (off, of) => {
                let rounded = off.saturating_mul(1_000).saturating_add(of / 2) / of;
                u64::try_from(rounded).unwrap_or(u64::MAX).max(1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::fidelity;
    use schema::{ReplayOrder, example};

    fn verdict(change: impl Fn(&mut ReplayTask)) -> ReplayVerdict {
        verdict_of_finish(change, Some(example::finish(Some(2_000_000), Some(2_001_000))))
    }

    fn verdict_of_finish(change: impl Fn(&mut ReplayTask), finish: Option<ReplayFinish>) -> ReplayVerdict {
        let mut task = example::replay_task(1, "a");
        let same = |figure: u64| Fidelity { recorded: figure, simulated: figure };
        (task.cpu_time_ns, task.nr_switches, task.wakeup_latencies) = (same(1_000_000), same(200), same(100));
        task.wakeup_latency_mean_ns = same(5_000);
        change(&mut task);
        let order = ReplayOrder { recorded: 200, simulated: 200, common: 180 };
        let (tasks, p99) = (vec![task], Fidelity { recorded: 9_000, simulated: 9_000 });
        fidelity("t.dat".to_owned(), example::reference(), tasks, 0, p99, order, finish.as_ref()).verdict
    }

    #[test]
    fn each_question_has_its_own_grade_and_the_worst_is_overall() {
        let replay = verdict(|_| ());
        assert_eq!((replay.overall, replay.order.off_permille), (Grade::Good, 100));
        assert_eq!(
            replay.sentence,
            "good for CPU time (0.0 % off), switches (0.0 % off), order (10 % off), latency (0.0 % off) and finishing time \
             (0.1 % off)"
        );
        let replay = verdict(|task| {
            task.nr_switches.simulated = 156;
            task.wakeup_latency_mean_ns.simulated = 20_000;
        });
        assert_eq!((replay.switches.grade, replay.switches.off_permille), (Grade::Fair, 220));
        assert_eq!((replay.latency.grade, replay.latency.off_permille), (Grade::Poor, 3_000));
        assert_eq!((replay.overall, replay.cpu_time.grade), (Grade::Poor, Grade::Good));
        assert!(replay.sentence.ends_with("fair for switches (22 % off), poor for latency (300 % off)"));
    }

    #[test]
    fn what_is_close_to_an_uncertain_recording_is_not_good() {
        let mut sum = example::replay().summary;
        sum.cpu_time_uncertain_ns = sum.cpu_time_ns.recorded / 200;
        let verdict = |sum: &ReplaySummary| of(sum, &[], None);
        assert_eq!(verdict(&sum).cpu_time.grade, Grade::Good);
        sum.cpu_time_uncertain_ns = sum.cpu_time_ns.recorded / 10;
        let Answer { grade, uncertain_permille, .. } = verdict(&sum).cpu_time;
        assert_eq!((grade, uncertain_permille), (Grade::Fair, Some(100)));
        let sentence = verdict(&sum).sentence;
        assert!(sentence.contains("fair for CPU time (0.1 % off, recorded to within 10 %)"), "{sentence}");
        sum.cpu_time_abs_error_ns = sum.cpu_time_ns.recorded / 10;
        assert_eq!(verdict(&sum).cpu_time.grade, Grade::Poor, "uncertainty excuses nothing");
    }

    #[test]
    fn when_it_is_done_is_a_question_of_its_own() {
        let answer = |recorded, simulated| {
            let replay = verdict_of_finish(|_| (), Some(example::finish(recorded, simulated)));
            (replay.finishing_time.grade, replay.finishing_time.off_permille)
        };
        assert_eq!(answer(Some(10_000_000), Some(10_300_000)), (Grade::Good, 30));
        assert_eq!(answer(Some(10_000_000), Some(9_000_000)), (Grade::Fair, 100));
        assert_eq!(answer(Some(10_000_000), Some(15_000_000)), (Grade::Poor, 500));
        assert_eq!(answer(Some(10_000_000), None), (Grade::Poor, 1_000), "it never finished");
        assert_eq!(answer(Some(90_000), Some(180_000)).0, Grade::Unknown, "after 90 us");
        assert_eq!(answer(None, Some(10_000_000)).0, Grade::Unknown);
        let poor = verdict_of_finish(|_| (), Some(example::finish(Some(10_000_000), None)));
        assert_eq!(poor.overall, Grade::Poor);
        assert_eq!(verdict_of_finish(|_| (), None).finishing_time.grade, Grade::Unknown, "nobody exits");
    }

    #[test]
    fn tasks_that_end_at_one_moment_do_not_tell_when_they_would_be_done() {
        let of = |by_clock, perhaps_by_clock| {
            let same = example::finish(Some(10_000_000), Some(10_000_000));
            verdict_of_finish(|_| (), Some(ReplayFinish { by_clock, perhaps_by_clock, ..same }))
        };
        let said = |by_clock, perhaps_by_clock| {
            let verdict = of(by_clock, perhaps_by_clock);
            assert_eq!(verdict.finishing_time.grade, Grade::Unknown);
            verdict.sentence
        };
        let end = "unknown for finishing time (its tasks end at one moment: by the clock, ";
        assert!(said(true, false).ends_with(&format!("{end}it seems)")), "{}", said(true, false));
        assert!(said(false, true).ends_with(&format!("{end}or by equal work)")), "{}", said(false, true));
        assert_eq!(of(false, false).finishing_time.grade, Grade::Good);
        let same = example::finish(Some(10_000_000), Some(10_000_000));
        let of_one = verdict_of_finish(|_| (), Some(ReplayFinish { of_some_cpus: true, ..same }));
        assert_eq!(of_one.finishing_time.grade, Grade::Unknown);
        let why = "unknown for finishing time (only some of the machine's CPUs were recorded";
        assert!(of_one.sentence.contains(why), "{}", of_one.sentence);
    }

    #[test]
    fn a_handful_of_wakeups_tells_nothing() {
        let replay = verdict(|task| {
            task.wakeup_latencies.recorded = 8;
            task.wakeup_latency_mean_ns.simulated = 20_000;
        });
        assert_eq!((replay.latency.grade, replay.overall), (Grade::Unknown, Grade::Good));
        assert!(replay.sentence.ends_with("unknown for latency"), "{}", replay.sentence);
    }

    #[test]
    fn a_task_is_poor_in_what_it_is_far_off_in() {
        let mut task = example::replay_task(1, "a");
        assert_eq!(poor_questions(&task), []);
        task.nr_switches = Fidelity { recorded: 100, simulated: 300 };
        assert_eq!(poor_questions(&task), [Question::Switches]);
        task.nr_switches = Fidelity { recorded: 3, simulated: 9 };
        assert_eq!(poor_questions(&task), [], "three switches are few");
    }
}
