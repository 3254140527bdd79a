//! Reads what [`ToldStep::text`] wrote.

use super::time;
use crate::units;
use machine::{ChannelId, ForkKind, OF_ANOTHER, Operand, Sections, SpinlockId, ToldStep};
use scheduler::dl::DlParams;
use scheduler::{ClampRequest, CpuMask, Nanos, Nice, Pid, Policy, RtPriority};
use std::str::FromStr;

/// Reads the text of a step.
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
        Operand::Clamps(clamps) => *clamps = read_clamps(words.next()?)?,
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

pub(crate) fn read_fork_kind(text: &str) -> Option<ForkKind> {
    let kinds = [ForkKind::Fork, ForkKind::Vfork, ForkKind::Thread];
    kinds.into_iter().find(|kind| kind.word() == text)
}

pub(crate) fn read_policy(text: &str) -> Option<Policy> {
    let priority = |text: &str| text.parse().ok().and_then(RtPriority::new);
    match text.split_once(':') {
        Some(("fifo", number)) => priority(number).map(Policy::Fifo),
        Some(("rr", number)) => priority(number).map(Policy::Rr),
        Some(("deadline", params)) => read_deadline(params),
        Some(_) => None,
        None => match text {
            "other" => Some(Policy::Normal),
            "batch" => Some(Policy::Batch),
            "idle" => Some(Policy::Idle),
            _ => None,
        },
    }
}

/// MIN:MAX, each a number or `-`.
fn read_clamps(text: &str) -> Option<ClampRequest> {
    let one = |text: &str| match text {
        "-" => Some(None),
        number => number.parse().ok().map(Some),
    };
    let (min, max) = text.split_once(':')?;
    Some(ClampRequest { min: one(min)?, max: one(max)? }).filter(|request| request.is_legal())
}

/// RUNTIME:DEADLINE:PERIOD in ns, and perhaps `:reclaim`.
fn read_deadline(text: &str) -> Option<Policy> {
    let (times, reclaims) = match text.strip_suffix(":reclaim") {
        Some(times) => (times, true),
        None => (text, false),
    };
    let mut times = times.split(':').map(|time| time.parse().ok().map(Nanos));
    let params = DlParams::new(times.next()??, times.next()??, times.next()??).ok()?;
    let params = if reclaims { params.reclaiming() } else { params };
    times.next().is_none().then_some(Policy::Deadline(params))
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::{BarrierId, DeviceId, FutexId};
    use scheduler::{CpuId, MutexId};

    #[test]
    fn steps_have_these_texts() {
        let rt = RtPriority::new(90).expect("in range");
        let locks = [SpinlockId(1), SpinlockId(2)];
        let set_policy = |policy| ToldStep::SetPolicy { target: None, policy };
        let set_cpus = |cpus: CpuMask| ToldStep::SetAffinity { target: None, cpus: cpus.into() };
        let other = Some(Pid(7));
        let params = DlParams::new(Nanos(2_000_000), Nanos(5_000_000), Nanos(10_000_000)).expect("legal");
        let (deadline, reclaims) = (Policy::Deadline(params), Policy::Deadline(params.reclaiming()));
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
            (set_policy(deadline), "set-policy deadline:2000000:5000000:10000000"),
            (set_policy(reclaims), "set-policy deadline:2000000:5000000:10000000:reclaim"),
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
            assert_eq!(step.clone().text(), expected);
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
            assert_eq!(read(&step.clone().text()), Some(step));
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
