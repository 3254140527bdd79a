//! What was found in a trace, counted, and the sentences that say so.

macro_rules! counts {
    ($($name:ident $one:literal $many:literal $rest:literal;)+) => {
        /// How often each thing was found, and which rule decided about it.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub struct Counts {
            $(#[doc = concat!($many, $rest)] pub $name: u64,)+
        }

        impl Counts {
            /// A sentence for each count that is not zero.
            pub fn sentences(&self) -> Vec<String> {
                let all = [$((self.$name, $one, $many, $rest),)+];
                let found = all.iter().filter(|(count, ..)| *count > 0);
                let what = |count, one, many| if count == 1 { one } else { many };
                found
                    .map(|(count, one, many, rest)| format!("{count} {}{rest}", what(*count, one, many)))
                    .collect()
            }
        }
    };
}

counts! {
    told "program" "programs" " told by the trace step by step: replayed so, nothing is inferred";
    by_task "wakeup" "wakeups" " by another task: replayed at the same point of that task's progress";
    by_periodic_timer "wakeup" "wakeups" " by a timer with absolute times (equally spaced): replayed as such \
                                          a timer";
    by_relative_timer "wakeup" "wakeups" " by a timer with a span (equal sleeps): replayed as such a timer, \
                                          from the start of the sleep";
    by_shown_timer "wakeup" "wakeups" " by a timer of the task's own, as the trace shows, without a pattern: \
                                       replayed as a span from the start of the sleep";
    by_named_device "wait" "waits" " for a device of which the trace shows the request: replayed as a \
                                    service time, from when the request was given to the device";
    by_device "wait" "waits" " for a device that the trace does not name (asleep in state D until an \
                              interrupt): replayed as a service time, from when the task asks";
    work "piece" "pieces" " of work for kworker threads: done in the order in which it comes";
    by_device_for_another "wakeup" "wakeups" " of kernel threads by a device that had served a task: \
                                              replayed so, from when that task asks";
    by_response "wakeup" "wakeups" " by a packet after the task, or another thread of its process, had sent \
                                    something: replayed as an answer, from when that was sent";
    by_loopback "wakeup" "wakeups" " by a packet over the loopback device: replayed at the same point of the \
                                    sender's progress";
    by_network "wakeup" "wakeups" " by a packet that nothing in the trace had asked for: replayed at the \
                                   recorded time";
    by_other_device "wakeup" "wakeups" " by the interrupt of a device without a request in the trace: \
                                        replayed at the recorded time";
    by_interrupt "wakeup" "wakeups" " by other interrupts: replayed at the recorded time";
    by_tick "wakeup" "wakeups" " by soft timers of the kernel: replayed in the interrupt of the tick at that \
                                time";
    by_softirq "wakeup" "wakeups" " by other soft interrupts: replayed at the recorded time";
    unseen "wakeup" "wakeups" " not shown by the trace: replayed when the task ran again";
    without_effect "wakeup" "wakeups" " of tasks that were not asleep: left out";
    by_stopper "sleep" "sleeps" " until the kernel's stopper (migration/N) had moved the task on its exec: \
                                 left out, the simulated scheduler does so itself";
    bound "time" "times" " the kernel's stopper (migration/N) moved a task that waited for it: replayed as \
                          an affinity to that CPU, which it sets itself";
    context_guessed "wakeup" "wakeups" " of which the trace does not say whether a task or an interrupt made \
                                        it: taken for the task's unless a timer explains it";
    forks "fork" "forks" ": replayed at the same point of the parent's progress";
    appeared "task" "tasks" " from nowhere: started at the time at which it first ran";
    yields "call" "calls" " of sched_yield: inferred, as traces do not tell them from preemption";
    priority_changes "change" "changes" " of priority by a task itself or by somebody unknown: replayed as \
                                         its own";
    inherited "change" "changes" " of priority by inheritance: replayed at the same point of the progress of \
                                  whoever made it (with --locks inferred, by mutexes)";
    handed_over "time" "times" " a mutex was handed over: inferred from who lends priorities to whom or who \
                                wakes whom, and replayed at mutexes, where either may come first (--locks \
                                recorded: as recorded)";
    not_inferred "wait" "waits" " for plain mutexes that are mostly taken while nobody waits, which does not \
                                 show: replayed as recorded (--locks inferred: at mutexes all the same)";
    uncontended "time" "times" " such a mutex must have been free: inferred from when else its user takes it";
    latency_holders "program" "programs" " (cyclictest) kept idle CPUs from halting when it was recorded: \
                                          the replay's do not halt either";
    impossible_runtimes "CPU time" "CPU times" " of sched_stat_runtime longer than the whole trace, as \
                                                damage makes it: taken from the switches";
    lost_stays "stay" "stays" " on a CPU whose end or beginning was not recorded: replayed as far as it is \
                               proven";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_told_as_one() {
        let counts = Counts { forks: 1, by_stopper: 2, ..Counts::default() };
        let [stopper, forks] = counts.sentences().try_into().expect("two sentences");
        assert!(stopper.starts_with("2 sleeps until the kernel's stopper"), "{stopper}");
        assert!(forks.starts_with("1 fork: replayed"), "{forks}");
    }
}
