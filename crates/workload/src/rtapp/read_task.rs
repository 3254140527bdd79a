//! Tasks and phases.

use super::error::{Fault, RtAppError};
use super::json::{Member, Value};
use super::keys::{TaskKey, nearest_task_key, task_key};
use super::model::{
    CpuNumber, Cpus, Global, Phase, PolicyName, Repeat, Resources, Scheduling, Task, TaskGroup,
};
use super::note::NoteKind;
use super::read::{LARGEST, Reader};
use super::read_event::{EventContext, OwnTimers, event};
use crate::groups::Group;
use scheduler::fair::CUSTOM_SLICES;
use scheduler::{ClampRequest, DlParams, FULL_CAPACITY, Nanos, Nice, Policy, RtPriority};

/// rt-app's priority of real-time threads that name none.
const DEFAULT_RT_PRIORITY: i64 = 10;

const POLICIES: &str = "SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO, SCHED_RR, SCHED_DEADLINE";

pub(super) fn tasks(
    reader: &mut Reader,
    members: &[Member],
    global: &Global,
    resources: &mut Resources,
) -> Result<Vec<Task>, RtAppError> {
    let names: Vec<&str> = members.iter().map(Member::name).collect();
    members.iter().map(|member| task(reader, member, &names, global, resources)).collect()
}

/// The properties of a task or a phase, and its events.
#[derive(Default)]
struct Properties<'m> {
    instance: Option<&'m Member>,
    delay: Option<&'m Member>,
    repeat: Option<&'m Member>,
    phases: Option<&'m Member>,
    policy: Option<&'m Member>,
    priority: Option<&'m Member>,
    cpus: Option<&'m Member>,
    /// The control group, if the file names one.
    group: Option<&'m Member>,
    /// Parameters of SCHED_DEADLINE.
    deadline: Vec<&'m Member>,
    clamps: ClampRequest,
    /// Whether it binds memory: an event to rt-app, of which nothing is left here.
    binds_memory: bool,
    events: Vec<&'m Member>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Task,
    Phase,
}

fn properties<'m>(
    reader: &mut Reader,
    members: &'m [Member],
    level: Level,
) -> Result<Properties<'m>, RtAppError> {
    let mut found = Properties::default();
    for member in members {
        let what = task_key(&member.key);
        if let TaskKey::Event(_) = what {
            found.events.push(member);
            continue;
        }
        if member.renamed.is_some() {
            reader.note(NoteKind::PropertyTwice, member);
            continue;
        }
        let slot = match what {
            TaskKey::Instance | TaskKey::Delay | TaskKey::Phases if level == Level::Phase => {
                reader.note(NoteKind::Unknown, member);
                continue;
            }
            TaskKey::Instance => &mut found.instance,
            TaskKey::Delay => &mut found.delay,
            TaskKey::Loop => &mut found.repeat,
            TaskKey::Phases => &mut found.phases,
            TaskKey::Policy => &mut found.policy,
            TaskKey::Priority => &mut found.priority,
            TaskKey::Cpus => &mut found.cpus,
            TaskKey::DeadlineRuntime | TaskKey::DeadlinePeriod | TaskKey::Deadline => {
                reader.count(member, " µs")?;
                found.deadline.push(member);
                continue;
            }
            // rt-app's word for "where it is".
            TaskKey::TaskGroup if reader.text(member)?.is_empty() => {
                reader.note(NoteKind::NoUseHere, member);
                continue;
            }
            TaskKey::TaskGroup => &mut found.group,
            TaskKey::UtilMin | TaskKey::UtilMax => {
                let clamp = clamp(reader, member)?;
                match what {
                    TaskKey::UtilMin => found.clamps.min = clamp,
                    _ => found.clamps.max = clamp,
                }
                if !found.clamps.is_legal() {
                    return Err(reader.fault(&member.value.span, Fault::Clamps));
                }
                continue;
            }
            TaskKey::MemoryBinding => {
                reader.note(NoteKind::NotModelled, member);
                found.binds_memory = true;
                continue;
            }
            TaskKey::OldFormat => {
                return Err(reader.fault(&member.key_span, Fault::OldFormat { key: member.key.clone() }));
            }
            TaskKey::Event(_) | TaskKey::Unknown => {
                if let Some(nearest) = nearest_task_key(&member.key) {
                    let fault = Fault::UnknownKey { key: member.key.clone(), nearest };
                    return Err(reader.fault(&member.key_span, fault));
                }
                reader.note(NoteKind::Unknown, member);
                continue;
            }
        };
        *slot = Some(member);
    }
    Ok(found)
}

/// A clamp of utilisation; `None`: as it is.
fn clamp(reader: &Reader, member: &Member) -> Result<Option<u16>, RtAppError> {
    /// rt-app's word for that.
    const UNCHANGED: i64 = -1;
    let clamp = reader.integer(member, UNCHANGED, FULL_CAPACITY as i64, "")?;
    Ok((clamp != UNCHANGED).then_some(clamp as u16))
}

/// A control group: `/` is the root.
fn task_group(reader: &Reader, member: &Member) -> Result<TaskGroup, RtAppError> {
    let path = reader.text(member)?;
    if path == "/" {
        return Ok(TaskGroup::Root);
    }
    match Group::new(path) {
        Ok(group) => Ok(TaskGroup::Below(group.path().to_owned())),
        Err(problem) => Err(reader.fault(&member.value.span, Fault::Group { problem })),
    }
}

/// What the parameters of SCHED_DEADLINE mean under a policy.
#[derive(Clone, Copy, Default)]
struct Parameters {
    /// Of a deadline task.
    deadline: Option<DlParams>,
    /// The run time of a fair task: the slice that it asks for.
    slice: Option<Nanos>,
    clamps: ClampRequest,
}

/// Reads them; `whose` stands where a deadline task is to blame that has none. As rt-app does, a missing
/// period is as long as the run time, a missing deadline as the period.
fn deadline_parameters(
    reader: &mut Reader,
    policy: PolicyName,
    members: &[&Member],
    whose: &Member,
) -> Result<Parameters, RtAppError> {
    if policy == PolicyName::Deadline {
        let time = |key| members.iter().rfind(|member| task_key(&member.key) == key);
        let read = |key, default| time(key).map_or(Ok(default), |member| reader.micros(member));
        let runtime = read(TaskKey::DeadlineRuntime, Nanos::ZERO)?;
        let period = read(TaskKey::DeadlinePeriod, runtime)?;
        let deadline = read(TaskKey::Deadline, period)?;
        let blamed = members.last().map_or(&whose.key_span, |member| &member.value.span);
        let params = DlParams::new(runtime, deadline, period);
        let params = params.map_err(|why| reader.fault(blamed, Fault::Deadline { why }))?;
        return Ok(Parameters { deadline: Some(params), ..Parameters::default() });
    }
    let fair = matches!(policy, PolicyName::Other | PolicyName::Batch | PolicyName::Idle);
    let mut slice = None;
    for member in members {
        if fair && task_key(&member.key) == TaskKey::DeadlineRuntime {
            slice = Some(slice_of(reader, member)?);
            reader.note(NoteKind::FairSlice, member);
        } else {
            reader.note(NoteKind::DeadlineUnused, member);
        }
    }
    Ok(Parameters { slice, ..Parameters::default() })
}

/// A slice that the kernel would take as it is; zero: that of all.
fn slice_of(reader: &Reader, member: &Member) -> Result<Nanos, RtAppError> {
    if reader.micros(member)? == Nanos::ZERO {
        return Ok(Nanos::ZERO);
    }
    let [low, high] = [CUSTOM_SLICES.start(), CUSTOM_SLICES.end()].map(|limit| (limit.0 / 1_000) as i64);
    reader.integer(member, low, high, " µs").map(|us| Nanos::from_micros(us.unsigned_abs()))
}

fn task(
    reader: &mut Reader,
    member: &Member,
    names: &[&str],
    global: &Global,
    resources: &mut Resources,
) -> Result<Task, RtAppError> {
    let given = properties(reader, reader.object(member)?, Level::Task)?;
    let instances = given.instance.map_or(Ok(1), |m| reader.count(m, " threads"))? as u32;
    let delay = given.delay.map_or(Ok(Nanos::ZERO), |m| reader.micros(m))?;
    let policy = given.policy.map_or(Ok(global.default_policy), |m| policy_name(reader, m))?;
    let parameters = deadline_parameters(reader, policy, &given.deadline, member)?;
    let parameters = Parameters { clamps: given.clamps, ..parameters };
    let scheduling = scheduling(reader, policy, given.priority, parameters)?;
    let cpus = given.cpus.map(|m| cpus(reader, m)).transpose()?;
    let group = given.group.map(|m| task_group(reader, m)).transpose()?;
    let mut own_timers = OwnTimers::default();
    let mut context = EventContext {
        task: member.name(),
        instances,
        names,
        group: group.as_ref(),
        io_is_null: global.io_is_null,
        resources,
        own_timers: &mut own_timers,
    };
    let mut phases = Vec::new();
    let repeat;
    if let Some(phases_member) = given.phases {
        for ignored in &given.events {
            reader.note(NoteKind::BesidePhases, ignored);
        }
        repeat = given.repeat.map_or(Ok(Repeat::Forever), |m| loop_count(reader, m))?;
        // A phase that gives only a priority keeps the policy of what ran before it on the first pass: rt-app
        // remembers it from then on.
        let mut current = policy;
        for phase_member in reader.object(phases_member)? {
            phases.push(phase(reader, phase_member, &mut current, &mut context)?);
        }
    } else {
        // The events stand in the task itself. Its loop is then the phase's.
        let once = given.repeat.map(|m| loop_count(reader, m)).transpose()?;
        repeat = if once.is_some() { Repeat::Times(1) } else { Repeat::Forever };
        let events = events(reader, &given.events, &mut context)?;
        if !events.is_empty() || given.binds_memory {
            let repeat = once.unwrap_or(Repeat::Times(1));
            phases.push(Phase { repeat, scheduling: None, cpus: None, events });
        }
    }
    if phases.is_empty() {
        return Err(reader.fault(&member.key_span, Fault::NoEvents { name: member.name().to_owned() }));
    }
    Ok(Task {
        name: member.name().to_owned(),
        instances,
        delay,
        repeat,
        scheduling,
        cpus,
        group,
        phases,
        own_timers: own_timers.absolute,
    })
}

fn phase(
    reader: &mut Reader,
    member: &Member,
    current: &mut PolicyName,
    context: &mut EventContext<'_>,
) -> Result<Phase, RtAppError> {
    let given = properties(reader, reader.object(member)?, Level::Phase)?;
    let repeat = given.repeat.map_or(Ok(Repeat::Times(1)), |m| loop_count(reader, m))?;
    if let Some(policy) = given.policy {
        *current = policy_name(reader, policy)?;
    }
    // A phase that says nothing of the policy says nothing of its parameters either.
    let asks = given.policy.is_some() || !given.deadline.is_empty() || *current != PolicyName::Deadline;
    let parameters = match asks {
        true => deadline_parameters(reader, *current, &given.deadline, member)?,
        false => Parameters::default(),
    };
    let parameters = Parameters { clamps: given.clamps, ..parameters };
    let has_parameters = parameters.deadline.is_some()
        || parameters.slice.is_some()
        || parameters.clamps != ClampRequest::default();
    let changes = given.policy.is_some() || given.priority.is_some() || has_parameters;
    let scheduling = changes.then(|| scheduling(reader, *current, given.priority, parameters)).transpose()?;
    let cpus = given.cpus.map(|m| cpus(reader, m)).transpose()?;
    if let Some(moves) = given.group
        && context.group != Some(&task_group(reader, moves)?)
    {
        let (key, what) = (moves.key.clone(), "another control group than its task");
        return Err(reader.fault(&moves.key_span, Fault::NotModelled { key, what }));
    }
    let events = events(reader, &given.events, context)?;
    if events.is_empty() && !given.binds_memory {
        return Err(reader.fault(&member.key_span, Fault::NoEvents { name: member.name().to_owned() }));
    }
    Ok(Phase { repeat, scheduling, cpus, events })
}

fn events(
    reader: &mut Reader,
    members: &[&Member],
    context: &mut EventContext<'_>,
) -> Result<Vec<super::model::Event>, RtAppError> {
    members.iter().map(|member| event(reader, member, context)).collect()
}

/// -1 is for ever. 0 is refused: rt-app would skip such a task and never leave such a phase.
fn loop_count(reader: &Reader, member: &Member) -> Result<Repeat, RtAppError> {
    if matches!(member.value.value, Value::Integer(-1)) {
        return Ok(Repeat::Forever);
    }
    Ok(Repeat::Times(reader.integer(member, 1, LARGEST, ", or -1 for ever")?.unsigned_abs()))
}

pub(super) fn policy_name(reader: &Reader, member: &Member) -> Result<PolicyName, RtAppError> {
    Ok(match reader.text(member)? {
        "SCHED_OTHER" => PolicyName::Other,
        "SCHED_BATCH" => PolicyName::Batch,
        "SCHED_IDLE" => PolicyName::Idle,
        "SCHED_FIFO" => PolicyName::Fifo,
        "SCHED_RR" => PolicyName::Rr,
        "SCHED_DEADLINE" => PolicyName::Deadline,
        other => return Err(reader.unknown_word(member, other, POLICIES)),
    })
}

fn scheduling(
    reader: &mut Reader,
    policy: PolicyName,
    priority: Option<&Member>,
    parameters: Parameters,
) -> Result<Scheduling, RtAppError> {
    let Parameters { slice, clamps, .. } = parameters;
    let nice = |policy| {
        let value =
            priority.map_or(Ok(0), |m| reader.integer(m, -20, 19, " (a nice value under this policy)"))?;
        Ok(Scheduling { policy, nice: Nice::new(value as i8), slice, clamps })
    };
    let rt = |policy: fn(RtPriority) -> Policy| {
        let value = priority
            .map_or(Ok(DEFAULT_RT_PRIORITY), |m| reader.integer(m, 1, 99, " (a real-time priority)"))?;
        // In range, so there is one.
        let priority = RtPriority::new(value as u8);
        Ok(Scheduling { policy: priority.map_or(Policy::Normal, policy), nice: None, slice, clamps })
    };
    match policy {
        PolicyName::Other => nice(Policy::Normal),
        PolicyName::Batch => nice(Policy::Batch),
        PolicyName::Fifo => rt(Policy::Fifo),
        PolicyName::Rr => rt(Policy::Rr),
        PolicyName::Deadline => {
            // sched_setattr refuses it; rt-app hands it over all the same (deadline-groups A2).
            if let Some(member) = priority {
                reader.integer(member, 0, 0, " (SCHED_DEADLINE has no priorities)")?;
            }
            let policy = parameters.deadline.map_or(Policy::Normal, Policy::Deadline);
            Ok(Scheduling { policy, nice: None, slice, clamps })
        }
        PolicyName::Idle => {
            if let Some(member) = priority {
                reader.integer(member, -LARGEST, LARGEST, "")?;
                reader.note(NoteKind::IdlePriority, member);
            }
            Ok(Scheduling { policy: Policy::Idle, nice: None, slice, clamps })
        }
    }
}

fn cpus(reader: &Reader, member: &Member) -> Result<Cpus, RtAppError> {
    let Value::List(elements) = &member.value.value else {
        return Err(reader.wrong_type(member, "an array of CPU numbers such as [0, 2]"));
    };
    if elements.is_empty() {
        return Err(reader.fault(&member.value.span, Fault::NoCpus));
    }
    let number = |element: &super::json::Node| {
        let cpu = match element.value {
            Value::Integer(cpu) => u32::try_from(cpu).ok(),
            _ => {
                let (key, found) = (member.key.clone(), element.value.what());
                let fault = Fault::WrongType { key, expected: "CPU numbers", found };
                return Err(reader.fault(&element.span, fault));
            }
        };
        let Some(cpu) = cpu else {
            let value = if let Value::Integer(cpu) = element.value { cpu } else { 0 };
            let fault = Fault::OutOfRange { key: member.key.clone(), value, low: 0, high: LARGEST, unit: "" };
            return Err(reader.fault(&element.span, fault));
        };
        Ok(CpuNumber { cpu, span: element.span.clone() })
    };
    Ok(Cpus(elements.iter().map(number).collect::<Result<_, _>>()?))
}
