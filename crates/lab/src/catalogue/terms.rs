//! The words of results: what tables and explanations mean by them.

use super::{Entry, idle};

/// Each word with its meaning.
const TERMS: [(&str, &str); 53] = [
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
        "cpu.idle",
        "File of a task group (5.15 on): 1 lets everybody else go before its tasks, and all of it together \
         weighs 3. As `web=cpu.idle:1`.",
    ),
    (
        "cpu.max",
        "File of a task group (3.2 on): CPU time that its fair tasks may use in each period, on all CPUs \
         together; who has used it up is throttled until the next one. QUOTA/PERIOD in us, or max: \
         `web=cpu.max:200000/100000`.",
    ),
    (
        "cpu.max.burst",
        "File of a task group (5.14 on): how much of what it has not used of cpu.max it may use later, in us; \
         no more than the quota. As `web=cpu.max:200000,cpu.max.burst:100000`.",
    ),
    (
        "cpu.rt_period_us",
        "File of a task group of kernels with RT_GROUP_SCHED (rt_throttle=groups): how often its real-time tasks \
         get their cpu.rt_runtime_us again; sched_rt_period_us where nobody writes it.",
    ),
    (
        "cpu.rt_runtime_us",
        "File of a task group of kernels with RT_GROUP_SCHED (rt_throttle=groups): CPU time that its real-time \
         tasks may use of each CPU in each cpu.rt_period_us; 0, as the kernel makes a group, lets no task \
         become one, and -1 is all of it. Groups have no more together than the one above them, the root \
         sched_rt_runtime_us. As `audio=cpu.rt_runtime_us:100000`.",
    ),
    (
        "cpu.shares",
        "File of a task group (version 1 of cgroups): its weight among its siblings, 2 to 262144, 1024 where \
         nobody writes it; cpu.weight says the same in another unit.",
    ),
    (
        "cpu.uclamp.max",
        "File of a task group (5.3 on): none of its tasks counts as using more, in percent with up to two \
         decimals; max where nobody writes it.",
    ),
    (
        "cpu.uclamp.min",
        "File of a task group (5.3 on): none of its tasks counts as using less, in percent with up to two \
         decimals; 0 where nobody writes it. As `ui=cpu.uclamp.min:40`.",
    ),
    (
        "cpu.weight",
        "File of a task group: its weight among its siblings, 1 to 10000, 100 where nobody writes it. As \
         `web=cpu.weight:300`.",
    ),
    ("cpu.weight.nice", "File of a task group: its weight said as a nice value, -20 to 19."),
    ("cpuset.cpus", "File of a task group: the CPUs that its tasks may use. As `rt=cpuset.cpus:2-3`."),
    (
        "cpuset.cpus.partition",
        "File of a task group (5.0 on): `root` makes its CPUs a part of the machine with a balancing of its own, \
         `isolated` (6.1 on) takes them out of all; `member`, as by itself, does neither.",
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
        "idle state",
        "What an idle CPU is in until there is work (cpuidle): the deeper, the less power it takes and the longer \
         it takes to leave. A machine file may have several ([idle]), and a governor that chooses.",
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
    (
        "POLL",
        "The idle state in which a CPU looks for work in a loop: it costs nothing to leave, and its tick goes on. \
         All others wait for an interrupt or for a write to a flag.",
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
        "sched_autogroup_enabled",
        "Sysctl of kernels with autogroup (2.6.38 on): whether each session, here each load, is a task group, as long \
         as its tasks are in no other. As the setting sched_autogroup_enabled=1.",
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
    let terms = TERMS.into_iter().map(|(name, meaning)| Entry::new(name, meaning));
    let mut all: Vec<Entry> = terms.chain(idle::terms()).collect();
    all.sort_by_key(|entry| entry.name.to_lowercase());
    all
}
