//! Lines of a workload file that came out of a run's own trace: told steps, and the objects that they name.

use super::words::{number, read_time};
use crate::replay::recording::{Message, ReplayStep, ToldTask};
use crate::told::{LARGEST_WORKING_SET, MOST_READS, Object, can_be_taken, read_step};
use machine::{Arrival, ChannelId, Objects, ToldStep};
use scheduler::fair::CUSTOM_SLICES;
use scheduler::{Nanos, Nice};
use trace::MAX_CPUS;

/// An object above the tasks.
pub(super) fn object(text: &str, objects: &mut Objects) -> Result<(), String> {
    let object = Object::parse(text)
        .ok_or_else(|| format!("`{text}` cannot be read; keep the form in which it was written"))?;
    match object.add_to(objects) {
        true => Ok(()),
        false => Err(format!("`{text}`: the numbers of objects count up from 0")),
    }
}

/// A told step that has no form of its own, with the factor for the task's CPU time.
/// `work` is that factor for a time.
pub(super) fn step(
    text: &str,
    objects: &Objects,
    work: impl Fn(Nanos) -> Result<Nanos, String>,
) -> Result<ReplayStep, String> {
    let step = read_step(text).ok_or_else(|| format!("`do {text}` is no step"))?;
    let step = match step {
        ToldStep::Compute(_) | ToldStep::SleepUntil(_) | ToldStep::SleepFor(_) => {
            return Err(format!("write run, until or sleep in place of `do {text}`"));
        }
        ToldStep::SetPolicy { target: Some(_), .. } => {
            return Err(format!("write lend TASK POLICY round N in place of `do {text}`"));
        }
        ToldStep::SetNice { target: Some(_), .. } | ToldStep::SetAffinity { target: Some(_), .. } => {
            return Err(format!("`do {text}`: only of itself can a task set that; leave the pid out"));
        }
        ToldStep::Fork { .. } | ToldStep::Exec(_) | ToldStep::Exit | ToldStep::Marker(_) => {
            return Err(format!("write `{text}` without do"));
        }
        ToldStep::SetSlice(slice) if slice > Nanos::ZERO && !CUSTOM_SLICES.contains(&slice) => {
            return Err(format!("`do {text}`: a slice is from 100000 to 100000000 ns, or 0 for that of all"));
        }
        ToldStep::KernelCompute(length) => ToldStep::KernelCompute(work(length)?),
        step => step,
    };
    if !can_be_taken(&step, objects) {
        return Err(format!("`do {text}`: there is no such object above the first task"));
    }
    Ok(ReplayStep::Told(step))
}

/// What is told of a task: `nice=0 working-set=65536 timer-slack=50us`.
pub(super) fn fact(words: &[&str]) -> Result<ToldTask, String> {
    let unknown = || {
        "write told nice=N working-set=BYTES timer-slack=TIME, and reads=BYTES (a microsecond) of a task that reads from \
         memory"
            .to_owned()
    };
    let (words, kernel_thread) = match words {
        [words @ .., "thread=kernel"] => (words, true),
        words => (words, false),
    };
    let (words, recorded_work) = match words {
        [words @ .., "work=recorded"] => (words, true),
        words => (words, false),
    };
    let (words, reads) = match words {
        [words @ .., last] if last.starts_with("reads=") => (words, last.strip_prefix("reads=")),
        words => (words, None),
    };
    let reads = reads.map_or(Some(0), |reads| reads.parse().ok().filter(|reads| *reads <= MOST_READS));
    let [nice, working_set, timer_slack] = words else { return Err(unknown()) };
    let value = |word: &str, key: &str| word.strip_prefix(key).map(str::to_owned).ok_or_else(unknown);
    let nice = value(nice, "nice=")?.parse().ok().and_then(Nice::new);
    Ok(ToldTask {
        nice: nice.ok_or("nice values are -20 to 19")?,
        working_set_bytes: value(working_set, "working-set=")?
            .parse()
            .map_err(|_| unknown())
            .and_then(small)?,
        reads_bytes_per_us: reads.ok_or_else(unknown)?,
        timer_slack: read_time(&value(timer_slack, "timer-slack=")?)?,
        recorded_work,
        kernel_thread,
    })
}

fn small(working_set_bytes: u64) -> Result<u64, String> {
    match working_set_bytes <= LARGEST_WORKING_SET {
        true => Ok(working_set_bytes),
        false => Err(format!("a working set of {working_set_bytes} bytes is larger than any cache")),
    }
}

/// `at TIME cpu N channel N`, `tick` behind it if the tick brings it: a message from outside.
pub(super) fn message(text: &str, objects: &Objects) -> Result<Message, String> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let by = if words.pop_if(|word| *word == "tick").is_some() { Arrival::Tick } else { Arrival::Own };
    let ["at", at, "cpu", cpu, "channel", channel] = words[..] else {
        return Err(format!(
            "`message {text}` is not known; write message at TIME cpu N channel N, and tick behind it if a \
             tick brings it"
        ));
    };
    let channel = ChannelId(number(channel, 0, u32::MAX)?);
    if !can_be_taken(&ToldStep::Send(channel), objects) {
        return Err(format!("there is no channel {} above this line", channel.0));
    }
    Ok(Message { at: read_time(at)?, by, cpu: number(cpu, 0, MAX_CPUS - 1)?, channel })
}
