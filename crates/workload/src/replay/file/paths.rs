//! Lines of a workload file about the recorded machine: how long the paths from wakeups to the woken tasks
//! took.

use super::words::{number, read_time, time};
use machine::{CountedFrom, PathTimes, Situation, WakePaths};
use scheduler::Nanos;

/// `paths from sched_wakeup`, then a line for each kind: its name, how many were measured, and equal shares
/// of their times.
pub(crate) fn lines(paths: &WakePaths) -> Vec<String> {
    if paths.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![format!("paths from {}", event(paths.counted_from))];
    for situation in Situation::ALL {
        if let Some(times) = paths.of(situation) {
            let shares: Vec<String> = times.shares().iter().map(|share| time(*share)).collect();
            lines.push(format!("path {} of {}: {}", situation.name(), times.measured(), shares.join(" ")));
        }
    }
    lines
}

/// Reads one of these lines.
pub(in crate::replay) fn read_line(line: &str, paths: &mut WakePaths) -> Result<(), String> {
    match line.split_once(' ') {
        Some(("paths", rest)) => *paths = counted_from(rest)?,
        Some(("path", rest)) => path(rest, paths)?,
        _ => return Err(format!("`{line}` tells of no path")),
    }
    Ok(())
}

/// What stands behind `paths`.
fn counted_from(rest: &str) -> Result<WakePaths, String> {
    let events = [CountedFrom::Wakeup, CountedFrom::Waking];
    let known = events.into_iter().find(|from| rest == format!("from {}", event(*from)));
    known.map(WakePaths::new).ok_or_else(|| {
        format!("`paths {rest}` is not known; write paths from sched_wakeup or paths from sched_waking")
    })
}

/// What stands behind `path`.
fn path(rest: &str, paths: &mut WakePaths) -> Result<(), String> {
    let (head, shares) = rest.split_once(':').ok_or("write path KIND of COUNT: TIME TIME …")?;
    let words: Vec<&str> = head.split_whitespace().collect();
    let [kind, "of", count] = words[..] else {
        return Err("write path KIND of COUNT: TIME TIME …".to_owned());
    };
    let Some(situation) = Situation::ALL.into_iter().find(|situation| situation.name() == kind) else {
        let kinds: Vec<&str> = Situation::ALL.into_iter().map(Situation::name).collect();
        return Err(format!("`{kind}` is no kind of path; there are {}", kinds.join(", ")));
    };
    let shares: Vec<Nanos> = shares.split_whitespace().map(read_time).collect::<Result<_, _>>()?;
    let times = PathTimes::of_shares(number(count, 1, u32::MAX)?.into(), shares);
    let times = times.ok_or("the times of a path ascend, and are no more than its count")?;
    paths.set(situation, Some(times));
    Ok(())
}

fn event(counted_from: CountedFrom) -> &'static str {
    match counted_from {
        CountedFrom::Wakeup => "sched_wakeup",
        CountedFrom::Waking => "sched_waking",
    }
}
