//! What the user asks for: `FILE@TIME`.

use crate::error::Error;
use scheduler::Nanos;
use workload::units;

/// A file of some moment of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DumpRequest {
    /// As it was given.
    pub text: String,
    /// Which file.
    pub file: DumpFile,
    /// Of which moment.
    pub time: DumpTime,
}

/// A file that Linux offers about its scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DumpFile {
    /// /proc/sched_debug: the whole machine.
    SchedDebug,
    /// /proc/schedstat: counters of CPUs and domains.
    Schedstat,
    /// sched_features in debugfs.
    SchedFeatures,
    /// /proc/PID/sched.
    TaskSched(u32),
    /// /proc/PID/schedstat.
    TaskSchedstat(u32),
}

/// A moment of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DumpTime {
    /// So long after its beginning.
    At(Nanos),
    /// Its end.
    End,
}

const FILES: &str = "sched_debug, schedstat, sched_features, proc/PID/sched, proc/PID/schedstat";

impl DumpFile {
    fn parse(text: &str) -> Option<DumpFile> {
        let task = |rest: &str| {
            let (pid, file) = rest.split_once('/')?;
            let pid = pid.parse().ok()?;
            match file {
                "sched" => Some(DumpFile::TaskSched(pid)),
                "schedstat" => Some(DumpFile::TaskSchedstat(pid)),
                _ => None,
            }
        };
        let name = text.strip_prefix('/').unwrap_or(text);
        let name = name.strip_prefix("proc/").unwrap_or(name);
        match name {
            "sched_debug" => Some(DumpFile::SchedDebug),
            "schedstat" => Some(DumpFile::Schedstat),
            "sched_features" => Some(DumpFile::SchedFeatures),
            _ => task(name).filter(|_| text.len() > name.len()),
        }
    }

    /// Whose file it is, where it is a task's.
    #[must_use]
    pub fn pid(self) -> Option<u32> {
        match self {
            DumpFile::TaskSched(pid) | DumpFile::TaskSchedstat(pid) => Some(pid),
            DumpFile::SchedDebug | DumpFile::Schedstat | DumpFile::SchedFeatures => None,
        }
    }
}

impl DumpRequest {
    /// Reads `FILE@TIME`; a time without a unit is in seconds, `end` is the end of the run.
    ///
    /// # Errors
    /// No time, a time that is none, a file that is not known.
    pub fn parse(text: &str) -> Result<DumpRequest, Error> {
        let wrong = |problem: String, advice: &str| Error::Dump {
            text: text.to_owned(),
            problem,
            advice: advice.to_owned(),
        };
        let Some((file, time)) = text.rsplit_once('@') else {
            return Err(wrong(
                "it does not say of which moment".to_owned(),
                "write FILE@TIME, such as sched_debug@2s, or FILE@end",
            ));
        };
        let time = match time {
            "end" => DumpTime::End,
            _ => match units::duration(time, Nanos::from_secs(1)) {
                Ok(at) => DumpTime::At(at),
                Err(problem) => {
                    return Err(wrong(problem, "write FILE@TIME, such as sched_debug@2s, or FILE@end"));
                }
            },
        };
        let file = DumpFile::parse(file)
            .ok_or_else(|| wrong(format!("there is no file {file}"), &format!("the files are {FILES}")))?;
        Ok(DumpRequest { text: text.to_owned(), file, time })
    }

    /// The moment, unless it is the end.
    #[must_use]
    pub fn moment(&self) -> Option<Nanos> {
        match self.time {
            DumpTime::At(at) => Some(at),
            DumpTime::End => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (DumpFile, DumpTime) {
        DumpRequest::parse(text).map(|r| (r.file, r.time)).expect("a legal request")
    }

    #[test]
    fn a_file_and_a_time() {
        let two = DumpTime::At(Nanos::from_secs(2));
        assert_eq!(parsed("sched_debug@2s"), (DumpFile::SchedDebug, two));
        assert_eq!(parsed("/proc/sched_debug@2"), (DumpFile::SchedDebug, two));
        assert_eq!(parsed("schedstat@end"), (DumpFile::Schedstat, DumpTime::End));
        assert_eq!(parsed("proc/1000/sched@end"), (DumpFile::TaskSched(1000), DumpTime::End));
        assert_eq!(parsed("/proc/7/schedstat@1500us").0, DumpFile::TaskSchedstat(7));
        assert_eq!(parsed("sched_features@0s"), (DumpFile::SchedFeatures, DumpTime::At(Nanos::ZERO)));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let error = |text: &str| DumpRequest::parse(text).expect_err("wrong").to_string();
        assert!(error("sched_debug").contains("write FILE@TIME"), "{}", error("sched_debug"));
        assert!(error("sched_debug@soon").contains("soon"));
        for text in ["sched@end", "proc/x/sched@end", "proc/1/stat@end", "1000/sched@end", "proc/sched@end"] {
            assert!(error(text).contains("the files are sched_debug, schedstat"), "{}", error(text));
        }
    }
}
