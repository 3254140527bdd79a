//! The limits. Measured figures are those of the review of commit 906d226 against Linux 6.1.192 and of the
//! recordings of 6.1 and 6.18 kernels.

use super::{Effect, Limit};

/// Every kernel; `fair-base` is none. Those of one era stand together, the newest era first: other lists are
/// parts of this one.
pub(super) const ALL: &[&str] = &[
    "6.6",
    "6.12",
    "6.12-rt",
    "6.12.y",
    "6.18",
    "6.18-rt",
    "6.18.y",
    "7.0",
    "7.1",
    "6.1",
    "6.1.y",
    "6.1-rt",
    "5.15",
    "5.10",
    "5.4",
    "4.19",
    "4.4",
    "4.0",
    "4.1",
    "3.3",
    "2.6.36",
    "2.6.36+S0",
    "2.6.37",
    "2.6.35",
    "2.6.35.2+D",
    "2.6.33",
    "2.6.32",
    "tip",
    "tip+",
    "tip+x",
    "tipx",
    "2.6.31",
    "2.6.31.3",
    "2.6.23-rt5",
    "2.6.23-rt5-gh",
];

/// Those in which a pipe wakes more than it has to.
const BEFORE_6_15: &[&str] = &joined::<{ ALL.len() - 5 }>(up_to("6.12.y"), from("6.1"));
/// After the fair class of 2.6.36.
const SINCE_3_3: &[&str] = up_to("3.3");
const SINCE_4_0: &[&str] = up_to("4.1");
const SINCE_4_19: &[&str] = up_to("4.19");
const SINCE_6_12: &[&str] = between("6.12", "7.1");
/// Built on 2.6.36.
const OLD_PLACEMENT: &[&str] = from("4.0");
/// Those that run on an older fair class than their own.
const OLD_FAIR_3_3: &[&str] = between("4.0", "3.3");
/// Those that tick apart, and whose kernels do not.
const COINCIDING_TICKS: &[&str] = between("4.0", "2.6.37");
const OLD_FAIR_4_0: &[&str] = between("4.0", "4.1");
pub(super) const REAL_TIME: &[&str] = &["6.12-rt", "6.18-rt", "6.1-rt", "2.6.23-rt5", "2.6.23-rt5-gh"];

/// From the beginning of [`ALL`] up to this kernel and with it.
const fn up_to(last: &str) -> &'static [&'static str] {
    ALL.split_at(place(last) + 1).0
}

/// From this kernel to the end of [`ALL`].
const fn from(first: &str) -> &'static [&'static str] {
    ALL.split_at(place(first)).1
}

/// From one to the other, both included.
const fn between(first: &str, last: &str) -> &'static [&'static str] {
    up_to(last).split_at(place(first)).1
}

/// Of a kernel in [`ALL`]. One that is not there does not compile.
const fn place(name: &str) -> usize {
    let mut at = 0;
    while !is_same(ALL[at], name) {
        at += 1;
    }
    at
}

const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// One list behind the other.
const fn joined<const N: usize>(a: &[&'static str], b: &[&'static str]) -> [&'static str; N] {
    assert!(a.len() + b.len() == N);
    let mut all = [""; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < a.len() { a[at] } else { b[at - a.len()] };
        at += 1;
    }
    all
}

pub(super) const PLACEMENT: Limit = Limit {
    name: "placement",
    effect: Effect::Large,
    missing: "Fair tasks are placed at wakeup, fork and exec, and balanced between CPUs, by the rules and \
              constants of Linux 2.6.36.",
    changes: "Migrations, wakeup preemptions and what follows from them, on several CPUs: builds, hackbench, \
              the threads of a core. On laptop, with 6.1 in place of 4.1 (means of 8 seeds), hackbench -g2 \
              takes 6 % less time with twice as many wakeup preemptions; make -j4 has 105 migrations in \
              place of 625; 11 hogs have 26 in their first second in place of 22.",
    profiles: OLD_FAIR_3_3,
    source: "fair-placement 2, 4",
};

/// Every limit, those that change most first.
pub(super) const LIMITS: &[Limit] = &[
    PLACEMENT,
    Limit {
        name: "pelt",
        effect: Effect::Large,
        missing: "Averages of load and utilisation (PELT since 3.8, util_est since 4.17): a runnable task \
                  weighs all that its nice value says, a sleeping one nothing.",
        changes: "The input of every placement and balancing of fair tasks: light periodic tasks count like \
                  endless ones while they run. Not measured by itself.",
        profiles: OLD_FAIR_4_0,
        source: "fair-placement 1",
    },
    Limit {
        name: "rt_capacity",
        effect: Effect::Large,
        missing: "CPU time that real-time tasks and interrupts take does not make a CPU worth less to fair \
                  tasks.",
        changes: "Fair tasks beside real-time ones. With a FIFO hog on one of 2 CPUs and three fair hogs, \
                  one of these waits 951 ms at a stretch; under 6.1.y none waits for more than 110 to 160 ms.",
        profiles: OLD_FAIR_4_0,
        source: "fair-placement 1.9",
    },
    Limit {
        name: "cgroups",
        effect: Effect::Large,
        missing: "The control groups of a recording that does not tell them, as none but those of schedlab \
                  record do: its tasks compete in one flat group, and no limit stops them, unless group and in \
                  say which there were. Of groups that are there: the cpusets and clamps of utilisation of a \
                  recording, moves from group to group during a run, and other limits of their real-time \
                  tasks during a run. Of cpusets: changes during a run, cpuset.cpus.exclusive and remote \
                  partitions (6.7 on), sched_load_balance of version 1.",
        changes: "Shares between containers or services that a recording had, and every delay that a limit \
                  causes. Measured once: a recording with a limit replays 14 % off without groups, 1 % with \
                  them.",
        profiles: ALL,
        source: "deadline-groups B2, B7, B10",
    },
    Limit {
        name: "autogroup",
        effect: Effect::Large,
        missing: "Autogroup, unless it is asked for: one group for each session, on in the kernels of Debian, \
                  Ubuntu and Fedora since 2.6.38. Asked for, each load is a session, a recording as a whole; \
                  nice values of sessions are not known, \
                  and nothing switches it in the middle of a run.",
        changes: "An interactive task beside a build in another terminal: its median wakeup latency is up to \
                  100 times too long against such recordings.",
        profiles: SINCE_3_3,
        source: "deadline-groups B5; eevdf-class 8",
    },
    Limit {
        name: "frequency",
        effect: Effect::Large,
        missing: "Frequencies that the hardware chooses (turbo, intel_pstate, heat), and governors but \
                  performance and schedutil (rule governor), which needs a machine file with frequencies \
                  (phone). Of schedutil: the boost after waits for devices (iowait), the time that a change and \
                  its thread take, and that it keeps the frequency of a CPU that has not idled. What busy hardware threads take from each other is one factor, of files that say \
                  one (laptop's 62 %, calibrated ones), whatever they execute, and nothing while the sibling \
                  polls; tasks of a recording keep their recorded CPU times beside any sibling.",
        changes: "Run times on laptops, and of pairs of threads that are both memory-bound (0.7 to 0.8 in \
                  place of 0.62) or dense in floating point (0.5 to 0.55); whether a replay gains or loses by \
                  another placement on siblings, it cannot tell. Not measured.",
        profiles: ALL,
        source: "deadline-groups C2, C3; machine.md 6.2, 6.3",
    },
    Limit {
        name: "interrupts",
        effect: Effect::Large,
        missing: "The soft interrupts of devices and networks, and workqueues: a machine file has \
                  random stretches with interrupts off and generic kernel threads in their place, of which \
                  those marked device are threads with PREEMPT_RT; the recordings of kernels with it bring \
                  such threads besides. Without PREEMPT_RT only the load `ipi_storm` and RCU callbacks have soft \
                  interrupts; the tick itself balances and serves the timer wheel. RCU callbacks are those that \
                  ends of tasks and execs leave, on machines whose file says what one takes (rcu_callback: of ours \
                  nested): not those of memory and files given back, nor of the kernel itself; by the rules of \
                  6.1 under every kernel, and a grace period lasts 3 ticks.",
        changes: "Tails of wakeup latency. Of cyclictest's figures under load on a 6.18 machine, 57 of 100 \
                  are within 15 %. Of a timer beside threads that are created and joined as fast as can be p99 is \
                  35 us; recorded were 2.3 to 2.5 ms, in a flood of callbacks that does not begin here.",
        profiles: ALL,
        source: "machine.md 2, 8.3",
    },
    Limit {
        name: "inferred_locks",
        effect: Effect::Large,
        missing: "A replay knows no pipes, sockets and poll loops, only who woke whom: where the order \
                  changes, waits vanish and none arise. So with mutexes, but for plain ones of three tasks \
                  and more of which nearly every lock shows; inferring locks takes those that are mostly \
                  free, and those with priority inheritance, too.",
        changes: "Recordings of tasks that wait for each other: native rt_migrate with plain mutexes, \
                  inferred, has 0.93 to 1.01 of its switches (0.83 to 0.93 as recorded), with PI mutexes \
                  0.99 (inferred 1.26, and CPU times up to a third off task by task: spinning is part of \
                  them), pi_stress 1.0, hackbench 0.3, PostgreSQL 0.9.",
        profiles: ALL,
        source: "docs/accuracy.md",
    },
    Limit {
        name: "until_a_time",
        effect: Effect::Large,
        missing: "What a recorded program would do with more or less time, where nobody says that it runs until the \
                  clock says stop (until-end): it repeats its recorded amount of work. Until-end is for what a \
                  task computes after its last sleep; work that tasks take from a common heap is not shared out \
                  anew.",
        changes: "When such programs are done on other machines: twice the recorded time on half of the CPUs, \
                  where they really stop at the same time. Tasks that end at one moment after unequal work \
                  are found, and warned of; so are those that end so after equal work, which may be as much work \
                  as well, and their finishing time has no grade unless it is said that their work ends them \
                  (until-done). A single one shows nothing.",
        profiles: ALL,
        source: "recordings of mix_lab on 1, 2 and 4 CPUs",
    },
    Limit {
        name: "preempt_rt",
        effect: Effect::Medium,
        missing: "Of PREEMPT_RT: sleeping locks other than six kinds that forks, execs and exits take (free pages, slab, \
                  the list of tasks, directory entries, control groups) and those of who waits for a message: page \
                  tables, files, timers, sockets. How often they are taken and for how long is assumed (machine.md \
                  1.12). Who has one runs on another CPU: nobody spins for it; and who is in the midst of an operation \
                  there when a lock becomes one of a preempted task meets it in the next one only. sched_setaffinity \
                  from outside does not sleep until the lock is given back. A deadline task that may not migrate has \
                  nobody moved for it. irq_work/N and rcuc/N, whose RCU callbacks ksoftirqd/N calls. There are the threads \
                  of interrupts, timers and soft interrupts (irq/N-dev, ktimers/N, ksoftirqd/N), but in \
                  2.6.23-rt5, where the machine file has some; and tasks are preempted with locks of the \
                  kernel held, but for raw ones: a tenth of what spinlocks make atomic, which is assumed.",
        changes: "What PREEMPT_RT costs fair tasks: hackbench takes up to 6 % longer than without it here \
                  (6.12-rt on vm2), where 5 to 30 % are told (machine.md 1.13); through pipes, whose mutexes no fair task \
                  takes before one that sleeps for them, 2.5 times as long (0.77 in place of 0.31 s). How often a \
                  real-time task waits for a lock that a preempted fair one has. Order and counts of a \
                  guest's wakeups come out; times were not compared with a real kernel.",
        profiles: REAL_TIME,
        source: "machine.md 1",
    },
    Limit {
        name: "ticks_apart",
        effect: Effect::Medium,
        missing: "The CPUs' ticks are spread over half a period, as with skew_tick=1; since 2.6.36 they \
                  coincide, since 3.5 without that boot option (skew_tick=off).",
        changes: "Contention at the tick: none for run-queue locks with 12 hogs and cyclictest on 8 CPUs, 46 \
                  times with ticks close together.",
        profiles: COINCIDING_TICKS,
        source: "fair-placement 5.1",
    },
    Limit {
        name: "tick_rate",
        effect: Effect::Medium,
        missing: "A profile ticks 1000 times a second, where most distributions build for 250: name the \
                  distribution as the kernel (debian12), or set hz=250. A recording of `schedlab record` brings its own rate; beside others a warning says \
                  that it does not show.",
        changes: "When slices end: involuntary switches of fair tasks are 59 % off at the median against \
                  recordings of 250 Hz, 6 % with hz=250.",
        profiles: ALL,
        source: "fair-placement 5.1; recordings of 6.1 and 6.18",
    },
    Limit {
        name: "idle_polling",
        effect: Effect::Medium,
        missing: "Idle CPUs of vm2 and of the documents' machines halt and get an interrupt to be woken, \
                  unless /dev/cpu_dma_latency is held; those of bare x86 machines wait with MWAIT and need \
                  none: so laptop (idle_monitor in machine files). Calibrating finds out which, but does not tell MWAIT \
                  from polling.",
        changes: "The columns of IPIs, and about 0.6 us for each wakeup of an idle CPU. Right for virtual \
                  machines, which halt.",
        profiles: ALL,
        source: "machine.md 5.5",
    },
    Limit {
        name: "idle_governor",
        effect: Effect::Medium,
        missing: "Machines that come with the program have one idle state: an idle CPU stops its tick at once, from \
                  6.1.167 on after one tick in idle (idle_tick), and all idle CPUs wake up equally fast. A machine \
                  file may have several, and a governor ([idle]; calibrating reads them): menu, teo, haltpoll or none. \
                  Of these: ladder, what menu makes of tasks that wait for devices, what it did before 4.17, and \
                  teo before 5.14; timers of the wheel, which a CPU knows half a tick ahead here; states of cores \
                  and packages, whose CPUs have to agree; that frequencies and caches suffer from deep \
                  states; and the time that it takes to enter one and to stop the tick.",
        changes: "On machines without [idle], how often CPUs balance while they idle: an idle guest of 6.1 with four \
                  2 ms timers has 109 such passes a second and CPU, none with idle_tick=drop (a dump of schedstat \
                  counts them); and the time to leave deep states, 50 to 180 us and more of C6. How far the \
                  governors' choices are those of a real machine is not measured: no recording here is of one with states.",
        profiles: ALL,
        source: "fair-placement 2.9, 5.2, 5.4; machine.md 5.3, 5.4",
    },
    Limit {
        name: "cold_caches",
        effect: Effect::Medium,
        missing: "The kernel's own paths run from warm caches, but for the way of a timer's wakeup on machines \
                  whose file has a [cold] (vm2, nested, calibrated ones): creating threads, remote wakeups and system calls cost the \
                  same after 10 ms of idleness. What memory gives is shared on machines whose file says how \
                  much that is (nested, calibrated ones), and only by tasks that say how much they read \
                  (hog, by reads): builds, databases and the tasks of recordings read nothing.",
        changes: "wakeup-latency on vm2, a new thread each 10 ms: its median is 60 us in place of 86 on an idle \
                  CPU. cyclictest's medians there are right, idle and under load; the slowest thousandth under a \
                  build is a tenth of the recorded.",
        profiles: ALL,
        source: "machine.md 6.1, 6.4",
    },
    Limit {
        name: "devices",
        effect: Effect::Medium,
        missing: "Disks and networks: a device of the simulation takes as long for a request as its load says, \
                  however the requests lie; there is no page cache and no protocol. A replay repeats how long they took in the \
                  recording, from when they are asked. A disk that its block events name serves no more \
                  requests at once than it did there; without such events (waits in state D) it serves \
                  however many there are. A packet answers what its receiver had just sent to the network, \
                  as late as it did, whatever the other side is doing; packets that nothing asked for come \
                  at their recorded times, unless told otherwise.",
        changes: "Loads that saturate a device or a network. A script of computing and disk writes ended \
                  within 4 % of the real time on another number of CPUs, exchanges of packets with less work \
                  between them as well.",
        profiles: ALL,
        source: "recordings of 6.18",
    },
    Limit {
        name: "lock_waits",
        effect: Effect::Medium,
        missing: "Locks inside the kernel other than those of run queues and timers of tasks and the mutexes of \
                  pipes, and the semaphores of mappings and address spaces (i_mmap, anon_vma, mmap_lock) on machines whose \
                  file says how long they are held (kernel.rwsem: of ours nested). Of these only writers are there: nobody \
                  reads under one, and no load has several threads that fault, map or unmap at a time. Loops that fork and \
                  execute programs sleep for one 0.3 times a second (recorded 6.3, half of them for less than 1 us, 5.5 ms at \
                  most); on nested a loop that makes threads never does (recorded, as on the quiet machine, up to 1.5 times, for reading and for \
                  writing). Of spinlocks other than those of run queues the recorded loops of forks find one \
                  taken 108 times a second, the loop with threads 40, the quiet machine 17. Inodes, page \
                  cache, queues of sockets. A mutex of a pipe is taken for all that a message costs beyond a \
                  bare system call, which is assumed; kernels from 3.15 to 4.9 hand it to a \
                  waiter that was woken in vain, as newer ones do.",
        changes: "Loads whose system calls wait for each other. hackbench -p -g 3 on 2 CPUs finds a pipe's mutex taken 0.012 to \
                  0.020 times a message (recorded 0.010), for 0.2 us in the middle (recorded: less than 1); some \
                  spinners lose their CPU for tens of milliseconds, so that the mean is 2 to 9 us (recorded 1.0, one of them 20 ms), \
                  and none sleeps (recorded: three times).",
        profiles: ALL,
        source: "machine.md 1.12, 3.4 to 3.6, 7.6",
    },
    Limit {
        name: "isolation",
        effect: Effect::Medium,
        missing: "isolcpus=managed_irq, and what of nohz_full is RCU: its callbacks, where the machine's file says what one \
                  takes (rcu_callback), keep the tick and are called on their CPU, and not in threads elsewhere \
                  (rcu_nocbs). nohz_full is there: no tick beside a single task (beside one under a limit neither, which 6.6 changed), \
                  timers of sleepers and unbound kernel threads elsewhere; the tick that 4.17 moved to housekeeping CPUs is there in \
                  all kernels, in an interrupt and not in a kworker, and a timer finds another CPU only if that ticks before it \
                  expires. isolcpus and partitions of cpusets are there: no balancing, no task without an affinity, \
                  root domains of their own. Random stretches with interrupts off, those of devices among them, and threads \
                  bound to a CPU disturb isolated CPUs like others.",
        changes: "Machines that are tuned for real time: their isolated CPUs are disturbed more often here. \
                  Not measured.",
        profiles: ALL,
        source: "deadline-groups B10",
    },
    Limit {
        name: "sched_deadline",
        effect: Effect::Medium,
        missing: "A recorded task of SCHED_DEADLINE runs as SCHED_FIFO 99, because no event of a recording tells \
                  its parameters: deadline gives it some. Of the class itself: the overrun signal \
                  (SCHED_FLAG_DL_OVERRUN: one SIGXCPU for each budget that is used up, as many as the table counts \
                  throttles; no task here would react to it), SCHED_FLAG_RESET_ON_FORK, the timer that ends a \
                  budget exactly (HRTICK_DL, on in 7.x), kernels from 3.14 to 3.19 (there is no profile of \
                  them), bounds of periods that somebody sets (sched_deadline_period_min_us), and run time charged to the \
                  real-time throttling of kernels before 6.12 that were built without RT_GROUP_SCHED; the \
                  limits of its periods hold before 5.4, too.",
        changes: "Everything beside such a recorded task, which is never throttled. Not measured.",
        profiles: SINCE_4_0,
        source: "deadline-groups A2, A5, A8, A12",
    },
    Limit {
        name: "numa",
        effect: Effect::Medium,
        missing: "NUMA balancing: tasks do not move to the node of their memory.",
        changes: "Fair loads on machines with several sockets. Not measured.",
        profiles: SINCE_4_0,
        source: "fair-placement 0",
    },
    Limit {
        name: "asymmetric",
        effect: Effect::Medium,
        missing: "Of CPUs that are not worth the same: pressure by heat. Hybrid x86 machines (hybrid) pack \
                  (rule asym_packing, from 4.10 on); what of that was recalled and not compared says \
                  deadline-groups C9; the capacities that those without hardware threads have from 6.12 on are for \
                  the machine file to say, with capacity in place of priority. Tasks look for a CPU that they fit (rules unequal_cpus, uclamp and rt_fit), from 5.10 on, and go \
                  where they cost the least energy (energy_aware), with a machine file that says what CPUs take \
                  (phone) and governor=schedutil; how 4.9 to 5.9 placed fair ones is not modelled, nor that \
                  averages before 5.0 were scaled and not slowed. Of energy and of schedutil: idle states, caches and \
                  memory, the boost after I/O, the boost by waiting tasks (6.5 on), schedutil's own thread. Of \
                  clamps of utilisation (uclamp): those of a recording's tasks, and changes by a task of another \
                  one's.",
        changes: "A laptop or a phone that is warm has less of its large CPUs. Tasks of a recording run at full speed \
                  on every CPU. Not measured.",
        profiles: SINCE_4_19,
        source: "deadline-groups C1, C4, B11",
    },
    Limit {
        name: "fair_server",
        effect: Effect::Small,
        missing: "The fair server's parameters (debugfs, sched/fair_server): it has 50 ms in each second of every CPU; \
                  and that it counts as a running task in 6.12.",
        changes: "Systems that set them; CPUs that 6.12 takes for busy while their server waits in the queue. Not \
                  measured.",
        profiles: SINCE_6_12,
        source: "deadline-groups A11",
    },
    Limit {
        name: "rt_overload",
        effect: Effect::Small,
        missing: "From Linux 6.7 on a CPU counts as overloaded as soon as one real-time task waits that may \
                  move; here, as before, when two are queued and one of them may: the newer rule is \
                  overload_rule=pushable.",
        changes: "Who looks for a task that waits alone. Behind the fair server it waits by either rule, as \
                  pushes and pulls take it to be about to run: up to 51 ms in 5 to 7 of 22 audio loads, on 16 CPUs.",
        profiles: SINCE_6_12,
        source: "rt-class 1.6",
    },
    Limit {
        name: "old_stopper",
        effect: Effect::Small,
        missing: "The stopper threads migration/N of kernels up to 4.1: forced moves and active balancing \
                  happen in an interrupt, as when the published results were made (stopper=thread has them).",
        changes: "Two switches less for each such move; exec and changes of affinity do not wait for it.",
        profiles: OLD_PLACEMENT,
        source: "fair-placement 5.5",
    },
    Limit {
        name: "replay_costs",
        effect: Effect::Small,
        missing: "A replay takes from its recording how long it takes from a wakeup to a task that runs at \
                  once, and nothing else of what the machine costs: timers' lateness, switches, forks, \
                  pushes and fair preemptions cost what the machine file says.",
        changes: "Latencies of fair tasks that preempt others, and of pushed tasks. Under another kernel, a \
                  task that is preempted more often than recorded does not pay for the longer paths.",
        profiles: ALL,
        source: "docs/cli.md, what wakeups cost",
    },
    Limit {
        name: "pipes",
        effect: Effect::Small,
        missing: "Before 5.6 all that wait for a pipe, readers and writers, are woken at once, and before \
                  6.15 each read of a full pipe wakes a writer; here a page that is read lets one writer \
                  in, who lets in the next.",
        changes: "Switches and wakeups of tasks that share a pipe (hackbench -p): there are more. Not \
                  measured.",
        profiles: BEFORE_6_15,
        source: "fair-class 12.2",
    },
    Limit {
        name: "stable_fixes",
        effect: Effect::Small,
        missing: "Three mistakes of the release that stable branches corrected are corrected here as well. Who has \
                  slept for more than 104 days may be placed wrongly (until 6.1.22): that takes ten thousand \
                  million ticks. A task may be redirected to the CPU on which it runs, where groups of CPUs \
                  overlap (until 6.1.42). And an idle CPU that balances for all stops as soon as it is asked to \
                  reschedule (until 6.1.120); where it watches its flag (bare x86 machines, since 5.8) the \
                  request to balance is such a one, so that it may come to nothing. Failed searches raise \
                  their cost from 6.1.149 to 6.1.159, which no profile is (newidle_failure=raised does that).",
        changes: "Of the first two, nothing: no run lasts as long, and no groups overlap here. Of the third, how \
                  soon idle CPUs get what waits elsewhere; with a rule that stops so, none of 1500 random runs \
                  differed, as a CPU that is asked otherwise has a task. No recording of such a kernel tells \
                  how often a request comes to nothing: the guests of 6.1 halt, and are newer.",
        profiles: &["6.1", "6.1-rt", "5.15", "5.10"],
        source: "fair-placement 8.7",
    },
    Limit {
        name: "older_placement",
        effect: Effect::Small,
        missing: "Details of 4.4, 4.19 and 5.4: the load of queued tasks is what each had when it was last looked \
                  at, and no average of its own. The ways in which 4.14 to 4.16, run as 4.19, compare the waker's CPU \
                  and the last one, and whether those up to 4.20 count on a waker that exits to make room; the load \
                  tracking of 3.8 to 4.2, of which 4.2 is run as 4.4.",
        changes: "How soon balancing sees new load; schedlab explain 4.14 and 4.2 say what else differs. Not \
                  measured.",
        profiles: &["5.4", "4.19", "4.4"],
        source: "fair-placement 2.4, 8.5, U7, U8",
    },
    Limit {
        name: "interrupt_time",
        effect: Effect::Small,
        missing: "Under irq_accounting=on: time that the host of a virtual machine takes (steal), which some \
                  builds leave out of the CPU time of tasks as well, and the random stretches with interrupts \
                  off of a machine file while their CPU idles. Whether a recording's kernel was built so, the \
                  recording does not tell: it is replayed under irq_accounting=off, as Debian and RHEL build.",
        changes: "CPU time, slices and virtual time of tasks under many interrupts, and where balancing puts \
                  them: by the costs of the machine files a timer interrupt takes 1.1 us on laptop and 5.9 us on vm2, so 10 000 \
                  a second are 1 and 6 % of the CPU time of who is interrupted.",
        profiles: ALL,
        source: "fair-placement 1.5, 1.9",
    },
    Limit {
        name: "rare",
        effect: Effect::Small,
        missing: "The least distance at which a timer can be set (1 us on x86), signals, ptrace, CPU hotplug, \
                  core scheduling, pressure (PSI), yield_to, RLIMIT_RTTIME; and the \
                  push that follows up to 6.2 where a real-time task is woken that was preempted as it was about \
                  to sleep.",
        changes: "Programs that use them. Pressure is computed from waiting tasks and decides nothing: the waiting \
                  times that results have of each task tell what it would, but not per group, nor as averages of \
                  10 s and more.",
        profiles: ALL,
        source: "read in Linux 6.1.192; machine.md 5.1",
    },
];
