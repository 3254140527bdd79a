"""The classes of results, from docs/schema.json by tools/typed.py; not to be edited."""

from __future__ import annotations

from typing import Literal, Union

from ._record import KINDS, Record, Records


class RqLockStats(Record):
    """How a run-queue lock fared."""

    __slots__ = ()
    acquisitions: int
    """Times it was taken."""
    contended: int
    """Times that whoever took it had to wait."""
    wait_max_ns: int
    """Longest wait, nanoseconds."""
    wait_sum_ns: int
    """All waits together, nanoseconds."""
    waiters_holding_own_max: int
    """Most CPUs that waited at one time while each held the lock of its own run queue: whoever wants theirs waits,
    too."""
    waiters_max: int
    """Most CPUs that waited at one time."""


class CpuResult(Record):
    """Counters of one CPU."""

    __slots__ = ()
    _inner = {'rq_lock': 'RqLockStats'}
    cpu: int
    """CPU number."""
    idle_ns: int
    """Time in the idle task, nanoseconds."""
    ipis_received: int
    """Interrupts received from other CPUs (reschedule and push)."""
    ipis_sent: int
    """Interrupts sent to other CPUs (reschedule and push)."""
    nr_switches: int
    """Picks of a task other than the current one, the idle task included."""
    polled: int
    """Requests of other CPUs that this one noticed by itself while it idled, so that they sent no interrupt
    (sched_wake_idle_without_ipi)."""
    rq_lock: RqLockStats
    """The lock of this CPU's run queue."""


class Dump(Record):
    """A file as Linux shows it, of one moment of the run (fair-class 11)."""

    __slots__ = ()
    at_ns: int
    """The moment, nanoseconds of simulated time."""
    file: str
    """As it was asked for: `sched_debug@2s`."""
    text: str
    """Content of the file."""


class Engine(Record):
    """What ran, from which seed, for how long."""

    __slots__ = ()
    _optional = frozenset(['wall_ns'])
    events: int
    """Events that the engine processed."""
    seed: int
    """The seed of every random stream of the run."""
    simulated_ns: int
    """Simulated time, nanoseconds."""
    version: str
    """Version of schedlab."""
    wall_ns: int | None
    """Real time that the simulation took, nanoseconds; absent where there was no clock. The one field that differs
    between identical runs."""


class DeadlineText(Record):
    """Tasks of any load that are deadline tasks, because somebody says so."""

    __slots__ = ()
    _optional = frozenset(['reclaims'])
    deadline_ns: int
    """From the begin of a period to when it is to be done (`sched_deadline`), nanoseconds."""
    period_ns: int
    """The period (`sched_period`), nanoseconds."""
    reclaims: bool | None
    """Whether it also uses what others leave (SCHED_FLAG_RECLAIM)."""
    runtime_ns: int
    """Run time in each period (`sched_runtime`), nanoseconds."""
    task: str
    """A name, a pattern of names or a pid; the name is that with which a task begins."""


class GroupText(Record):
    """A task group of an experiment."""

    __slots__ = ()
    _optional = frozenset(['settings'])
    name: str
    """Its path below the root: `web`, `system.slice/db`. Groups above it that nobody describes are as the kernel
    makes them."""
    settings: list[str] | None
    """What is written into the files of its cgroup, one after the other, microseconds as there:
    `cpu.max:200000/100000`, `cpu.max.burst:50000`, `cpu.weight:300`, `cpu.weight.nice:-5`, `cpu.shares:2048`,
    `cpu.idle:1`; `cpu.rt_runtime_us:100000`, `cpu.rt_period_us:1000000`; `cpuset.cpus:2-3`,
    `cpuset.cpus.partition:isolated`."""


class MachineText(Record):
    """A machine."""

    __slots__ = ()
    _optional = frozenset(['content', 'cpus', 'name'])
    content: str | None
    """Content of the machine file. Without it the file of this name is read."""
    cpus: int | None
    """Number of CPUs; without it, it is the machine's own, or that of a recording on its own machine."""
    name: str | None
    """A machine that comes with the program, or a machine file. Without it, it is that which is described beside a
    recording among the loads, or else the default."""


class FileText(Record):
    """How a load is read from a file. What is left out has the default of `schedlab run`."""

    __slots__ = ()
    _inner = {'recorded_on': 'MachineText'}
    _optional = frozenset(['changes', 'dialect', 'groups', 'locks', 'recorded_on', 'wakeup_costs', 'xxh128'])
    changes: list[list[str]] | None
    """Changes of its tasks, if it is a recording: `policy=TASK=fifo:50`, and likewise `nice`, `affinity`, `scale`,
    `outside`, `until-end`, `until-done` and `without`. Each list is made at once, on top of those before it."""
    dialect: Literal["workgen", "rt-app"] | None
    """Which program would read it, if it is an rt-app file."""
    groups: Literal["recorded", "flat"] | None
    """Whether its tasks are in the task groups in which they were, if it is a recording."""
    locks: Literal["auto", "recorded", "inferred"] | None
    """What waits for locks are, if it is a recording."""
    recorded_on: MachineText | None
    """The machine on which it was recorded, if it is a recording; an empty one is that of the run. Without it
    nothing is known of that machine."""
    wakeup_costs: Literal["recorded", "machine"] | None
    """What decides how long it takes from a wakeup to the woken task, if it is a recording."""
    xxh128: str | None
    """XXH3 of the file's content, 128 bits in hexadecimal digits, as `xxh128sum` prints it: a file of another
    content is refused. Absent for what was read from a pipe, and where any content will do."""


class LoadText(Record):
    """A load of an experiment."""

    __slots__ = ()
    _inner = {'file': 'FileText'}
    _optional = frozenset(['file'])
    file: FileText | None
    """How the file is read; absent for a command line."""
    load: str
    """As a command line has it: that of the real tool (`cyclictest -t8 -p90`), or the name of a file."""


class MemberText(Record):
    """Tasks that are in a group, with all that they fork and no other member names."""

    __slots__ = ()
    group: str
    """Path of the group."""
    task: str
    """A name, a pattern of names or a pid; the name is that with which a task begins, in a recording any of its
    names."""


class RedrawText(Record):
    """Other random numbers from a moment of a run on."""

    __slots__ = ()
    at_ns: int
    """From when on, nanoseconds since the run began."""
    seed: int
    """Everything random derives from it from then on. What was drawn before holds."""


class KernelChange(Record):
    """One setting that was asked for on top of the profile."""

    __slots__ = ()
    at_ns: int
    """Simulated time at which it took effect, nanoseconds; 0 = before the run."""
    setting: str
    """The setting in Linux's syntax: `NO_RT_PUSH_IPI`, `sched_latency_ns=6000000`."""


class Stretch(Record):
    """A stretch of a run, in simulated time; of a replay, since the first event of the recording."""

    __slots__ = ()
    _optional = frozenset(['to_ns'])
    from_ns: int
    """Where it begins, nanoseconds."""
    to_ns: int | None
    """Where it ends, nanoseconds; without it, at the end of the run."""


class ExperimentText(Record):
    """Everything that decides about a run, as it can be written down: the same text and the same files give the
    same result. What is left out has the default of `schedlab run`."""

    __slots__ = ()
    _inner = {'deadlines': 'DeadlineText', 'groups': 'GroupText', 'loads': 'LoadText', 'machine': 'MachineText', 'members': 'MemberText', 'redraws': 'RedrawText', 'settings': 'KernelChange', 'stretch': 'Stretch'}
    _optional = frozenset(['autogroup', 'check', 'check_every', 'deadlines', 'dumps', 'duration_ns', 'groups', 'isolcpus', 'kernel', 'members', 'nohz_full', 'redraws', 'settings', 'stretch', 'tasks', 'why', 'without_fidelity'])
    autogroup: bool | None
    """Whether each load is a session with a group of its own (`sched_autogroup_enabled`), for tasks that are in no
    other group."""
    check: bool | None
    """Whether the scheduler's invariants are checked after every event."""
    check_every: int | None
    """Where they are checked, only those of a moment, after every so many events."""
    deadlines: Records[DeadlineText] | None
    """Tasks that are SCHED_DEADLINE ones, whatever load they are of; of several that mean a task the last
    counts."""
    dumps: list[str] | None
    """Files of Linux to show of moments of the run: `sched_debug@2s`, `schedstat@end`."""
    duration_ns: int | None
    """Simulated time, nanoseconds, above 0. Without it the run lasts as long as its loads."""
    groups: Records[GroupText] | None
    """Task groups; none: all tasks compete with each other."""
    isolcpus: str | None
    """CPUs in no sched domain (`isolcpus=`): `2-3`, `1,4-7`. Tasks get there by asking for them."""
    kernel: str | None
    """The kernel: a profile, a release or a distribution. Without one it is that of the first recording among the
    loads that says its own, or else the default."""
    loads: Records[LoadText]
    """What runs, all at the same time."""
    machine: MachineText
    """On what."""
    members: Records[MemberText] | None
    """Who is in them; of several that mean a task the last counts."""
    nohz_full: str | None
    """CPUs that stop their tick beside a single task (`nohz_full=`): `2-3`, `1,4-7`. Timers and kernel threads that
    need not be there are elsewhere."""
    redraws: Records[RedrawText] | None
    """Other seeds from moments of the run on, in the order in which they come: what `schedlab search` finds."""
    seed: int
    """Everything random derives from it."""
    settings: Records[KernelChange] | None
    """What is set on top of it or changes during the run, in the order in which it takes effect."""
    stretch: Stretch | None
    """The stretch of the run to tell of; without one it is all of it."""
    tasks: list[str] | None
    """The tasks to tell of, each a name, a pattern of names or a pid; empty: all."""
    why: bool | None
    """Whether it is summed up what latencies are due to."""
    without_fidelity: bool | None
    """Whether replays are *not* compared with their recordings."""


class CpuFrequency(Record):
    """How fast a CPU ran."""

    __slots__ = ()
    _optional = frozenset(['energy_uj'])
    busy_ns: int
    """Time that it was not idle, nanoseconds."""
    cpu: int
    """CPU number."""
    energy_uj: int | None
    """What it took, microjoules; absent where the machine file does not say what it takes."""
    mean_khz: int
    """Its mean frequency over that time, kHz; of one that was never busy, its last."""


class FrequencyResult(Record):
    """How fast CPUs ran, and what energy that took, of the whole run."""

    __slots__ = ()
    _inner = {'cpus': 'CpuFrequency'}
    _optional = frozenset(['energy_uj'])
    cpus: Records[CpuFrequency]
    """Every CPU that has several frequencies, by number."""
    energy_uj: int | None
    """Energy of all of them, microjoules, by the model of the machine file: a CPU takes what the file says of its
    frequency while it is busy, and nothing while it idles. Absent where the file does not say that."""
    origins: list[str]
    """Where the machine file has its frequencies, and what they take, from: `published: ...` or `assumed: ...`,
    each once."""


class GroupClamps(Record):
    """Clamps of the utilisation of a group's tasks."""

    __slots__ = ()
    max: int
    """`cpu.uclamp.max`, 0 to 1024."""
    min: int
    """`cpu.uclamp.min`, 0 to 1024."""


class GroupLimit(Record):
    """A limit of CPU time."""

    __slots__ = ()
    burst_ns: int
    """How much of what was not used may be used later (`cpu.max.burst`), nanoseconds."""
    period_ns: int
    """How often it is refilled, nanoseconds."""
    quota_ns: int
    """CPU time in each period, of all CPUs together, nanoseconds."""


class RtGroupLimit(Record):
    """A limit of real-time tasks."""

    __slots__ = ()
    _optional = frozenset(['runtime_ns'])
    period_ns: int
    """`cpu.rt_period_us`: how often it is given; nanoseconds."""
    runtime_ns: int | None
    """`cpu.rt_runtime_us`: CPU time of each CPU in each period, nanoseconds; absent: all of it (-1)."""


class GroupStat(Record):
    """`cpu.stat` of a group, of the whole run, with the names that it has there; times in nanoseconds. What a limit
    does is 0 without one."""

    __slots__ = ()
    burst_ns: int
    """CPU time above the quota in these periods (`burst_usec`)."""
    nr_bursts: int
    """Periods in which it used more than its quota."""
    nr_periods: int
    """Periods of its limit that passed while anybody in it ran or waited."""
    nr_rt_throttled: int
    """How often its real-time tasks had used up their time on a CPU (no kernel counts it)."""
    nr_throttled: int
    """Periods in which it was throttled."""
    rt_throttled_ns: int
    """How long they were throttled, summed over CPUs."""
    share_permille: int
    """Its part of what the group above it used, of a group at the top, of what all tasks of the loads used; in
    thousandths."""
    throttled_ns: int
    """How long its queues were throttled, summed over CPUs (`throttled_usec`)."""
    usage_ns: int
    """CPU time of its tasks and of the groups below it, whatever their class is (`usage_usec`)."""


class GroupResult(Record):
    """What a task group came to."""

    __slots__ = ()
    _inner = {'clamps': 'GroupClamps', 'max': 'GroupLimit', 'rt': 'RtGroupLimit', 'stat': 'GroupStat'}
    _optional = frozenset(['clamps', 'cpus', 'max', 'rt', 'weight'])
    clamps: GroupClamps | None
    """`cpu.uclamp.min` and `cpu.uclamp.max`; absent of a group that clamps nothing."""
    cpus: str | None
    """`cpuset.cpus`: `2-3`; absent of a group that may use those of the one above it."""
    max: GroupLimit | None
    """`cpu.max`; absent without a limit."""
    name: str
    """Its path below the root."""
    rt: RtGroupLimit | None
    """What its real-time tasks may use of each CPU; absent where the kernel has no groups of these
    (RT_GROUP_SCHED), and of sessions."""
    stat: GroupStat
    """What it used, and what its limit did."""
    weight: int | None
    """`cpu.weight`, 1 to 10000; absent of a group with `cpu.idle`, which weighs next to nothing."""


class IdleStateUse(Record):
    """How a CPU used a state, as /sys/devices/system/cpu/cpuN/cpuidle/stateN counts it."""

    __slots__ = ()
    above: int
    """Times that a shallower state would have been better: it was left before its target residency."""
    below: int
    """Times that a deeper state would have been better."""
    state: str
    """The state's name."""
    time_ns: int
    """Time in it, what it took to leave it included, nanoseconds."""
    usage: int
    """Times that it was entered."""


class CpuIdle(Record):
    """How a CPU used its idle states."""

    __slots__ = ()
    _inner = {'states': 'IdleStateUse'}
    cpu: int
    """CPU number."""
    states: Records[IdleStateUse]
    """Every state, from the shallowest to the deepest."""


class IdleResult(Record):
    """How CPUs used their idle states, in the run or in the stretch of it that the result tells of."""

    __slots__ = ()
    _inner = {'cpus': 'CpuIdle'}
    cpus: Records[CpuIdle]
    """Every CPU, by number."""
    governor: str
    """The governor that chose among them: `menu`."""
    origins: list[str]
    """Where the machine file has its states and its governor from: `published: ...` or `assumed: ...`, each
    once."""


class Kernel(Record):
    """The scheduler's configuration when the run began, complete: a profile's name alone would not repeat a run
    after the profile is corrected. Names are those of `schedlab list features`, `list rules` and `list
    tunables`."""

    __slots__ = ()
    _inner = {'changes': 'KernelChange'}
    _optional = frozenset(['asked', 'changes'])
    asked: str | None
    """What was asked for where that is no profile's name: a release, a distribution, the kernel of a recording.
    What is known to differ is in the notes."""
    changes: Records[KernelChange] | None
    """What differs from the profile or changed during the run, in order."""
    features: dict[str, bool]
    """Features by their kernel name (without `NO_`): on or off."""
    profile: str
    """Name of the kernel profile."""
    rules: dict[str, str]
    """Historical behaviours by name: the one chosen."""
    tunables: dict[str, int]
    """Tunables by their sysctl name, in the unit of that name; may be negative."""


class LateBy(Record):
    """How much of the latencies of the tasks of a command name is due to a cause, in a run."""

    __slots__ = ()
    due_to: str
    """The cause and the culprit in words."""
    times: int
    """How many stretches it has."""
    total_ns: int
    """How much of all latencies, nanoseconds."""
    victim: str
    """Who was late: a command name."""
    wakeups: int
    """How often the victims were woken, whatever they were late by."""


class MaxOverTime(Record):
    """Largest value of each interval of a run."""

    __slots__ = ()
    interval_ns: int
    """Length of an interval, nanoseconds. The first begins at time 0. 100 ms, longer in runs of more than 100 s."""
    max_ns: list[int]
    """Largest of each interval, nanoseconds; 0 where nothing came."""


class LatencySummary(Record):
    """A distribution of latencies in nanoseconds. All zero when there was no sample."""

    __slots__ = ()
    count: int
    """Number of samples."""
    max: int
    """Largest, exact."""
    mean: int
    """Arithmetic mean in whole nanoseconds; exact otherwise."""
    min: int
    """Smallest, exact."""
    p50: int
    """Median. Percentiles come from buckets (`Precision`): they may be high by up to 1/16, for wakeup latencies of
    tasks by up to 1/128, but never beyond `max`."""
    p90: int
    """90th percentile."""
    p99: int
    """99th percentile."""
    p999: int
    """99.9th percentile."""


class CyclictestThread(Record):
    """One measuring thread of cyclictest. Latency = time read after waking up, less the time the timer was set
    to."""

    __slots__ = ()
    _inner = {'latency_ns': 'LatencySummary'}
    _optional = frozenset(['latency_ns', 'overflow_cycles'])
    act_us: int
    """Last latency."""
    avg_us: int
    """Mean latency."""
    cycles: int
    """Completed cycles."""
    histogram: dict[str, int]
    """Count by latency in whole microseconds; buckets that are empty are left out."""
    interval_us: int
    """Interval, microseconds."""
    latency_ns: LatencySummary | None
    """The same latencies in nanoseconds, finer than the real tool tells."""
    max_us: int
    """Largest latency."""
    min_us: int
    """Smallest latency, whole microseconds (cut, not rounded, as the real tool does)."""
    overflow_cycles: list[int] | None
    """Numbers of the first cycles that fell beyond the last bucket."""
    overflows: int
    """Latencies beyond the last bucket."""
    pid: int
    """Task id."""
    prio: int
    """Real-time priority."""
    t: int
    """Number of the thread."""


class RtMigrateThread(Record):
    """One row of seed 000's table."""

    __slots__ = ()
    id: int
    """Number of the thread; the higher, the higher its priority."""
    iterations: int
    """Completed passes over all locks."""
    migrated: int
    """Migrations."""
    nonvol: int
    """Involuntary switches."""
    vol: int
    """Voluntary switches."""


class RtMigrateCounts(Record):
    """The last row of seed 000's table."""

    __slots__ = ()
    iterations: int
    """Completed passes over all locks."""
    migrated: int
    """Migrations."""
    nonvol: int
    """Involuntary switches."""
    vol: int
    """Voluntary switches."""


class ThreadResult(Record):
    """One thread of a load that goes in a loop, or of one of somebody's own. Its CPU time and switches stand in
    `tasks` under the same pid."""

    __slots__ = ()
    _inner = {'response_ns': 'LatencySummary'}
    _optional = frozenset(['deadline_misses', 'longest_lateness_ns', 'response_ns'])
    cycles: int
    """Completed cycles."""
    deadline_misses: int | None
    """Cycles that ended after their deadline; absent for a load without deadlines."""
    longest_lateness_ns: int | None
    """By how much the latest cycle ended after its deadline, nanoseconds; absent where `deadline_misses` is."""
    name: str
    """Command name."""
    pid: int
    """Task id."""
    response_ns: LatencySummary | None
    """From the release of a cycle to its end, nanoseconds; absent for a load without releases."""
    t: int
    """Number of the thread within the load."""


class OwnFigure(Record):
    """A figure of an `OwnResult`."""

    __slots__ = ()
    better: Literal["lower", "higher", "neutral"]
    """In which direction it improves."""
    name: str
    """Its name, for people and, with `_` for what is no letter or digit, in the key of its metric."""
    unit: Literal["count", "ns"]
    """Its unit."""
    value: int
    """Its value, in its unit."""


class RtappColumn(Record):
    """A column of the log, nanoseconds; all zero without a loop."""

    __slots__ = ()
    max: int
    """Largest."""
    mean: int
    """Mean, cut to whole nanoseconds."""
    min: int
    """Smallest."""


class RtappThread(Record):
    """One thread of an rt-app file. A loop is what makes a line of rt-app's log."""

    __slots__ = ()
    _inner = {'period_ns': 'RtappColumn', 'run_ns': 'RtappColumn', 'slack_ns': 'RtappColumn', 'wu_lat_ns': 'RtappColumn'}
    _optional = frozenset(['late', 'perf', 'pid', 'slack_ns', 'wu_lat_ns'])
    c_duration_ns: int
    """What the run events of all loops ask for, nanoseconds."""
    c_period_ns: int
    """What the timer events of all loops ask for, nanoseconds."""
    late: int | None
    """Loops with negative slack; absent without timers, as the next two."""
    loops: int
    """Completed loops."""
    name: str
    """Name of the task in the file, and the number of the thread."""
    perf: int | None
    """Work done, in thousands of calibration loops; absent where the file gives no number for `calibration`."""
    period_ns: RtappColumn
    """Time on the clock that a loop took."""
    pid: int | None
    """Task id; absent if it never ran."""
    run_ns: RtappColumn
    """Time on the clock that the run events of a loop took, preemptions included."""
    slack_ns: RtappColumn | None
    """Time left when the last timer of a loop was reached; negative if it was over."""
    t: int
    """Number of the thread within the load."""
    wu_lat_ns: RtappColumn | None
    """From the end of a timer to the thread's running on."""


class ReplayFinish(Record):
    """When what was recorded is done: the last exit among the recorded command and its descendants, and where the
    trace does not show a command, among all tasks that exit in the recording, kernel threads left out."""

    __slots__ = ()
    _optional = frozenset(['by_clock', 'comm', 'of_some_cpus', 'perhaps_by_clock', 'recorded_s', 'seconds'])
    by_clock: bool | None
    """Whether its tasks seem to end when the time is up, not when their work is done: then no replay tells when
    they would be done on another machine, and the verdict gives no answer."""
    comm: str | None
    """Name of the recorded command; absent where the trace shows none."""
    of_some_cpus: bool | None
    """Whether not all of the machine's CPUs were recorded: what its tasks did on the others is missing, and the
    verdict gives no answer."""
    perhaps_by_clock: bool | None
    """Whether its tasks end at one moment after equal work, so that the clock may end them as well as their work:
    the verdict gives no answer then, either."""
    recorded_s: float | None
    """The last exit in the recording, from its start; absent for a workload file."""
    seconds: float | None
    """The last exit in the replay, from the start of the recording; absent if some task had not exited when the run
    ended."""
    tasks: int
    """Tasks that exit."""


class LoadResultCyclictest(Record):
    """cyclictest of rt-tests."""

    __slots__ = ()
    _inner = {'max_over_time': 'MaxOverTime', 'threads': 'CyclictestThread'}
    _optional = frozenset(['histogram_us'])
    histogram_us: int | None
    """Number of one-microsecond buckets asked for with `-h`; absent without it. Buckets are 0 to this less one."""
    kind: Literal["cyclictest"]
    load: str
    """The load as it was given."""
    max_over_time: MaxOverTime
    """Largest latency of all threads in the course of the run."""
    threads: Records[CyclictestThread]
    """The measuring threads, by number."""


class LoadResultRtMigrate(Record):
    """rt-migrate, the program of seed 000."""

    __slots__ = ()
    _inner = {'threads': 'RtMigrateThread', 'total': 'RtMigrateCounts'}
    kind: Literal["rt_migrate"]
    load: str
    """The load as it was given."""
    threads: Records[RtMigrateThread]
    """The threads, by id."""
    total: RtMigrateCounts
    """Sums of the columns."""


class LoadResultHackbench(Record):
    """hackbench of rt-tests."""

    __slots__ = ()
    _optional = frozenset(['time_s'])
    data_size_bytes: int
    """Size of a message in bytes (`-s`)."""
    fds_per_group: int
    """File descriptors of each group, twice `-f`."""
    groups: int
    """Number of groups (`-g`)."""
    kind: Literal["hackbench"]
    load: str
    """The load as it was given."""
    loops: int
    """Messages that each sender passes (`-l`)."""
    mode: Literal["process", "thread"]
    """Whether the tasks are processes or threads."""
    tasks: int
    """Tasks of all groups together."""
    time_s: float | None
    """From the start signal to the end of the last task; absent when the run ended before."""


class LoadResultMake(Record):
    """`make -jN`."""

    __slots__ = ()
    _optional = frozenset(['seconds'])
    jobs: int
    """Jobs at one time (`-j`)."""
    kind: Literal["make"]
    load: str
    """The load as it was given."""
    objects: int
    """Objects that were built."""
    seconds: float | None
    """From start to the last object; absent when the run ended before all were built."""


class LoadResultHog(Record):
    """Endless loops."""

    __slots__ = ()
    _inner = {'threads': 'ThreadResult'}
    kind: Literal["hog"]
    load: str
    """The load as it was given."""
    threads: Records[ThreadResult]
    """The threads, in the order of the load."""


class LoadResultPeriodic(Record):
    """Periodic tasks."""

    __slots__ = ()
    _inner = {'threads': 'ThreadResult'}
    kind: Literal["periodic"]
    load: str
    """The load as it was given."""
    threads: Records[ThreadResult]
    """The threads, in the order of the load."""


class LoadResultWakeupLatency(Record):
    """wakeup-latency, the program of seed 003."""

    __slots__ = ()
    _inner = {'latency_ns': 'LatencySummary'}
    kind: Literal["wakeup_latency"]
    latency_ns: LatencySummary
    """From the intended time of an expiry to the clock read by its callback."""
    load: str
    """The load as it was given."""
    missed: int
    """Expiries that passed while the signal of an earlier one was pending."""
    mode: Literal["sigev_thread", "nanosleep"]
    """Who serves the expiries."""
    period_ns: int
    """Period of the timer, nanoseconds."""


class LoadResultForkStorm(Record):
    """A storm of forks beside hogs."""

    __slots__ = ()
    elapsed_ns: int
    """How long that took, nanoseconds."""
    finished: int
    """Jobs that came to their end."""
    forks: int
    """Processes, or threads, that the storm created."""
    hog_cpu_ns: int
    """CPU time of all hogs, nanoseconds."""
    hogs: int
    """Hogs beside the storm."""
    jobs: int
    """Jobs that may live at one time (`-j`)."""
    kind: Literal["fork_storm"]
    load: str
    """The load as it was given."""


class LoadResultKeyrepeat(Record):
    """A key held down in a terminal."""

    __slots__ = ()
    _inner = {'between_ns': 'LatencySummary', 'response_ns': 'LatencySummary'}
    between_ns: LatencySummary
    """Time between two drawings."""
    frames: int
    """Keys that were drawn."""
    kind: Literal["keyrepeat"]
    load: str
    """The load as it was given."""
    period_ns: int
    """Time between two keys, nanoseconds."""
    response_ns: LatencySummary
    """From a key to its drawing."""
    spread_ns: int
    """Standard deviation of these times, nanoseconds: 0 for a cursor that moves evenly."""
    stops: int
    """Times the cursor stood still for more than two periods."""


class LoadResultVmark(Record):
    """Chat rooms."""

    __slots__ = ()
    _optional = frozenset(['seconds'])
    kind: Literal["vmark"]
    load: str
    """The load as it was given."""
    received: int
    """Messages that clients received."""
    rooms: int
    """Chat rooms."""
    seconds: float | None
    """From the start signal to the last message; absent when the run ended before."""
    sent: int
    """Messages that clients sent."""
    users: int
    """Users of each room."""


class LoadResultOltp(Record):
    """sysbench's OLTP test."""

    __slots__ = ()
    _inner = {'latency_ns': 'LatencySummary'}
    all_requests: int
    """Answered requests of all kinds, those of the warm-up included."""
    clients: int
    """Connections."""
    counted_ns: int
    """Time of counting, nanoseconds."""
    db: Literal["pgsql", "mysql"]
    """Database server."""
    kind: Literal["oltp"]
    latency_ns: LatencySummary
    """From BEGIN to the answer of COMMIT."""
    load: str
    """The load as it was given."""
    others: int
    """Answered BEGINs and COMMITs."""
    reads: int
    """Answered reads."""
    transactions: int
    """Committed transactions."""
    warmup_ns: int
    """Time before counting, nanoseconds."""


class LoadResultOwn(Record):
    """A load of somebody who programs against the library."""

    __slots__ = ()
    _inner = {'figures': 'OwnFigure', 'threads': 'ThreadResult'}
    figures: Records[OwnFigure]
    """Its own figures, in the order in which they are shown."""
    kind: Literal["own"]
    load: str
    """The load as it was given."""
    name: str
    """What it is called in comparisons: one word."""
    threads: Records[ThreadResult]
    """Threads that it shows one by one; often none."""


class LoadResultRtapp(Record):
    """An rt-app file: the columns of rt-app's log, summed up over the loops of each thread."""

    __slots__ = ()
    _inner = {'threads': 'RtappThread'}
    kind: Literal["rtapp"]
    load: str
    """The load as it was given."""
    threads: Records[RtappThread]
    """The threads: those of the file in its order, then the forked ones."""


class LoadResultReplay(Record):
    """A recorded trace."""

    __slots__ = ()
    _inner = {'finish': 'ReplayFinish'}
    _optional = frozenset(['finish', 'seconds'])
    bursts: int
    """CPU bursts in the trace."""
    bursts_completed: int
    """Of these, how many were run to their end."""
    finish: ReplayFinish | None
    """When what was recorded is done; absent if nothing in the recording exits."""
    kind: Literal["replay"]
    load: str
    """The load as it was given: the trace's file name."""
    recorded_s: float
    """Length of the recording."""
    seconds: float | None
    """From the start to the end of the last burst of any task, kernel threads included; absent when the run ended
    before, or when some tasks could not go on (a note names them)."""
    tasks: int
    """Tasks that were replayed."""

LoadResult = Union[LoadResultCyclictest, LoadResultRtMigrate, LoadResultHackbench, LoadResultMake, LoadResultHog, LoadResultPeriodic, LoadResultWakeupLatency, LoadResultForkStorm, LoadResultKeyrepeat, LoadResultVmark, LoadResultOltp, LoadResultOwn, LoadResultRtapp, LoadResultReplay]


class RecordedPath(Record):
    """How long it took from wakeups of one kind to the switches to the woken tasks, where nothing came between the
    two. Kinds that the recording has ten times at least."""

    __slots__ = ()
    count: int
    """How many the recording has."""
    from_: str
    """The event from which it counts: `sched_wakeup`, or `sched_waking` where the recording has only that."""
    kind: str
    """Who woke, and what had to go: `interrupt-idle`, … `interrupt` or `task`: on the CPU of the woken task;
    `elsewhere`: another CPU, which queued the task; `handed-over`: another CPU, which left that to the task's
    (TTWU_QUEUE). `-idle`: the CPU was idle; `-lower`: it ran a task of lower rank than the woken real-time task."""
    p50_ns: int
    """The median."""
    p99_ns: int
    """The 99th percentile."""


class Machine(Record):
    """The simulated machine."""

    __slots__ = ()
    _inner = {'recorded_paths': 'RecordedPath'}
    _optional = frozenset(['recorded_paths'])
    cpus: int
    """Number of CPUs."""
    name: str
    """Name of the machine description."""
    recorded_paths: Records[RecordedPath] | None
    """How long it took from wakeups to the woken tasks on the recorded machine, by kind; the machine of the run
    takes as long where its own costs come to less. Empty where those alone decide."""


class PartitionResult(Record):
    """A part of a divided machine."""

    __slots__ = ()
    _optional = frozenset(['group'])
    cpus: str
    """Its CPUs: `0-1,4`."""
    group: str | None
    """Path of the group whose partition it is (`cpuset.cpus.partition`); absent of what those leave, and of
    `isolcpus`."""
    isolated: bool
    """Whether its CPUs are in no sched domain: nothing balances them."""


class Fidelity(Record):
    """One figure, as recorded and as simulated, in the unit of the field that holds it."""

    __slots__ = ()
    recorded: int
    """Read from the trace."""
    simulated: int
    """From the replay."""


class Reference(Record):
    """On what a replay is compared with its recording."""

    __slots__ = ()
    _inner = {'machine': 'Machine'}
    machine: Machine
    """The machine."""
    profile: str
    """Name of the kernel profile."""


class ReplayOrder(Record):
    """Context switches by the names of the two tasks: who follows whom on a CPU, the idle task included."""

    __slots__ = ()
    common: int
    """Those of either for which the other has one between the same two names."""
    recorded: int
    """In the recording."""
    simulated: int
    """In the replay."""


class ReplaySummary(Record):
    """All tasks of a replayed trace."""

    __slots__ = ()
    _inner = {'cpu_time_ns': 'Fidelity', 'nr_switches': 'Fidelity', 'nr_voluntary_switches': 'Fidelity', 'order': 'ReplayOrder', 'wakeup_latencies': 'Fidelity', 'wakeup_latency_max_ns': 'Fidelity', 'wakeup_latency_mean_ns': 'Fidelity', 'wakeup_latency_p99_ns': 'Fidelity', 'wakeups': 'Fidelity'}
    cpu_time_abs_error_ns: int
    """Sum of each task's distance in CPU time, nanoseconds: errors of two tasks do not cancel out here."""
    cpu_time_ns: Fidelity
    """CPU time of all tasks, nanoseconds."""
    cpu_time_uncertain_ns: int
    """By how much the recorded CPU times may be wrong in all, because switches were not recorded and the kernel
    does not tell them either, nanoseconds."""
    nr_switches: Fidelity
    """Context switches of all tasks."""
    nr_switches_abs_error: int
    """Sum of each task's distance in switches."""
    nr_voluntary_switches: Fidelity
    """Those to sleep, of all tasks."""
    order: ReplayOrder
    """Who follows whom."""
    tasks: int
    """Number of tasks."""
    wakeup_latencies: Fidelity
    """Those of which the switch to the task was recorded: the samples of the latencies."""
    wakeup_latency_max_ns: Fidelity
    """The longest wakeup latency, nanoseconds."""
    wakeup_latency_mean_abs_error_ns: int
    """Mean of each task's distance in its mean latency, as often as the recording has it, nanoseconds; 0 if it has
    none."""
    wakeup_latency_mean_ns: Fidelity
    """Mean wakeup latency over all wakeups, nanoseconds."""
    wakeup_latency_p99_ns: Fidelity
    """99th percentile over all wakeups, nanoseconds."""
    wakeups: Fidelity
    """Wakeups of all tasks."""


class ReplayTask(Record):
    """One task of a replayed trace."""

    __slots__ = ()
    _inner = {'cpu_time_ns': 'Fidelity', 'exited_ns': 'Fidelity', 'nr_involuntary_switches': 'Fidelity', 'nr_migrations': 'Fidelity', 'nr_switches': 'Fidelity', 'nr_voluntary_switches': 'Fidelity', 'wakeup_latencies': 'Fidelity', 'wakeup_latency_max_ns': 'Fidelity', 'wakeup_latency_mean_ns': 'Fidelity', 'wakeup_latency_p99_ns': 'Fidelity', 'wakeups': 'Fidelity'}
    _optional = frozenset(['exited_ns', 'of_command', 'poor'])
    comm: str
    """Recorded command name, the last one."""
    cpu_time_ns: Fidelity
    """CPU time, nanoseconds: on both sides what the kernel accounted (`sched_stat_runtime`), where the recording
    tells that, else the time between switches."""
    exited_ns: Fidelity | None
    """When it exited, nanoseconds from the start of the recording; absent if it did not on both sides."""
    nr_involuntary_switches: Fidelity
    """Those while runnable."""
    nr_migrations: Fidelity
    """Changes of CPU."""
    nr_switches: Fidelity
    """Context switches away from the task."""
    nr_voluntary_switches: Fidelity
    """Those to sleep."""
    of_command: bool | None
    """Whether it is the command that was recorded or one of its descendants, where the trace shows it."""
    pid: int
    """Recorded task id."""
    poor: list[Literal["cpu_time", "switches", "order", "latency", "finishing_time"]] | None
    """The questions for which the task's own figures are poor: `cpu_time`, `switches`, `latency`."""
    wakeup_latencies: Fidelity
    """Those of them of which the switch to the task was recorded: the samples of the latencies."""
    wakeup_latency_max_ns: Fidelity
    """The longest, nanoseconds."""
    wakeup_latency_mean_ns: Fidelity
    """Mean wakeup latency, nanoseconds."""
    wakeup_latency_p99_ns: Fidelity
    """99th percentile of the wakeup latency, nanoseconds."""
    wakeups: Fidelity
    """Wakeups of the task while it was off its CPU that made it run."""


class Answer(Record):
    """A grade, and the figures that decided."""

    __slots__ = ()
    _optional = frozenset(['uncertain_permille'])
    counted: int
    """How much the recording has of it: microseconds of CPU time, switches, wakeups, microseconds until all was
    done."""
    grade: Literal["good", "fair", "poor", "unknown"]
    """How far it may be trusted."""
    off_permille: int
    """Distance of the replay from the recording, in thousandths of the recorded figure."""
    uncertain_permille: int | None
    """By how much the recorded figure itself may be wrong, in thousandths: of `cpu_time` only. Absent where that is
    less than what a good answer may be off; else the grade is `fair` at best."""


class ReplayVerdict(Record):
    """How far a replay may be trusted. The limits of the grades stand in one file, `validation/bounds.toml`."""

    __slots__ = ()
    _inner = {'cpu_time': 'Answer', 'finishing_time': 'Answer', 'latency': 'Answer', 'order': 'Answer', 'switches': 'Answer'}
    cpu_time: Answer
    """CPU time, task by task."""
    finishing_time: Answer
    """When what was recorded is done; what had not finished when the run ended is off by all of it."""
    latency: Answer
    """Wakeup latency: its mean task by task, or its 99th percentile over all wakeups if that is further off."""
    order: Answer
    """Which task follows which on a CPU."""
    overall: Literal["good", "fair", "poor", "unknown"]
    """The worst grade of those that are known."""
    sentence: str
    """The verdict in one sentence."""
    switches: Answer
    """Context switches, task by task."""


class ReplayFidelity(Record):
    """A replay beside its recording, on the machine and profile it came from: how far a what-if on the trace may be
    trusted."""

    __slots__ = ()
    _inner = {'finish_ns': 'Fidelity', 'reference': 'Reference', 'summary': 'ReplaySummary', 'tasks': 'ReplayTask', 'verdict': 'ReplayVerdict'}
    _optional = frozenset(['finish_ns'])
    finish_ns: Fidelity | None
    """When what was recorded is done, nanoseconds from the start of the recording, as in `ReplayFinish`; absent if
    that is not known of both."""
    reference: Reference
    """What the replay ran on: the machine and the kernel of the recording, as far as they are known."""
    summary: ReplaySummary
    """All tasks together."""
    tasks: Records[ReplayTask]
    """The tasks of the trace."""
    trace: str
    """The trace's file name."""
    verdict: ReplayVerdict
    """How far a replay may be trusted."""


class DeadlineStat(Record):
    """Jobs and budgets of a deadline task. A job lasts from a wakeup to the next sleep or sched_yield(), or from
    when it was due if the one before took longer than that. Times in nanoseconds."""

    __slots__ = ()
    jobs: int
    """Jobs that were done."""
    longest_response_ns: int
    """The longest job. Its lateness is what this is above the deadline."""
    missed: int
    """Jobs that took longer than the deadline that the task had asked for."""
    replenishments: int
    """Budgets that it was given when it had used up one, or had given it back."""
    throttled_ns: int
    """How long it waited for that, asleep or not."""
    throttles: int
    """Times at which it had used up its run time and had to wait for its next period."""


class DeadlineResult(Record):
    """What a deadline task asked for, and what became of it."""

    __slots__ = ()
    _inner = {'stat': 'DeadlineStat'}
    _optional = frozenset(['reclaims'])
    deadline_ns: int
    """From the begin of a period to when it is to be done (`sched_deadline`), nanoseconds."""
    period_ns: int
    """The period (`sched_period`), nanoseconds."""
    reclaims: bool | None
    """Whether it also uses what others leave (SCHED_FLAG_RECLAIM)."""
    runtime_ns: int
    """Run time in each period (`sched_runtime`), nanoseconds."""
    stat: DeadlineStat
    """Its jobs and its budget."""


class ClassLatency(Record):
    """Number, sum and largest of latencies."""

    __slots__ = ()
    count: int
    """Number of wakeups."""
    max_ns: int
    """Largest, nanoseconds."""
    sum_ns: int
    """All latencies together, nanoseconds."""


class LatencyByClass(Record):
    """Wakeup latencies by the policy that the task had when the wait began."""

    __slots__ = ()
    _inner = {'fair': 'ClassLatency', 'realtime': 'ClassLatency'}
    fair: ClassLatency
    """With a policy of the fair class."""
    realtime: ClassLatency
    """With a real-time policy, or `SCHED_DEADLINE`."""


class TimeUnder(Record):
    """CPU time of a task under one policy and priority."""

    __slots__ = ()
    cpu_time_ns: int
    """CPU time, nanoseconds."""
    nice: int
    """Nice value -20..=19."""
    policy: Literal["SCHED_OTHER", "SCHED_FIFO", "SCHED_RR", "SCHED_BATCH", "SCHED_IDLE", "SCHED_DEADLINE"]
    """The policy."""
    rt_priority: int
    """Real-time priority 1..=99; 0 for fair policies."""


class TaskResult(Record):
    """Counters of one task, with the meaning that Linux gives them (rt-class 11.1, fair-class 11.1)."""

    __slots__ = ()
    _inner = {'deadline': 'DeadlineResult', 'latency_by_class': 'LatencyByClass', 'time_under': 'TimeUnder', 'wakeup_latency_ns': 'LatencySummary'}
    _optional = frozenset(['deadline', 'exited_ns', 'latency_by_class', 'of_command', 'time_under'])
    comm: str
    """Command name."""
    deadline: DeadlineResult | None
    """What became of its jobs and budgets, if it was a deadline task, with what it asked for last."""
    exited_ns: int | None
    """When it exited, nanoseconds from the start of the run, of a replayed task from the start of the recording;
    absent if it lived at the end."""
    iterations: int
    """Passes through the outermost loop of the task's program that were completed."""
    latency_by_class: LatencyByClass | None
    """The same apart, of a task that was both real-time and fair and woke as both; absent of others, whose
    latencies all belong to `policy`."""
    nice: int
    """Nice value -20..=19 that goes with it."""
    nr_involuntary_switches: int
    """Switches away while runnable: preempted, slice used up, yielded."""
    nr_migrations: int
    """Times the task was assigned a CPU other than its previous one (`se.nr_migrations`)."""
    nr_voluntary_switches: int
    """Switches away because the task blocked or ended."""
    of_command: bool | None
    """Whether it is the command that was recorded or one of its descendants, in the replay of a trace that shows
    it."""
    pid: int
    """Task id; for a replayed trace the recorded one."""
    policy: Literal["SCHED_OTHER", "SCHED_FIFO", "SCHED_RR", "SCHED_BATCH", "SCHED_IDLE", "SCHED_DEADLINE"]
    """Scheduling policy under which it used most of its CPU time; without CPU time, the last one."""
    rt_priority: int
    """User-visible real-time priority 1..=99 that goes with it; 0 for fair policies. Without inheritance."""
    sum_exec_runtime_ns: int
    """CPU time used, nanoseconds (`se.sum_exec_runtime`)."""
    time_under: Records[TimeUnder] | None
    """CPU time under every policy and priority that it had, in the order in which it first had them; empty if it
    never changed them."""
    wait_sum_ns: int
    """Time runnable but not running, nanoseconds (`wait_sum`)."""
    wakeup_latency_ns: LatencySummary
    """From wakeup to first running, nanoseconds. In a replay it counts from the event from which the recording's
    latencies do (`from` of a `RecordedPath`)."""


class Totals(Record):
    """Sums over the whole machine."""

    __slots__ = ()
    cache_refill_ns: int
    """CPU time that tasks spent on fetching what the caches had lost, nanoseconds."""
    context_switches: int
    """Context switches, those to and from idle included."""
    interrupts_ns: int
    """Time of all CPUs in interrupts, from entry to exit, nanoseconds; that of soft interrupts is not in it."""
    kernel_mutex_sleep_ns: int
    """Time that these waits took, from when the mutex was found taken, nanoseconds."""
    kernel_mutex_sleeps: int
    """Waits for mutexes of the kernel in which the task slept."""
    kernel_mutex_spin_ns: int
    """Time that these waits took, nanoseconds."""
    kernel_mutex_spins: int
    """Waits for mutexes of the kernel (of pipes) that were over while the task spun."""
    lock_holder_preemptions: int
    """Running tasks that lost their CPU while they held a mutex or a user-space spinlock."""
    migrations: int
    """Assignments of a task to another CPU."""
    polled: int
    """Requests that idle CPUs noticed by themselves, so that no interrupt was sent (polling, MWAIT)."""
    pulls: int
    """Tasks moved by a pull of the real-time class."""
    push_ipis: int
    """Push interrupts sent (`RT_PUSH_IPI`)."""
    push_ipis_in_flight_by_source_max: int
    """Most push interrupts that were under way at one time on behalf of one CPU that lowered its priority."""
    push_ipis_in_flight_max: int
    """Most push interrupts that were under way at one time."""
    pushes: int
    """Tasks moved by a push of the real-time class."""
    rt_search_ns: int
    """Time that these searches took."""
    rt_searches: int
    """Searches for the CPU of lowest real-time priority."""
    rwsem_sleep_ns: int
    """Time that these waits took, from when the semaphore was found taken, nanoseconds."""
    rwsem_sleeps: int
    """Waits for semaphores of the kernel in which the task slept."""
    rwsem_spin_ns: int
    """Time that these waits took, nanoseconds."""
    rwsem_spins: int
    """Waits for semaphores of the kernel (of mappings and address spaces) that were over while a task spun."""
    spinlock_sleeps: int
    """Sleeps in the back-off of user-space spinlocks."""
    wakeup_preemptions: int
    """Running tasks that a wakeup preempted."""
    wakeups: int
    """Wakeups that made a sleeping task runnable, new tasks included."""


class Window(Record):
    """A stretch of a run, in simulated time; of a replay, since the first event of the recording."""

    __slots__ = ()
    from_ns: int
    """Where it begins, nanoseconds."""
    to_ns: int
    """Where it ends, nanoseconds."""


class RunResult(Record):
    """The result of one run, from `schedlab run --format json`."""

    __slots__ = ()
    _inner = {'cpus': 'CpuResult', 'dumps': 'Dump', 'engine': 'Engine', 'experiment': 'ExperimentText', 'frequency': 'FrequencyResult', 'groups': 'GroupResult', 'idle': 'IdleResult', 'kernel': 'Kernel', 'late_by': 'LateBy', 'loads': 'LoadResult', 'machine': 'Machine', 'partitions': 'PartitionResult', 'replay': 'ReplayFidelity', 'tasks': 'TaskResult', 'totals': 'Totals', 'window': 'Window'}
    _optional = frozenset(['command', 'dumps', 'experiment', 'frequency', 'groups', 'idle', 'late_by', 'partitions', 'replay', 'warnings', 'window'])
    command: str | None
    """The command line that made this result, where there was one."""
    cpus: Records[CpuResult]
    """Every CPU, by number."""
    decisions: dict[str, int]
    """How often the scheduler decided something for this reason, by the reason's name; `schedlab list decisions`
    says what each means."""
    dumps: Records[Dump] | None
    """Files as Linux shows them under /proc, of moments of the run (`--dump`), in the order asked for."""
    engine: Engine
    """What ran, from which seed, for how long."""
    experiment: ExperimentText | None
    """What was asked for, so that it can be run again: `schedlab run RESULT.json`. Absent where that cannot be
    written down: a load or a machine of whoever programs against the library."""
    frequency: FrequencyResult | None
    """How fast CPUs ran that have several frequencies, and what that took, of the whole run; absent where none
    has."""
    groups: Records[GroupResult] | None
    """Every task group, those above others before them, of the whole run; absent where there is none."""
    idle: IdleResult | None
    """How CPUs used the idle states of the machine, over the whole run; absent where its file has none."""
    kernel: Kernel
    """The scheduler's configuration."""
    late_by: Records[LateBy] | None
    """What the latencies of tasks are due to (`--why`): by command name, the causes that take most first."""
    loads: Records[LoadResult]
    """What the loads themselves report, in the order in which they were given."""
    machine: Machine
    """The simulated machine."""
    notes: list[str]
    """What else a reader must know before trusting the figures. One sentence each."""
    partitions: Records[PartitionResult] | None
    """The parts of a divided machine: each has a root domain of its own, and tasks do not go from one to another by
    themselves. Absent where it is in one piece."""
    replay: Records[ReplayFidelity] | None
    """For each replayed trace, how close the replay came to the recording. Absent when none was replayed on the
    machine and profile it was recorded on."""
    schema: Literal["schedlab/1"]
    """Always `"schedlab/1"`; anything else is refused on reading."""
    tasks: Records[TaskResult]
    """Every task that the loads created, of a window those that lived in it, by pid."""
    totals: Totals
    """Sums over the whole machine."""
    warnings: list[str] | None
    """Why figures may mean something else than a reader expects, for the whole result, said before all of it:
    another kernel's fair class, SCHED_DEADLINE tasks, switches missing in a recording. One sentence each."""
    window: Window | None
    """The stretch of the run (`--from`, `--to`) to which tasks, CPUs, totals, decisions and the comparison with a
    recording are limited. Absent where they are those of all of it, as what the loads report always is."""


class Configuration(Record):
    """One configuration."""

    __slots__ = ()
    _inner = {'experiment': 'ExperimentText', 'kernel': 'Kernel', 'machine': 'Machine'}
    _optional = frozenset(['experiment'])
    experiment: ExperimentText | None
    """Its first run, as in the result of a run."""
    kernel: Kernel
    """Its scheduler."""
    loads: list[str]
    """Its loads as they were given: those of the base unless it says otherwise."""
    machine: Machine
    """Its machine."""
    name: str
    """What to call it."""


class Method(Record):
    """How intervals and verdicts were found.  Every seed is run under each configuration with the same random
    streams, so each seed gives one difference. Their mean has a Student's t interval below eight seeds and a BCa
    bootstrap interval (2000 resamples from a fixed stream) from eight on. p-values are Student's t on the
    differences. Differences closer together than the metric's `resolution` are given the spread of rounding,
    `resolution`/√6; a difference that is the same for every seed and larger than that explains is called changed,
    without an interval."""

    __slots__ = ()
    confidence: float
    """The share of intervals that hold the true value."""
    false_discovery_rate: float
    """The expected share of chance among the figures called changed (Benjamini-Hochberg)."""
    interval: Literal["none", "student-t", "bca-bootstrap"]
    """How the intervals were found."""


class Interval(Record):
    """A range that holds the true value with the `confidence`."""

    __slots__ = ()
    high: float
    """Upper end."""
    low: float
    """Lower end."""


class Metric(Record):
    """A figure that every run of a load has."""

    __slots__ = ()
    better: Literal["lower", "higher", "neutral"]
    """In which direction it improves."""
    headline: bool
    """Whether a change in it is worth a sentence."""
    key: str
    """Name for programs, unique within a run: `cyclictest.worst_latency`, `tasks.cc1.wait`."""
    label: str
    """Name for people."""
    resolution: int
    """The smallest step that the figure can show, in its unit."""
    unit: Literal["count", "ns"]
    """Its unit."""


class MetricComparison(Record):
    """One figure under the base and under a variant."""

    __slots__ = ()
    _inner = {'interval': 'Interval', 'metric': 'Metric'}
    _optional = frozenset(['interval', 'of_command', 'p_value', 'poor', 'replay_error', 'times', 'times_plus_minus'])
    base: float
    """Mean under the base."""
    difference: float
    """Mean of variant less base, seed by seed."""
    interval: Interval | None
    """95 % interval of the difference; absent for one seed, and where the difference is the same under every seed:
    no spread shows then, and how far the model is off does not either."""
    metric: Metric
    """Which figure."""
    of_command: bool | None
    """Whether it is about the recorded command or its descendants."""
    p_value: float | None
    """How often chance alone would give such a difference; absent for one seed and for exact differences."""
    pairs: int
    """Seeds for which both have the figure."""
    poor: bool | None
    """Whether the replay is too far from the recording in this figure, or its verdict on these tasks is poor in
    this question."""
    rank: int
    """Its place in the order of figures."""
    replay_error: float | None
    """What the base's own figure lacks of the truth, in the metric's unit, negative where it is too large: it is
    taken to be off by the factor by which its replays were off on the recorded machine, in the mean over the seeds.
    Absent where no recording has the figure."""
    times: float | None
    """The larger mean over the smaller, at least 1; absent when one of them is 0."""
    times_plus_minus: float | None
    """Half the width of the 95 % interval of `times`; absent for one seed, and where no seed makes a difference to
    it."""
    variant: float
    """Mean under the variant."""
    verdict: Literal["changed", "untested", "not_significant", "identical"]
    """Whether it changed."""


class VariantComparison(Record):
    """A variant beside the base."""

    __slots__ = ()
    _inner = {'configuration': 'Configuration', 'metrics': 'MetricComparison'}
    _optional = frozenset(['same_as_base'])
    configuration: Configuration
    """The variant."""
    exact: bool
    """True when several seeds gave the same figures under both configurations: the load draws nothing at random.
    The differences are those of the model, which may be wrong."""
    metrics: Records[MetricComparison]
    """Every figure that both have: those that changed first, the largest relative change first; then untested ones
    likewise; then the rest in the order of the figures."""
    only_in_base: list[str]
    """Keys of figures that only the base has, for any seed."""
    only_in_variant: list[str]
    """Keys of figures that only the variant has, for any seed."""
    same_as_base: bool | None
    """True when it is the base under another name: the same loads, machine and settings."""


class Comparison(Record):
    """The answer of a comparison, from `schedlab compare --format json`. All numbers that are not counted are
    rounded to nine digits, so that the JSON is the same on every machine."""

    __slots__ = ()
    _inner = {'base': 'Configuration', 'method': 'Method', 'replay': 'ReplayFidelity', 'variants': 'VariantComparison', 'window': 'Window'}
    _optional = frozenset(['command', 'replay', 'warnings', 'window'])
    base: Configuration
    """What the variants are compared with."""
    command: str | None
    """The command line that made this, where there was one."""
    loads: list[str]
    """The loads of the base as they were given."""
    method: Method
    """How intervals and verdicts were found."""
    notes: list[str]
    """The notes of these runs, likewise."""
    replay: Records[ReplayFidelity] | None
    """How close the base's first run came to each replayed trace; empty when the base is not what the trace was
    recorded on."""
    schema: Literal["schedlab-compare/1"]
    """Always `"schedlab-compare/1"`."""
    seeds: list[int]
    """The seeds, ascending; every configuration was run with each."""
    simulated_ns: int
    """Simulated time of the base's first run, nanoseconds."""
    variants: Records[VariantComparison]
    """One for each variant, in the order given."""
    version: str
    """Version of schedlab."""
    warnings: list[str] | None
    """Why figures may mean something else than a reader expects: warnings of the first run of each configuration;
    those that the base does not have begin with the name of the variant."""
    window: Window | None
    """The stretch of each run (`--from`, `--to`) to which the figures are limited, as it was in the base's first
    run. What the loads report is of a whole run and left out then."""


class InspectCpu(Record):
    """One CPU of a trace."""

    __slots__ = ()
    busy_ns: int
    """Time in other tasks."""
    cpu: int
    """The CPU."""
    idle_ns: int
    """Time in the idle task."""
    switches: int
    """Switches on it."""
    unknown_ns: int
    """The rest: nothing was recorded that tells who ran."""


class InspectBucket(Record):
    """Durations from one power of two up to the next."""

    __slots__ = ()
    count: int
    """How many there are."""
    from_ns: int
    """The shortest that can be in it."""
    to_ns: int
    """The shortest that is too long for it."""


class InspectDurations(Record):
    """How durations are distributed."""

    __slots__ = ()
    _inner = {'buckets': 'InspectBucket'}
    buckets: Records[InspectBucket]
    """By powers of two, the shortest first, empty ones in between included."""
    count: int
    """How many there are."""
    max_ns: int
    """The longest; 0 without durations."""
    mean_ns: int
    """Arithmetic mean; 0 without durations."""


class InspectGap(Record):
    """Events that the recorder could not keep."""

    __slots__ = ()
    _optional = frozenset(['lost'])
    before_ns: int
    """Time of the first event after the gap."""
    cpu: int
    """The CPU."""
    lost: int | None
    """How many are missing, where the recorder knows."""


class InspectGroup(Record):
    """A task group of a trace."""

    __slots__ = ()
    _inner = {'max': 'GroupLimit', 'rt': 'RtGroupLimit'}
    _optional = frozenset(['rt'])
    idle: bool
    """Whether it is a `cpu.idle` group."""
    max: GroupLimit
    """Its limit (`cpu.max`, `cpu.max.burst`)."""
    path: str
    """Its path below the root; `autogroup-7` is a session."""
    processes: int
    """Processes that were in it, not in a group below."""
    rt: RtGroupLimit | None
    """What its real-time tasks might use (`cpu.rt_runtime_us`, `cpu.rt_period_us`); absent: nothing."""
    weight: int
    """Its weight, as `cpu.weight` counts it, if it is not the usual 100; `null` also of a `cpu.idle` group."""


class InspectTask(Record):
    """A row of it."""

    __slots__ = ()
    _optional = frozenset(['of_command'])
    comm: str
    """Name; empty if nothing names it."""
    delay_max_end_ns: int
    """When it ended."""
    delay_max_ns: int
    """Longest delay."""
    delay_max_start_ns: int
    """When the longest began, on the trace's clock; 0 if no delay was longer than 0."""
    delay_mean_ns: int
    """Mean delay, rounded down."""
    of_command: bool | None
    """Whether it is the command that was recorded or one of its descendants, where the trace shows it."""
    pid: int
    """Thread id."""
    runtime_ns: int
    """Time on a CPU."""
    switches: int
    """How often it came to run after a delay."""


class InspectLatency(Record):
    """The table of `perf sched latency -p`."""

    __slots__ = ()
    _inner = {'rows': 'InspectTask'}
    context_switch_bugs: int
    """How often a CPU switched away from a task that had not come to it."""
    delays_from: str
    """Which wakeups begin a delay: `wakeup`, as perf 6.1 does, or `waking`."""
    rows: Records[InspectTask]
    """The tasks that waited at least once, in perf's order: the longest mean delay first."""
    runtime_from: str
    """Events from which run times were taken: `sched_stat_runtime`, as perf does, or `sched_switch` in a trace
    without that event."""
    runtime_ns: int
    """Run time of all tasks."""
    switches: int
    """Switches of all tasks."""
    wakeups: int
    """Wakeups that began a delay."""


class InspectNote(Record):
    """A kind of trouble."""

    __slots__ = ()
    count: int
    """How often."""
    name: str
    """Its stable name."""
    severity: str
    """`info`, `data loss` or `error`."""
    text: str
    """What it means, where it was first, and its particulars there."""


class InspectCommand(Record):
    """A command that was recorded."""

    __slots__ = ()
    tgid: int
    """Its process."""
    words: str
    """Its words, with blanks between."""


class InspectResult(Record):
    """What is in a trace, from `schedlab inspect --format json`. Times are those of the recording, on its own
    clock."""

    __slots__ = ()
    _inner = {'cpus': 'InspectCpu', 'delays': 'InspectDurations', 'gaps': 'InspectGap', 'groups': 'InspectGroup', 'latency': 'InspectLatency', 'notes': 'InspectNote', 'recorded_command': 'InspectCommand', 'stays': 'InspectDurations'}
    _optional = frozenset(['clock', 'command', 'groups', 'host', 'idle_polls', 'kernel', 'recorded_command', 'tool'])
    clock: str | None
    """Name of the trace clock."""
    command: str | None
    """The command line that made this result, where there was one."""
    cpus: Records[InspectCpu]
    """Every CPU, by number."""
    delays: InspectDurations
    """Distribution of the delays of that table."""
    duration_ns: int
    """From that to the last such event."""
    events: dict[str, int]
    """Events by name."""
    format: str
    """Its format in words."""
    gaps: Records[InspectGap]
    """Where the recorder lost events."""
    groups: Records[InspectGroup] | None
    """Task groups, as far as the recorder, or the run, wrote them down; by path."""
    host: dict[str, str] | None
    """The machine and its kernel as they were set up (`hz`, `preempt`, `features`, `smt`, `governor`, sysctls, …),
    as far as the recorder wrote it down."""
    idle_polls: bool | None
    """Whether idle CPUs looked for work all the time, if the recorder wrote it down. Whether the others halt or
    wait with mwait is not told."""
    kernel: str | None
    """The kernel that recorded it, as in `uname`."""
    latency: InspectLatency
    """The table of `perf sched latency`."""
    left_out: dict[str, int]
    """Events that are neither about scheduling nor about what ends a wait, by name: counted, not read."""
    notes: Records[InspectNote]
    """What could not be used, and what to know before trusting the rest, the gravest first."""
    recorded_command: InspectCommand | None
    """The command that the recorder ran, if it wrote it down."""
    resolution_ns: int
    """Times are multiples of this."""
    schema: Literal["schedlab-inspect/1"]
    """Always `"schedlab-inspect/1"`."""
    start_ns: int
    """Time of the first event that schedules, on the trace's clock; interrupts, timers and their like do not
    count."""
    stays: InspectDurations
    """How long tasks stayed on a CPU between two switches."""
    tasks: int
    """Tasks that events mention, the idle task left out."""
    tasks_told: int
    """Tasks whose policy and affinity the recorder wrote down, also those without events."""
    tool: str | None
    """The recording program and its version."""
    trace: str
    """The file as it was given."""
    version: str
    """Version of schedlab."""


class CommandTotals(Record):
    """What needs no statistics of the tasks of one name in one recording."""

    __slots__ = ()
    cpu_share: float
    """The same per nanosecond of recording."""
    cpu_time_ns: int
    """Their time on a CPU."""
    latencies: int
    """How many wakeup latencies were recorded."""
    latency_max_ns: int
    """The longest; 0 without any."""
    tasks: int
    """How many tasks have the name."""


class CommandOfBoth(Record):
    """Tasks of one name in both recordings."""

    __slots__ = ()
    _inner = {'first': 'CommandTotals', 'second': 'CommandTotals'}
    _optional = frozenset(['of_command'])
    comm: str
    """The name."""
    first: CommandTotals
    """In the first recording."""
    of_command: bool | None
    """Whether the recorded command, or one of its descendants, has it in one of the two."""
    second: CommandTotals
    """In the second."""


class FigureDifference(Record):
    """One figure in both recordings."""

    __slots__ = ()
    _inner = {'interval': 'Interval'}
    _optional = frozenset(['comm', 'interval', 'p_value'])
    comm: str | None
    """Whose it is; absent for the whole machine."""
    difference: float
    """The second less the first."""
    figure: Literal["cpu_time", "cpu_use", "idle", "switches", "voluntary_switches", "involuntary_switches", "migrations", "wakeups", "latency_mean", "latency_p50", "latency_p99"]
    """Which figure."""
    first_value: float
    """In the first recording."""
    interval: Interval | None
    """95 % interval of the difference; absent where there are too few latencies."""
    p_value: float | None
    """How often chance alone would give such a difference; absent likewise."""
    second_value: float
    """In the second."""
    verdict: Literal["changed", "untested", "not_significant", "identical"]
    """Whether it changed."""


class RecordingHead(Record):
    """What a recording is."""

    __slots__ = ()
    _optional = frozenset(['kernel'])
    duration_ns: int
    """From the first event to the last."""
    format: str
    """Its format in words."""
    kernel: str | None
    """The kernel that recorded it, as in `uname`."""
    latency_max_ns: int
    """The longest wakeup latency, from the wakeup of a task to its next run; 0 without any."""
    lost: int
    """Events that the recorder lost, as far as it knows."""
    n_cpus: int
    """CPUs of the machine."""
    tasks: int
    """Tasks that events mention, the idle task left out."""
    trace: str
    """The file as it was given."""


class RecordingsComparison(Record):
    """Two recordings side by side, from `schedlab inspect TRACE OTHER --format json`."""

    __slots__ = ()
    _inner = {'commands': 'CommandOfBoth', 'figures': 'FigureDifference', 'first': 'RecordingHead', 'method': 'Method', 'second': 'RecordingHead'}
    _optional = frozenset(['command'])
    command: str | None
    """The command line that made this, where there was one."""
    commands: Records[CommandOfBoth]
    """Command names that both have: those of the recorded command first, then the most CPU time first."""
    figures: Records[FigureDifference]
    """Figures that both have: those that changed first, the largest relative change first; then untested ones
    likewise; then the rest."""
    first: RecordingHead
    """The first recording."""
    method: Method
    """How intervals and verdicts were found."""
    notes: list[str]
    """What to know before trusting the rest."""
    only_in_first: list[str]
    """Command names of the first recording only."""
    only_in_second: list[str]
    """Command names of the second recording only."""
    schema: Literal["schedlab-inspect-compare/1"]
    """Always `"schedlab-inspect-compare/1"`."""
    second: RecordingHead
    """The second."""
    version: str
    """Version of schedlab."""
    windows: int
    """Into how many equal windows each was cut; their rates are the samples of a rate."""


class SweepAxis(Record):
    """Something that is varied."""

    __slots__ = ()
    name: str
    """`kernel`, `cpus`, `machine`, `settings`, or the name of a parameter."""
    values: list[str]
    """Its values, in the order of the file."""


class SweepMetric(Record):
    """What a figure is. (How finely it can be told depends on its value, so that no one resolution holds for all
    runs.)"""

    __slots__ = ()
    better: Literal["lower", "higher", "neutral"]
    """In which direction it improves."""
    key: str
    """Name for programs: `cyclictest.worst_latency`, `tasks.cc1.wait`."""
    label: str
    """Name for people."""
    unit: Literal["count", "ns"]
    """Its unit."""


class SweepFigure(Record):
    """A figure of a combination of values."""

    __slots__ = ()
    key: str
    """Key of its metric."""
    max: int
    """The largest."""
    mean: float
    """Mean of these, in the unit of the metric, rounded to nine digits."""
    min: int
    """The smallest."""
    runs: int
    """Number of runs that have it."""


class SweepPoint(Record):
    """A combination of values."""

    __slots__ = ()
    _inner = {'figures': 'SweepFigure'}
    _optional = frozenset(['error'])
    error: str | None
    """Why the first of those failed."""
    failed: int
    """How many of them failed."""
    figures: Records[SweepFigure]
    """The figures that any of its runs has, in the order of `metrics`."""
    runs: int
    """Number of its runs, one for each seed."""
    values: list[str]
    """The value of each axis."""


class SweepResult(Record):
    """What a sweep comes to, from `schedlab sweep --format json`: the figures of each combination of values over
    the seeds. Every run is a row of `results.parquet` in its folder."""

    __slots__ = ()
    _inner = {'axes': 'SweepAxis', 'metrics': 'SweepMetric', 'points': 'SweepPoint'}
    _optional = frozenset(['command', 'title', 'verdicts'])
    axes: Records[SweepAxis]
    """What was varied, in the order of the file."""
    command: str | None
    """The command line that made this, where there was one."""
    failed: int
    """How many of them failed."""
    loads: list[str]
    """The loads, with the places of their parameters."""
    metrics: Records[SweepMetric]
    """The figures that are summed up."""
    points: Records[SweepPoint]
    """Every combination of values, that of the last axis varying fastest."""
    runs: int
    """Number of runs: combinations times seeds."""
    schema: Literal["schedlab-sweep/1"]
    """Always `"schedlab-sweep/1"`."""
    seeds: list[int]
    """The seeds with which each combination of values was run."""
    title: str | None
    """What the file calls it."""
    verdicts: list[str] | None
    """How far the replays may be trusted, if recordings are among the loads: a sentence for each, of its replay as
    it was recorded."""
    version: str
    """Version of schedlab."""


class TuneFigure(Record):
    """A figure under the base and with settings."""

    __slots__ = ()
    _inner = {'interval': 'Interval'}
    _optional = frozenset(['interval'])
    base: float
    """Mean under the base, in the metric's unit."""
    difference: float
    """Mean of the differences, seed by seed."""
    interval: Interval | None
    """95 % interval of the difference; absent where the difference is the same under every seed."""
    with_: float
    """Mean with the settings."""


class TuneHeld(Record):
    """Whether a constraint holds."""

    __slots__ = ()
    _inner = {'figure': 'TuneFigure'}
    bound: float
    """The most, or the least, that the figure may be: the mean over the seeds, in the metric's unit."""
    figure: TuneFigure
    """Its figure."""
    state: Literal["met", "open", "broken"]
    """Whether it holds."""


class TuneTrial(Record):
    """Some settings against the base."""

    __slots__ = ()
    _inner = {'constraints': 'TuneHeld', 'goal': 'TuneFigure'}
    _optional = frozenset(['error', 'goal', 'p_value'])
    constraints: Records[TuneHeld]
    """Whether each constraint holds, in their order; empty where nothing was run."""
    effect: Literal["helps", "harms", "not_told", "inert", "failed"]
    """What these settings do to the goal."""
    error: str | None
    """Why it could not be run."""
    goal: TuneFigure | None
    """The figure of the goal, where both have it under every seed."""
    p_value: float | None
    """How often chance alone would give such a difference in the goal; absent where there is none to judge."""
    seeds: list[int]
    """The seeds with which both were run, ascending."""
    settings: list[str]
    """The settings."""


class TuneConstraint(Record):
    """What has to hold besides."""

    __slots__ = ()
    _inner = {'metric': 'Metric'}
    metric: Metric
    """The figure that it is about."""
    text: str
    """As it was given: `hackbench time < 1.05 x base`."""


class TuneGoal(Record):
    """What is to become better."""

    __slots__ = ()
    _inner = {'metric': 'Metric'}
    direction: Literal["minimize", "maximize"]
    """Where to."""
    metric: Metric
    """The figure that it means."""
    text: str
    """As it was given: `p99(cyclictest)`."""


class TuneStep(Record):
    """How to set one thing on a real machine."""

    __slots__ = ()
    _optional = frozenset(['note'])
    commands: list[str]
    """Lines for a root shell; empty where no running kernel can be told."""
    note: str | None
    """What to know of it."""
    setting: str
    """The setting."""


class TuneKnob(Record):
    """Something that may be set."""

    __slots__ = ()
    name: str
    """Its name."""
    values: list[str]
    """Its values, without that of the base."""


class TuneRound(Record):
    """Combinations that were run with the same seeds."""

    __slots__ = ()
    _inner = {'trials': 'TuneTrial'}
    seeds: int
    """Number of seeds."""
    trials: Records[TuneTrial]
    """The combinations, the best first."""


class TuneResult(Record):
    """Which settings serve a load best, from `schedlab tune --format json`. All numbers that are not counted are
    rounded to nine digits."""

    __slots__ = ()
    _inner = {'base': 'Configuration', 'comparison': 'Comparison', 'confirmed': 'TuneTrial', 'constraints': 'TuneConstraint', 'goal': 'TuneGoal', 'how_to': 'TuneStep', 'knobs': 'TuneKnob', 'rounds': 'TuneRound', 'screen': 'TuneTrial'}
    _optional = frozenset(['command', 'comparison', 'confirmed', 'notes'])
    base: Configuration
    """What everything is compared with: its first run."""
    chosen: list[str]
    """What to set, as words of `schedlab compare --with`, or as the command line of a load in place of another;
    empty where nothing helps."""
    command: str | None
    """The command line that made this, where there was one."""
    comparison: Comparison | None
    """The same, figure by figure: what it costs elsewhere."""
    confirmed: TuneTrial | None
    """The chosen ones against the base, over seeds that nothing was chosen by; absent where nothing was."""
    constraints: Records[TuneConstraint]
    """What has to hold besides."""
    goal: TuneGoal
    """What is to become better."""
    how_to: Records[TuneStep]
    """How to set it on a machine with this kernel."""
    knobs: Records[TuneKnob]
    """What may be set."""
    notes: list[str] | None
    """What a reader should know besides."""
    rounds: Records[TuneRound]
    """Combinations of the values that helped, round by round; each with more seeds than the one before, and with
    the better half of its combinations."""
    runs: int
    """Number of runs that were made."""
    schema: Literal["schedlab-tune/1"]
    """Always `"schedlab-tune/1"`."""
    screen: Records[TuneTrial]
    """Each value of each knob alone, against the base, over the first seeds."""
    trust: list[str]
    """What the model's own error makes of the answer, in sentences."""
    verdict: Literal["found", "nothing_helps", "breaks_constraints", "not_confirmed"]
    """What came of it."""
    version: str
    """Version of schedlab."""


class SearchRecord(Record):
    """A run that went beyond all before it."""

    __slots__ = ()
    redraws: int
    """How often random numbers were drawn anew in the course of it."""
    run: int
    """Its number, from 1 on."""
    value: int
    """Its figure, in the metric's unit."""


class SearchResult(Record):
    """The run that is worst in a figure, of those that were searched, from `schedlab search --format json`."""

    __slots__ = ()
    _inner = {'experiment': 'ExperimentText', 'metric': 'Metric', 'reached': 'SearchRecord', 'records': 'SearchRecord'}
    _optional = frozenset(['command', 'reached'])
    command: str | None
    """The command line that made this, where there was one."""
    direction: Literal["minimize", "maximize"]
    """Where it was to go."""
    experiment: ExperimentText
    """The worst run, which `schedlab run` repeats from a file of its own."""
    failed: int
    """Number of those that failed."""
    goal: str
    """The figure as it was given: `max(cyclictest/0)`."""
    loads: list[str]
    """The loads as they were given."""
    method: Literal["guided", "random"]
    """How runs were chosen."""
    metric: Metric
    """The figure that it means."""
    reached: SearchRecord | None
    """The figure of the first run that reached the wanted value, and of which number it was; absent where none was
    wanted, or none did."""
    records: Records[SearchRecord]
    """Each run that went beyond all before it, in their order; the last is the worst."""
    runs: int
    """Number of runs that were made."""
    schema: Literal["schedlab-search/1"]
    """Always `"schedlab-search/1"`."""
    stopped: bool
    """Whether somebody stopped it after so many. A search of that many runs finds the same."""
    version: str
    """Version of schedlab."""


class LimitDetails(Record):
    """What the entry of a limit says besides what is not modelled."""

    __slots__ = ()
    changes: str
    """Which figures change, and how much where it was measured."""
    effect: str
    """How much it can change: `large`, `medium` or `small`."""
    profiles: list[str]
    """Profiles that are approximate in it."""


class Entry(Record):
    """One line of a list."""

    __slots__ = ()
    _inner = {'limit': 'LimitDetails'}
    _optional = frozenset(['limit'])
    limit: LimitDetails | None
    """Of a limit: what it changes, and where."""
    meaning: str
    """What it is, in a sentence; of a limit, what is not modelled."""
    name: str
    """Its name, as options take it; empty for a line that has none."""


class Section(Record):
    """A part of an explanation."""

    __slots__ = ()
    _inner = {'entries': 'Entry'}
    entries: Records[Entry]
    """The lines."""
    title: str
    """What its lines are."""


class ExplainResult(Record):
    """All that is known about one name, from `schedlab explain NAME --format json`."""

    __slots__ = ()
    _inner = {'sections': 'Section'}
    _optional = frozenset(['source'])
    kind: str
    """What kind of thing it is."""
    meaning: str
    """What it is, in a sentence."""
    name: str
    """Its name."""
    schema: Literal["schedlab-explain/1"]
    """Always `"schedlab-explain/1"`."""
    sections: Records[Section]
    """Values, options, figures: whatever it has."""
    source: str | None
    """Where it comes from, if not from here."""
    version: str
    """Version of schedlab."""

KINDS["RqLockStats"] = RqLockStats
KINDS["CpuResult"] = CpuResult
KINDS["Dump"] = Dump
KINDS["Engine"] = Engine
KINDS["DeadlineText"] = DeadlineText
KINDS["GroupText"] = GroupText
KINDS["MachineText"] = MachineText
KINDS["FileText"] = FileText
KINDS["LoadText"] = LoadText
KINDS["MemberText"] = MemberText
KINDS["RedrawText"] = RedrawText
KINDS["KernelChange"] = KernelChange
KINDS["Stretch"] = Stretch
KINDS["ExperimentText"] = ExperimentText
KINDS["CpuFrequency"] = CpuFrequency
KINDS["FrequencyResult"] = FrequencyResult
KINDS["GroupClamps"] = GroupClamps
KINDS["GroupLimit"] = GroupLimit
KINDS["RtGroupLimit"] = RtGroupLimit
KINDS["GroupStat"] = GroupStat
KINDS["GroupResult"] = GroupResult
KINDS["IdleStateUse"] = IdleStateUse
KINDS["CpuIdle"] = CpuIdle
KINDS["IdleResult"] = IdleResult
KINDS["Kernel"] = Kernel
KINDS["LateBy"] = LateBy
KINDS["MaxOverTime"] = MaxOverTime
KINDS["LatencySummary"] = LatencySummary
KINDS["CyclictestThread"] = CyclictestThread
KINDS["RtMigrateThread"] = RtMigrateThread
KINDS["RtMigrateCounts"] = RtMigrateCounts
KINDS["ThreadResult"] = ThreadResult
KINDS["OwnFigure"] = OwnFigure
KINDS["RtappColumn"] = RtappColumn
KINDS["RtappThread"] = RtappThread
KINDS["ReplayFinish"] = ReplayFinish
KINDS["LoadResult"] = {"cyclictest": LoadResultCyclictest, "rt_migrate": LoadResultRtMigrate, "hackbench": LoadResultHackbench, "make": LoadResultMake, "hog": LoadResultHog, "periodic": LoadResultPeriodic, "wakeup_latency": LoadResultWakeupLatency, "fork_storm": LoadResultForkStorm, "keyrepeat": LoadResultKeyrepeat, "vmark": LoadResultVmark, "oltp": LoadResultOltp, "own": LoadResultOwn, "rtapp": LoadResultRtapp, "replay": LoadResultReplay}
KINDS["RecordedPath"] = RecordedPath
KINDS["Machine"] = Machine
KINDS["PartitionResult"] = PartitionResult
KINDS["Fidelity"] = Fidelity
KINDS["Reference"] = Reference
KINDS["ReplayOrder"] = ReplayOrder
KINDS["ReplaySummary"] = ReplaySummary
KINDS["ReplayTask"] = ReplayTask
KINDS["Answer"] = Answer
KINDS["ReplayVerdict"] = ReplayVerdict
KINDS["ReplayFidelity"] = ReplayFidelity
KINDS["DeadlineStat"] = DeadlineStat
KINDS["DeadlineResult"] = DeadlineResult
KINDS["ClassLatency"] = ClassLatency
KINDS["LatencyByClass"] = LatencyByClass
KINDS["TimeUnder"] = TimeUnder
KINDS["TaskResult"] = TaskResult
KINDS["Totals"] = Totals
KINDS["Window"] = Window
KINDS["RunResult"] = RunResult
KINDS["Configuration"] = Configuration
KINDS["Method"] = Method
KINDS["Interval"] = Interval
KINDS["Metric"] = Metric
KINDS["MetricComparison"] = MetricComparison
KINDS["VariantComparison"] = VariantComparison
KINDS["Comparison"] = Comparison
KINDS["InspectCpu"] = InspectCpu
KINDS["InspectBucket"] = InspectBucket
KINDS["InspectDurations"] = InspectDurations
KINDS["InspectGap"] = InspectGap
KINDS["InspectGroup"] = InspectGroup
KINDS["InspectTask"] = InspectTask
KINDS["InspectLatency"] = InspectLatency
KINDS["InspectNote"] = InspectNote
KINDS["InspectCommand"] = InspectCommand
KINDS["InspectResult"] = InspectResult
KINDS["CommandTotals"] = CommandTotals
KINDS["CommandOfBoth"] = CommandOfBoth
KINDS["FigureDifference"] = FigureDifference
KINDS["RecordingHead"] = RecordingHead
KINDS["RecordingsComparison"] = RecordingsComparison
KINDS["SweepAxis"] = SweepAxis
KINDS["SweepMetric"] = SweepMetric
KINDS["SweepFigure"] = SweepFigure
KINDS["SweepPoint"] = SweepPoint
KINDS["SweepResult"] = SweepResult
KINDS["TuneFigure"] = TuneFigure
KINDS["TuneHeld"] = TuneHeld
KINDS["TuneTrial"] = TuneTrial
KINDS["TuneConstraint"] = TuneConstraint
KINDS["TuneGoal"] = TuneGoal
KINDS["TuneStep"] = TuneStep
KINDS["TuneKnob"] = TuneKnob
KINDS["TuneRound"] = TuneRound
KINDS["TuneResult"] = TuneResult
KINDS["SearchRecord"] = SearchRecord
KINDS["SearchResult"] = SearchResult
KINDS["LimitDetails"] = LimitDetails
KINDS["Entry"] = Entry
KINDS["Section"] = Section
KINDS["ExplainResult"] = ExplainResult
