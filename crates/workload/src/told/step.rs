//! Steps of programs, as text: a word and the numbers of its objects or its nanoseconds.

use super::time;
use crate::units;
use machine::{BarrierId, ChannelId, DeviceId, ForkKind, FutexId, Sections, SpinlockId, ToldStep};
use scheduler::{CpuMask, MutexId, Nanos, Nice, Pid, Policy, RtPriority};

/// A step as traces and workload files have it.
pub(crate) fn text(step: &ToldStep) -> String {
    match step {
        ToldStep::Compute(length) => format!("compute {}", length.0),
        ToldStep::SpinUntil(time) => format!("spin-until {}", time.0),
        ToldStep::KernelCompute(length) => format!("kernel {}", length.0),
        ToldStep::SleepUntil(time) => format!("sleep-until {}", time.0),
        ToldStep::SleepFor(span) => format!("sleep-for {}", span.0),
        ToldStep::Lock(mutex) => format!("lock {}", mutex.0),
        ToldStep::Unlock(mutex) => format!("unlock {}", mutex.0),
        ToldStep::SpinLock(lock) => format!("spin-lock {}", lock.0),
        ToldStep::SpinUnlock(lock) => format!("spin-unlock {}", lock.0),
        ToldStep::Sections(work) => {
            let locks: String = work.locks().iter().map(|lock| format!(" {}", lock.0)).collect();
            format!("sections {} {} {}{locks}", work.first.0, work.part.0, work.hold.0)
        }
        ToldStep::Send(channel) => format!("send {}", channel.0),
        ToldStep::TrySend(channel) => format!("try-send {}", channel.0),
        ToldStep::TrySendAll(channels) => {
            let channels: String = channels.iter().map(|channel| format!(" {}", channel.0)).collect();
            format!("try-send-all{channels}")
        }
        ToldStep::GiveBack { policy: left, wakes } => {
            let wakes: String = wakes.iter().map(|channel| format!(" {}", channel.0)).collect();
            format!("give-back {}{wakes}", policy(*left))
        }
        ToldStep::Receive(channel) => format!("receive {}", channel.0),
        ToldStep::Submit { device, service, done } => format!("submit {} {} {}", device.0, service.0, done.0),
        ToldStep::FutexWait(futex) => format!("futex-wait {}", futex.0),
        ToldStep::FutexWake { futex, count } => format!("futex-wake {} {count}", futex.0),
        ToldStep::BarrierWait(barrier) => format!("barrier {}", barrier.0),
        ToldStep::Fork(kind) => format!("fork {}", fork_kind(*kind)),
        ToldStep::Exec(comm) => format!("exec {}", comm.replace('\n', " ")),
        ToldStep::WaitChild => "wait-child".to_owned(),
        ToldStep::Exit => "exit".to_owned(),
        ToldStep::Yield => "yield".to_owned(),
        ToldStep::SetPolicy(of) => format!("set-policy {}", policy(*of)),
        ToldStep::SetPolicyOf { pid, policy: of } => format!("set-policy-of {} {}", pid.0, policy(*of)),
        ToldStep::SetNice(nice) => format!("set-nice {}", nice.get()),
        ToldStep::SetAffinity(CpuMask::ALL) => "set-cpus all".to_owned(),
        ToldStep::SetAffinity(cpus) => format!("set-cpus {cpus}"),
        ToldStep::Untold => "untold".to_owned(),
    }
}

/// Reads it.
pub(crate) fn read(text: &str) -> Option<ToldStep> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    match word {
        "exec" => return Some(ToldStep::Exec(rest.into())),
        "fork" => return read_fork_kind(rest).map(ToldStep::Fork),
        "set-policy" => return read_policy(rest).map(ToldStep::SetPolicy),
        "give-back" => {
            let (policy, wakes) = rest.split_once(' ').unwrap_or((rest, ""));
            let wakes =
                wakes.split_whitespace().map(|n| n.parse().ok().map(ChannelId)).collect::<Option<_>>()?;
            return read_policy(policy).map(|policy| ToldStep::GiveBack { policy, wakes });
        }
        "set-policy-of" => {
            let (pid, policy) = rest.split_once(' ')?;
            let pid = pid.parse().ok().filter(|pid| *pid > 0).map(Pid)?;
            return read_policy(policy).map(|policy| ToldStep::SetPolicyOf { pid, policy });
        }
        "set-nice" => return rest.parse().ok().and_then(Nice::new).map(ToldStep::SetNice),
        "set-cpus" if rest == "all" => return Some(ToldStep::SetAffinity(CpuMask::ALL)),
        "set-cpus" => return units::cpu_list(rest).ok().map(ToldStep::SetAffinity),
        _ => {}
    }
    let numbers = rest.split(' ').filter(|word| !word.is_empty()).map(|n| time(n).map(|n| n.0));
    let numbers: Vec<u64> = numbers.collect::<Option<_>>()?;
    let id = |n: u64| u32::try_from(n).ok();
    Some(match (word, &numbers[..]) {
        ("compute", [ns]) => ToldStep::Compute(Nanos(*ns)),
        ("spin-until", [ns]) => ToldStep::SpinUntil(Nanos(*ns)),
        ("kernel", [ns]) => ToldStep::KernelCompute(Nanos(*ns)),
        ("sleep-until", [ns]) => ToldStep::SleepUntil(Nanos(*ns)),
        ("sleep-for", [ns]) => ToldStep::SleepFor(Nanos(*ns)),
        ("lock", [n]) => ToldStep::Lock(MutexId(id(*n)?)),
        ("unlock", [n]) => ToldStep::Unlock(MutexId(id(*n)?)),
        ("spin-lock", [n]) => ToldStep::SpinLock(SpinlockId(id(*n)?)),
        ("spin-unlock", [n]) => ToldStep::SpinUnlock(SpinlockId(id(*n)?)),
        ("sections", [first, part, hold, locks @ ..]) if locks.len() <= Sections::MOST => {
            let locks: Vec<SpinlockId> =
                locks.iter().map(|n| id(*n).map(SpinlockId)).collect::<Option<_>>()?;
            ToldStep::Sections(Sections::new(locks, Nanos(*first), Nanos(*part), Nanos(*hold)))
        }
        ("send", [n]) => ToldStep::Send(ChannelId(id(*n)?)),
        ("try-send", [n]) => ToldStep::TrySend(ChannelId(id(*n)?)),
        ("try-send-all", channels) => {
            ToldStep::TrySendAll(channels.iter().map(|n| id(*n).map(ChannelId)).collect::<Option<_>>()?)
        }
        ("receive", [n]) => ToldStep::Receive(ChannelId(id(*n)?)),
        ("submit", [device, ns, done]) => ToldStep::Submit {
            device: DeviceId(id(*device)?),
            service: Nanos(*ns),
            done: ChannelId(id(*done)?),
        },
        ("futex-wait", [n]) => ToldStep::FutexWait(FutexId(id(*n)?)),
        ("futex-wake", [n, count]) => ToldStep::FutexWake { futex: FutexId(id(*n)?), count: id(*count)? },
        ("barrier", [n]) => ToldStep::BarrierWait(BarrierId(id(*n)?)),
        ("wait-child", []) => ToldStep::WaitChild,
        ("exit", []) => ToldStep::Exit,
        ("yield", []) => ToldStep::Yield,
        ("untold", []) => ToldStep::Untold,
        _ => return None,
    })
}

pub(crate) fn fork_kind(kind: ForkKind) -> &'static str {
    match kind {
        ForkKind::Fork => "process",
        ForkKind::Vfork => "vfork",
        ForkKind::Thread => "thread",
    }
}

pub(crate) fn read_fork_kind(text: &str) -> Option<ForkKind> {
    let kinds = [ForkKind::Fork, ForkKind::Vfork, ForkKind::Thread];
    kinds.into_iter().find(|kind| fork_kind(*kind) == text)
}

pub(super) fn policy(policy: Policy) -> String {
    match policy {
        Policy::Normal => "other".to_owned(),
        Policy::Batch => "batch".to_owned(),
        Policy::Idle => "idle".to_owned(),
        Policy::Fifo(priority) => format!("fifo:{}", priority.get()),
        Policy::Rr(priority) => format!("rr:{}", priority.get()),
    }
}

pub(super) fn read_policy(text: &str) -> Option<Policy> {
    let priority = |text: &str| text.parse().ok().and_then(RtPriority::new);
    match text.split_once(':') {
        Some(("fifo", number)) => priority(number).map(Policy::Fifo),
        Some(("rr", number)) => priority(number).map(Policy::Rr),
        Some(_) => None,
        None => match text {
            "other" => Some(Policy::Normal),
            "batch" => Some(Policy::Batch),
            "idle" => Some(Policy::Idle),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scheduler::CpuId;

    #[test]
    fn every_step_reads_back() {
        let rt = RtPriority::new(90).expect("in range");
        let locks = [SpinlockId(1), SpinlockId(2)];
        let steps = [
            ToldStep::Compute(Nanos(1)),
            ToldStep::SpinUntil(Nanos(1)),
            ToldStep::KernelCompute(Nanos(2)),
            ToldStep::SleepUntil(Nanos::from_secs(366 * 24 * 3600)),
            ToldStep::SleepFor(Nanos(4)),
            ToldStep::Lock(MutexId(5)),
            ToldStep::Unlock(MutexId(6)),
            ToldStep::SpinLock(SpinlockId(5)),
            ToldStep::SpinUnlock(SpinlockId(6)),
            ToldStep::Sections(Sections::new(locks, Nanos(3), Nanos(4), Nanos(5))),
            ToldStep::Send(ChannelId(7)),
            ToldStep::TrySend(ChannelId(8)),
            ToldStep::TrySendAll([ChannelId(8), ChannelId(9)].into()),
            ToldStep::GiveBack { policy: Policy::Normal, wakes: [].into() },
            ToldStep::GiveBack { policy: Policy::Batch, wakes: [ChannelId(10)].into() },
            ToldStep::Receive(ChannelId(9)),
            ToldStep::Submit { device: DeviceId(1), service: Nanos(2), done: ChannelId(3) },
            ToldStep::FutexWait(FutexId(10)),
            ToldStep::FutexWake { futex: FutexId(11), count: 12 },
            ToldStep::BarrierWait(BarrierId(13)),
            ToldStep::Fork(ForkKind::Fork),
            ToldStep::Fork(ForkKind::Vfork),
            ToldStep::Fork(ForkKind::Thread),
            ToldStep::Exec("a program".into()),
            ToldStep::WaitChild,
            ToldStep::Exit,
            ToldStep::Yield,
            ToldStep::SetPolicy(Policy::Fifo(rt)),
            ToldStep::SetPolicy(Policy::Rr(rt)),
            ToldStep::SetPolicy(Policy::Batch),
            ToldStep::SetNice(Nice::new(-20).expect("in range")),
            ToldStep::SetAffinity(CpuMask::single(CpuId(3))),
            ToldStep::SetAffinity(CpuMask::ALL),
            ToldStep::SetPolicyOf { pid: Pid(7), policy: Policy::Idle },
            ToldStep::Untold,
        ];
        for step in steps {
            assert_eq!(read(&text(&step)), Some(step));
        }
    }

    #[test]
    fn other_texts_are_no_steps() {
        for text in [
            "",
            "send",
            "send x",
            "send 1 2",
            "send 4294967296",
            "compute 18446744073709551615",
            "yield 1",
            "lock -1",
            "dance 3",
            "sections 1 2",
            "sections 1 2 3 1 2 3 4 5 6 7 8 9",
            "set-policy fifo:100",
            "set-nice 20",
            "fork fast",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
