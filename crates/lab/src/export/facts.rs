//! What a run knows and no event tells, as `schedlab record` writes it down of a real machine: a replay of
//! the trace then guesses nothing.

use super::Programs;
use machine::{GroupOutcome, Outcome, PartitionKind};
use scheduler::{Clamps, CpuMask, GroupId, Nanos, Policy};
use trace::{
    Activity, CgroupCpu, Context, CpuQuota, CpuRtRuntime, Cpuset, Event, EventKind, Events, HostNote,
    IdleKind, NeedResched, Pid, TaskFacts, TaskGroup, TaskNote, TaskPolicy, Trace, UtilClamps,
};
use workload::{Decided, told_at_start};

/// What a group weighs of which nobody says anything.
const DEFAULT_SHARES: u64 = 1024;

/// The tasks' policies and affinities at the end of a run, its task groups, and what its idle CPUs did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Facts {
    /// Every task, by pid.
    pub tasks: Vec<TaskNote>,
    /// Who was in which task group, what the groups get, and which CPUs are taken from everybody.
    pub groups: Vec<HostNote>,
    /// What idle CPUs did.
    pub idle: IdleKind,
    /// What the trace tells of the programs beforehand.
    told: Vec<String>,
}

impl Facts {
    /// Of a run, and of what a load decided about its kernel and machine.
    pub(crate) fn of(outcome: &Outcome, decided: Decided<'_>) -> Facts {
        let online = CpuMask::first_n(outcome.cpus.len());
        let tasks = outcome.tasks.iter().filter(|task| task.pid.0 > 0).map(|task| TaskNote {
            pid: Pid(task.pid.0),
            comm: task.comm.to_string(),
            facts: TaskFacts {
                // The machine knows no processes of several threads.
                tgid: Pid(task.pid.0),
                policy: policy(task.policy),
                cpus: task.cpus.and(&online).to_string(),
            },
        });
        let idle = if outcome.idle_polls { IdleKind::Polls } else { IdleKind::Halts };
        let told = told_at_start(outcome, decided);
        let groups = isolated(outcome).into_iter().chain(groups(outcome)).collect();
        Facts { tasks: tasks.collect(), groups, idle, told }
    }

    /// Events at the time of the first one, by the idle task of its CPU: markers for what a recorder would
    /// note, and events of our own for what only a run can tell. Nothing is put before no event. Each task is
    /// named as the process that it is.
    pub(super) fn put_before(&self, trace: &mut Trace, programs: Programs) {
        for note in &self.tasks {
            if let Some(thread) = trace.threads.get_mut(&note.pid) {
                thread.tgid = Some(note.facts.tgid);
            }
        }
        let Some(first) = trace.events.first() else { return };
        let (time_ns, cpu) = (first.time_ns, first.cpu);
        let tasks = self.tasks.iter().map(ToString::to_string);
        let told = if programs == Programs::Told { &self.told[..] } else { &[] };
        let mut kinds = Vec::new();
        let groups = self.groups.iter().map(ToString::to_string);
        for text in tasks.chain(groups).chain([self.idle.to_string()]) {
            kinds.push(EventKind::Marker(trace.strings.intern(&text)));
        }
        for text in told {
            kinds.push(EventKind::Activity(Activity::SchedlabProgram(trace.strings.intern(text))));
        }
        let mut events = Events::new();
        for kind in kinds {
            let (context, need_resched) = (Context::Task, NeedResched::Unknown);
            events.push(Event { time_ns, cpu, pid: Pid::IDLE, context, need_resched, kind });
        }
        events.extend(std::mem::take(&mut trace.events));
        trace.events = events;
    }
}

/// The CPUs that the kernel's command line takes from everybody, as a recorder finds them in sysfs.
fn isolated(outcome: &Outcome) -> Vec<HostNote> {
    let named = [("isolated", outcome.isolcpus), ("nohz_full", outcome.nohz_full)];
    let taken = named.into_iter().filter(|(_, cpus)| !cpus.is_empty());
    taken.map(|(name, cpus)| HostNote::Fact { name: name.to_owned(), value: cpus.to_string() }).collect()
}

/// The groups of a run, and of every task that is in one. The version of the files with shares is told, so
/// that weights are exact.
fn groups(outcome: &Outcome) -> Vec<HostNote> {
    let path = |name: &str| format!("/{name}");
    let gets = outcome.groups.iter().map(|GroupOutcome { spec, rt, .. }| HostNote::Cgroup {
        path: path(&spec.name),
        cpu: CgroupCpu {
            quota: spec
                .quota
                .map(|quota| CpuQuota { quota_us: quota.quota.0 / 1_000, period_us: quota.period.0 / 1_000 }),
            weight: None,
            shares: Some(spec.shares).filter(|shares| *shares != DEFAULT_SHARES),
            burst_us: spec.quota.map(|quota| quota.burst.0 / 1_000).filter(|burst| *burst > 0),
            idle: spec.idle,
            rt: rt.map(|rt| rt.limit).map(|limit| {
                let us = |time: Nanos| time.0 / 1_000;
                let runtime_us = limit.runtime.map_or(-1, |runtime| us(runtime) as i64);
                CpuRtRuntime { runtime_us, period_us: us(limit.period) }
            }),
            clamps: Some(spec.clamps)
                .filter(|clamps| *clamps != Clamps::NONE)
                .map(|Clamps { min, max }| UtilClamps { min, max }),
        },
    });
    let cpuset = |GroupOutcome { spec, .. }: &GroupOutcome| {
        let cpus = spec.cpus?.to_string();
        let partition = match spec.partition {
            PartitionKind::Member => "member",
            PartitionKind::Root => "root",
            PartitionKind::Isolated => "isolated",
        };
        let cpuset = Cpuset { cpus, partition: partition.to_owned() };
        Some(HostNote::Cpuset { path: path(&spec.name), cpuset })
    };
    let cpusets = outcome.groups.iter().filter_map(cpuset);
    // Task groups count from the root, which is none of these.
    let of = |group: GroupId| Some(path(&outcome.groups.get(group.index().checked_sub(1)?)?.spec.name));
    let members = outcome.tasks.iter().filter_map(|task| {
        let group = TaskGroup { autogroup: None, cgroup: of(task.group)? };
        Some(HostNote::Group { tgid: Pid(task.pid.0), group })
    });
    gets.chain(cpusets).chain(members).collect()
}

fn policy(policy: Policy) -> TaskPolicy {
    match policy {
        Policy::Normal => TaskPolicy::Other,
        Policy::Batch => TaskPolicy::Batch,
        Policy::Idle => TaskPolicy::Idle,
        Policy::Fifo(_) => TaskPolicy::Fifo,
        Policy::Rr(_) => TaskPolicy::Rr,
        Policy::Deadline(_) => TaskPolicy::Deadline,
    }
}
