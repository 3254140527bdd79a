//! How a task began, as text.

use super::step::read_policy;
use super::time;
use crate::units;
use machine::{TaskStart, policy_text};
use scheduler::{CpuId, Nice, Pid};

pub(super) fn text(start: &TaskStart) -> String {
    let TaskStart {
        pid,
        at,
        cpu,
        comm,
        policy: of,
        nice,
        cpus,
        working_set_bytes,
        reads_bytes_per_us,
        timer_slack,
        recorded_work,
        kernel_thread,
    } = start;
    let at = at.map_or_else(|| "fork".to_owned(), |at| at.0.to_string());
    let on = cpu.map(|cpu| format!(" on={cpu}")).unwrap_or_default();
    let cpus = cpus.map_or_else(|| "all".to_owned(), |cpus| cpus.to_string());
    let reads = if *reads_bytes_per_us > 0 { format!("{READS}{reads_bytes_per_us}") } else { String::new() };
    let work = if *recorded_work { RECORDED_WORK } else { "" };
    let thread = if *kernel_thread { KERNEL_THREAD } else { "" };
    format!(
        "pid={} start={at}{on} policy={} nice={} cpus={cpus} working-set={working_set_bytes} \
         timer-slack={}{reads}{work}{thread} comm={}",
        pid.0,
        policy_text(*of),
        nice.get(),
        timer_slack.0,
        comm.replace('\n', " ")
    )
}

/// Behind the facts of a task that reads from memory.
const READS: &str = " reads=";

/// Behind the facts of a task whose work comes from a recording.
const RECORDED_WORK: &str = " work=recorded";

/// Behind those of a thread of the kernel.
const KERNEL_THREAD: &str = " thread=kernel";

/// As much as a machine file may give a CPU.
pub(crate) const MOST_READS: u32 = 1_000_000;

/// No cache is as large, and what its refill costs is a time far from the end of the clock.
pub(crate) const LARGEST_WORKING_SET: u64 = 1 << 40;

pub(super) fn read(text: &str) -> Option<TaskStart> {
    let (facts, comm) = text.split_once(" comm=")?;
    let (facts, kernel_thread) = match facts.strip_suffix(KERNEL_THREAD) {
        Some(facts) => (facts, true),
        None => (facts, false),
    };
    let (facts, recorded_work) = match facts.strip_suffix(RECORDED_WORK) {
        Some(facts) => (facts, true),
        None => (facts, false),
    };
    let (facts, reads_bytes_per_us) = match facts.split_once(READS) {
        Some((facts, reads)) => (facts, reads.parse().ok().filter(|reads| *reads <= MOST_READS)?),
        None => (facts, 0),
    };
    let mut words = facts.split(' ').peekable();
    let pid = words.next()?.strip_prefix("pid=")?.parse().ok().filter(|pid| *pid > 0)?;
    let at = match words.next()?.strip_prefix("start=")? {
        "fork" => None,
        at => Some(time(at)?),
    };
    let on = words.next_if(|word| word.starts_with("on="));
    let cpu = match on.and_then(|on| on.strip_prefix("on=")) {
        Some(number) => Some(CpuId(number.parse().ok().filter(|n| usize::from(*n) < CpuId::LIMIT)?)),
        None => None,
    };
    let mut value = |key: &str| words.next()?.strip_prefix(key)?.strip_prefix('=');
    let start = TaskStart {
        pid: Pid(pid),
        at,
        cpu,
        comm: comm.into(),
        policy: read_policy(value("policy")?)?,
        nice: Nice::new(value("nice")?.parse().ok()?)?,
        cpus: match value("cpus")? {
            "all" => None,
            cpus => Some(units::cpu_list(cpus).ok()?),
        },
        working_set_bytes: value("working-set")?
            .parse()
            .ok()
            .filter(|bytes| *bytes <= LARGEST_WORKING_SET)?,
        reads_bytes_per_us,
        timer_slack: time(value("timer-slack")?)?,
        recorded_work,
        kernel_thread,
    };
    words.next().is_none().then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scheduler::{CpuMask, Nanos, Policy, RtPriority};

    #[test]
    fn beginnings_come_back() {
        let forked = TaskStart {
            pid: Pid(1004),
            at: None,
            cpu: None,
            comm: "a comm=b".into(),
            policy: Policy::Batch,
            nice: Nice::new(-5).expect("in range"),
            cpus: None,
            working_set_bytes: 65_536,
            reads_bytes_per_us: 0,
            timer_slack: Nanos(50_000),
            recorded_work: false,
            kernel_thread: true,
        };
        let there = TaskStart {
            at: Some(Nanos(7)),
            cpu: Some(CpuId(3)),
            policy: Policy::Rr(RtPriority::new(90).expect("in range")),
            cpus: Some(CpuMask::single(CpuId(3))),
            comm: "".into(),
            reads_bytes_per_us: 25_000,
            recorded_work: true,
            ..forked.clone()
        };
        for start in [forked, there] {
            assert_eq!(read(&text(&start)), Some(start));
        }
    }

    #[test]
    fn what_cannot_be_is_no_beginning() {
        for text in [
            "pid=0 start=fork policy=other nice=0 cpus=all working-set=0 timer-slack=0 comm=a",
            "pid=1 start=18446744073709551615 policy=other nice=0 cpus=all working-set=0 timer-slack=0 \
             comm=a",
            "pid=1 start=0 policy=other nice=0 cpus=all working-set=18446744073709551615 timer-slack=0 \
             comm=a",
            "pid=1 start=later policy=other nice=0 cpus=all working-set=0 timer-slack=0 comm=a",
            "pid=1 start=0 on=512 policy=other nice=0 cpus=all working-set=0 timer-slack=0 comm=a",
            "pid=1 start=0 policy=other nice=20 cpus=all working-set=0 timer-slack=0 comm=a",
            "pid=1 start=0 policy=other nice=0 cpus=some working-set=0 timer-slack=0 comm=a",
            "pid=1 start=0 policy=other nice=0 cpus=all working-set=0 timer-slack=0 x=1 comm=a",
            "pid=1 start=0 policy=other nice=0 cpus=all working-set=0 timer-slack=0 reads=1000001 comm=a",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
