//! Steps of programs, as text: a word and its operands, the numbers of objects and nanoseconds among them.

use super::time;
use crate::units;
use machine::{ChannelId, ForkKind, Operand, Sections, SpinlockId, ToldStep};
use scheduler::{CpuMask, Nice, Pid, Policy, RtPriority};
use std::fmt::Write;
use std::str::FromStr;

/// A step as traces and workload files have it.
pub(crate) fn text(step: &ToldStep) -> String {
    let mut text = step.word().to_owned();
    step.clone().operands(|operand| write(&mut text, operand));
    text
}

/// Reads it.
pub(crate) fn read(text: &str) -> Option<ToldStep> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let mut words = Words { rest, of_another: false };
    let mut step = ToldStep::blank(word).or_else(|| {
        words.of_another = true;
        ToldStep::blank(word.strip_suffix(OF_ANOTHER)?)
    })?;
    let mut is_read = true;
    step.operands(|operand| is_read &= read_operand(operand, &mut words).is_some());
    (is_read && !words.of_another && words.next().is_none()).then_some(step)
}

/// Behind the word of a step that concerns another task, whose pid follows.
const OF_ANOTHER: &str = "-of";

fn write(text: &mut String, operand: Operand<'_>) {
    // Writing to a string cannot fail.
    let _ = match operand {
        Operand::Time(time) => write!(text, " {}", time.0),
        Operand::Count(count) => write!(text, " {count}"),
        Operand::Mutex(mutex) => write!(text, " {}", mutex.0),
        Operand::Spinlock(lock) => write!(text, " {}", lock.0),
        Operand::Channel(channel) => write!(text, " {}", channel.0),
        Operand::Device(device) => write!(text, " {}", device.0),
        Operand::Futex(futex) => write!(text, " {}", futex.0),
        Operand::Barrier(barrier) => write!(text, " {}", barrier.0),
        Operand::Channels(channels) => channels.iter().try_for_each(|channel| write!(text, " {}", channel.0)),
        Operand::Sections(work) => {
            let Sections { first, part, hold, .. } = work;
            let _ = write!(text, " {} {} {}", first.0, part.0, hold.0);
            work.locks().iter().try_for_each(|lock| write!(text, " {}", lock.0))
        }
        Operand::Policy(of) => write!(text, " {}", policy(*of)),
        Operand::Nice(nice) => write!(text, " {}", nice.get()),
        Operand::Cpus(&mut CpuMask::ALL) => write!(text, " all"),
        Operand::Cpus(cpus) => write!(text, " {cpus}"),
        Operand::ForkKind(kind) => write!(text, " {}", fork_kind(*kind)),
        Operand::Text(line) => write!(text, " {}", line.replace('\n', " ")),
        Operand::Target(None) => Ok(()),
        Operand::Target(Some(pid)) => write!(text, "{OF_ANOTHER} {}", pid.0),
    };
}

/// What is left of a text.
struct Words<'t> {
    rest: &'t str,
    /// It concerns another task, and nobody has asked yet which one.
    of_another: bool,
}

impl<'t> Words<'t> {
    fn next(&mut self) -> Option<&'t str> {
        let rest = self.rest.trim_start_matches(' ');
        let (word, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    fn number<N: FromStr>(&mut self) -> Option<N> {
        self.next()?.parse().ok()
    }

    /// As many numbers as there are.
    fn numbers(&mut self) -> Option<Vec<u32>> {
        std::iter::from_fn(|| self.next()).map(|word| word.parse().ok()).collect()
    }
}

fn read_operand(operand: Operand<'_>, words: &mut Words<'_>) -> Option<()> {
    match operand {
        Operand::Time(to) => *to = time(words.next()?)?,
        Operand::Count(count) => *count = words.number()?,
        Operand::Mutex(mutex) => mutex.0 = words.number()?,
        Operand::Spinlock(lock) => lock.0 = words.number()?,
        Operand::Channel(channel) => channel.0 = words.number()?,
        Operand::Device(device) => device.0 = words.number()?,
        Operand::Futex(futex) => futex.0 = words.number()?,
        Operand::Barrier(barrier) => barrier.0 = words.number()?,
        Operand::Channels(channels) => *channels = words.numbers()?.into_iter().map(ChannelId).collect(),
        Operand::Sections(work) => {
            let mut length = || time(words.next()?);
            let (first, part, hold) = (length()?, length()?, length()?);
            let locks = words.numbers()?;
            if locks.len() > Sections::MOST {
                return None;
            }
            *work = Sections::new(locks.into_iter().map(SpinlockId), first, part, hold);
        }
        Operand::Policy(policy) => *policy = read_policy(words.next()?)?,
        Operand::Nice(nice) => *nice = Nice::new(words.number()?)?,
        Operand::Cpus(cpus) => {
            *cpus = match words.next()? {
                "all" => CpuMask::ALL,
                list => units::cpu_list(list).ok()?,
            }
        }
        Operand::ForkKind(kind) => *kind = read_fork_kind(words.next()?)?,
        Operand::Text(text) => *text = std::mem::take(&mut words.rest).into(),
        Operand::Target(target) => {
            if std::mem::take(&mut words.of_another) {
                *target = Some(Pid(words.number().filter(|pid| *pid > 0)?));
            }
        }
    }
    Some(())
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
    use machine::{BarrierId, DeviceId, FutexId};
    use scheduler::{CpuId, MutexId, Nanos};

    #[test]
    fn steps_have_these_texts() {
        let rt = RtPriority::new(90).expect("in range");
        let locks = [SpinlockId(1), SpinlockId(2)];
        let set_policy = |policy| ToldStep::SetPolicy { target: None, policy };
        let set_cpus = |cpus: CpuMask| ToldStep::SetAffinity { target: None, cpus: cpus.into() };
        let other = Some(Pid(7));
        let fork = |kind| ToldStep::Fork { child: (), kind };
        let nice = Nice::new(-20).expect("in range");
        for (step, expected) in [
            (ToldStep::Compute(Nanos(1)), "compute 1"),
            (ToldStep::SpinUntil(Nanos(1)), "spin-until 1"),
            (ToldStep::KernelCompute(Nanos(2)), "kernel 2"),
            (ToldStep::SleepUntil(Nanos::from_secs(366 * 24 * 3600)), "sleep-until 31622400000000000"),
            (ToldStep::SleepFor(Nanos(4)), "sleep-for 4"),
            (ToldStep::Lock(MutexId(5)), "lock 5"),
            (ToldStep::Unlock(MutexId(6)), "unlock 6"),
            (ToldStep::SpinLock(SpinlockId(5)), "spin-lock 5"),
            (ToldStep::SpinUnlock(SpinlockId(6)), "spin-unlock 6"),
            (ToldStep::Sections(Sections::new(locks, Nanos(3), Nanos(4), Nanos(5))), "sections 3 4 5 1 2"),
            (ToldStep::Send(ChannelId(7)), "send 7"),
            (ToldStep::TrySend(ChannelId(8)), "try-send 8"),
            (ToldStep::TrySendAll([ChannelId(8), ChannelId(9)].into()), "try-send-all 8 9"),
            (ToldStep::GiveBack { policy: Policy::Normal, wakes: [].into() }, "give-back other"),
            (ToldStep::GiveBack { policy: Policy::Batch, wakes: [ChannelId(1)].into() }, "give-back batch 1"),
            (ToldStep::Receive(ChannelId(9)), "receive 9"),
            (ToldStep::Submit { device: DeviceId(1), service: Nanos(2), done: ChannelId(3) }, "submit 1 2 3"),
            (ToldStep::FutexWait(FutexId(10)), "futex-wait 10"),
            (ToldStep::FutexWake { futex: FutexId(11), count: 12 }, "futex-wake 11 12"),
            (ToldStep::BarrierWait(BarrierId(13)), "barrier 13"),
            (fork(ForkKind::Fork), "fork process"),
            (fork(ForkKind::Vfork), "fork vfork"),
            (fork(ForkKind::Thread), "fork thread"),
            (ToldStep::Exec("a program".into()), "exec a program"),
            (ToldStep::WaitChild, "wait-child"),
            (ToldStep::Exit, "exit"),
            (ToldStep::Yield, "yield"),
            (ToldStep::Marker("a b".into()), "marker a b"),
            (set_policy(Policy::Fifo(rt)), "set-policy fifo:90"),
            (set_policy(Policy::Rr(rt)), "set-policy rr:90"),
            (set_policy(Policy::Batch), "set-policy batch"),
            (ToldStep::SetPolicy { target: other, policy: Policy::Idle }, "set-policy-of 7 idle"),
            (ToldStep::SetNice { target: None, nice }, "set-nice -20"),
            (ToldStep::SetNice { target: other, nice }, "set-nice-of 7 -20"),
            (set_cpus(CpuMask::single(CpuId(3))), "set-cpus 3"),
            (set_cpus(CpuMask::ALL), "set-cpus all"),
            (
                ToldStep::SetAffinity { target: other, cpus: CpuMask::single(CpuId(3)).into() },
                "set-cpus-of 7 3",
            ),
        ] {
            assert_eq!(text(&step), expected);
            assert_eq!(read(expected), Some(step));
        }
    }

    #[test]
    fn every_step_reads_back() {
        for mut step in ToldStep::all() {
            // No task may use no CPU.
            step.operands(|operand| {
                if let Operand::Cpus(cpus) = operand {
                    *cpus = CpuMask::ALL;
                }
            });
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
            "set-policy-of idle",
            "set-policy-of 0 idle",
            "send-of 7 1",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
