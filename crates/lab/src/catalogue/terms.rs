//! The words of results: what tables and explanations mean by them.

use super::Entry;

/// Each word with its meaning, in the order of the alphabet.
const TERMS: [(&str, &str); 38] = [
    ("base", "In a comparison, the configuration that the others are held against; all others are variants."),
    ("burst", "What a task does between two sleeps: from a wakeup until it blocks."),
    ("cause", "Why a task that should execute does not, in one stretch of its latency."),
    (
        "cfs",
        "The fair class of kernels up to 6.5: of all runnable tasks the one with the smallest \
         vruntime runs, and a slice is a share of sched_latency.",
    ),
    (
        "changed",
        "In a comparison: the 95 % interval of the difference, paired by seed, excludes 0, and the \
         finding is among those of which at most 5 % are expected to be chance (Benjamini-Hochberg over \
         all figures).",
    ),
    (
        "class",
        "Policy and priority of a task, as ps prints them: FF 80 and RR 80 real-time (SCHED_FIFO, \
         SCHED_RR), DLN deadline, TS 0 fair with its nice value, B batch, IDL idle.",
    ),
    (
        "cpu time",
        "How long a task executed (se.sum_exec_runtime), what the kernel did on its behalf included.",
    ),
    (
        "culprit",
        "The task or the path of the kernel that was in the way of a late task, in one stretch of its \
         latency.",
    ),
    (
        "delay",
        "What perf sched latency calls so: from the event sched_wakeup until the task runs, in a \
         recording, or from sched_waking where that is asked for.",
    ),
    (
        "eevdf",
        "The fair class from 6.6 on: of the tasks that are eligible (that have had no more than their \
         share) the one with the earliest virtual deadline runs.",
    ),
    ("elsewhere", "What a change that was tried against one latency did to all other tasks."),
    (
        "finishing time",
        "When a load, or what was recorded, is done; what had not finished when the run ended is off by \
         all of it.",
    ),
    (
        "interval",
        "The range in which the mean difference lies with 95 % certainty: Student's t over the seeds, in \
         pairs.",
    ),
    (
        "lag",
        "Under EEVDF, by how much a task has had less than its share of the CPU (or more, where it is \
         negative), in virtual time; a task with lag of 0 or more is eligible.",
    ),
    (
        "late",
        "A task is late from when something should have woken it until its first instruction; what a \
         whole run is late by is shared out between causes.",
    ),
    (
        "latency",
        "How long a woken task waits. In the tables of a run from its wakeup until it first runs; in \
         `why` from when it was due (its timer, an interrupt, its waker) until its first instruction, \
         which is longer.",
    ),
    (
        "lazy preemption",
        "A request to reschedule that waits until the running task returns to user mode, or for the \
         next tick (preempt_model=lazy, from 6.13 on; feature PREEMPT_LAZY of PREEMPT_RT kernels \
         before).",
    ),
    (
        "load tracking",
        "Per-entity load tracking (PELT): averages of load, of runnable and of running time, of which what \
         is 32 ms old counts half (3.8 on; profiles from 4.4 on).",
    ),
    (
        "nonvoluntary",
        "A switch away from a task that could have gone on: preempted, its slice used up, or yielded; \
         `nonvol` in tables.",
    ),
    (
        "order",
        "Of a replay: which task follows which on a CPU, as the share of switches between the same two \
         names.",
    ),
    ("p99", "The latency that 99 of 100 do not exceed; so p50, p90, p99.9."),
    (
        "paired",
        "Two configurations run with the same seed, so that tasks want the same at the same times and \
         only what differs is due to the configuration.",
    ),
    ("preemption", "A running task gives way to one that goes before it, and stays runnable."),
    (
        "pull",
        "A CPU that runs out of real-time work, or is about to run less urgent one, takes a waiting \
         real-time task from another.",
    ),
    (
        "push",
        "A CPU with more than one runnable real-time task gives one of them to a CPU that runs something \
         less urgent.",
    ),
    (
        "replay",
        "A run in which the tasks of a recording do again what they did, on a simulated machine and \
         kernel.",
    ),
    (
        "remedy",
        "One thing that is changed from just before a late wakeup on, to see whether that would have \
         helped.",
    ),
    (
        "seed",
        "The number from which all random numbers of a run come: the same experiment with the same seed \
         has the same result to the byte.",
    ),
    (
        "slice",
        "How long a fair task may run before another one is considered: under CFS a share of \
         sched_latency, at least sched_min_granularity; under EEVDF base_slice, or what the task has \
         asked for by sched_setattr.",
    ),
    (
        "stretch",
        "A part of a latency that has one cause; the stretches of a latency follow each other and add up \
         to it exactly.",
    ),
    ("switch", "A CPU goes from one task to another (sched_switch); to and from idle counts."),
    (
        "throttling",
        "Keeping tasks from CPUs although they are runnable: real-time tasks that have used \
         sched_rt_runtime_us of a period, deadline tasks whose budget is used up, groups at their \
         limit (cpu.max).",
    ),
    ("variant", "In a comparison, a configuration that differs from the base in what its name says."),
    (
        "verdict",
        "How far a replay can be trusted, question by question: good (it does what was recorded), fair \
         (trust changes much larger than the distance), poor, unknown (too little was recorded). The \
         limits stand in validation/bounds.toml.",
    ),
    ("victim", "The task that was late."),
    ("voluntary", "A switch away from a task that blocks or ends; `vol` in tables."),
    ("wait", "How long a task could have run and did not (wait_sum), in all."),
    ("wakeup preemption", "A task that was just woken takes the CPU of the one that runs there."),
];

pub fn entries() -> Vec<Entry> {
    TERMS.into_iter().map(|(name, meaning)| Entry::new(name, meaning)).collect()
}
