//! Records the scheduler's events of this machine, into a trace.dat that replays without guessing.
//!
//! The kernel's buffers are read as raw pages through an instance of tracefs of our own, and put into a file as they are.
//! What no event tells, policies and affinities of the tasks ([`trace::TaskNote`]) and what idle CPUs did
//! ([`trace::IdleKind`]), goes into the trace as markers.
//! Whatever ends the recording, removing the instance takes back all that was set.

mod header;
mod idle;
mod pages;
mod tasks;
mod tracefs;
mod watchdog;

use idle::{CPU_DMA_LATENCY, IdleWatch};
use pages::CpuPages;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;
use trace::{DatHeader, DatPages, Pid, TaskNote, write_dat_container};
use tracefs::Instance;
pub use tracefs::Tracefs;

/// What is recorded; a kernel that lacks some of it is recorded without.
const EVENTS: [&str; 9] = [
    "sched_switch",
    "sched_waking",
    "sched_wakeup",
    "sched_wakeup_new",
    "sched_migrate_task",
    "sched_process_fork",
    "sched_process_exec",
    "sched_process_exit",
    "sched_pi_setprio",
];
/// Of each CPU's buffer: half a second of a busy CPU.
const BUFFER_KB: u32 = 8192;

/// Why there is no recording.
#[derive(Debug, Error)]
#[error("cannot {doing} {what}: {source}{}", if *of_tracing { advice(source) } else { "" })]
pub struct RecordError {
    doing: String,
    what: String,
    /// It is about tracing, not about a file of the user's.
    of_tracing: bool,
    source: io::Error,
}

impl RecordError {
    fn of(doing: &str, what: impl fmt::Display, source: io::Error) -> RecordError {
        RecordError { doing: doing.to_owned(), what: what.to_string(), of_tracing: true, source }
    }

    fn of_folder(folder: &Path, source: io::Error) -> RecordError {
        let (doing, what) = ("keep pages in".to_owned(), folder.display().to_string());
        RecordError { doing, what, of_tracing: false, source }
    }
}

fn advice(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied => {
            "; recording needs root, or the capabilities CAP_DAC_OVERRIDE (files of tracefs) and CAP_SYS_ADMIN (to mount it)"
        }
        io::ErrorKind::NotFound => {
            "; is this kernel built with tracing (CONFIG_FTRACE, CONFIG_EVENT_TRACING)?"
        }
        _ => "",
    }
}

/// A finished recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recorded {
    /// CPUs of the machine.
    pub cpus: usize,
    /// Bytes of pages.
    pub bytes: u64,
    /// Events that did not fit into the buffers.
    pub lost: u64,
}

/// A recording under way.
#[derive(Debug)]
pub struct Recorder {
    // Fields are dropped in this order: an instance cannot be removed while its files are open.
    cpus: Vec<CpuPages>,
    instance: Instance,
    tracefs: Tracefs,
    tasks: BTreeMap<Pid, TaskNote>,
    proc: PathBuf,
    idle: IdleWatch,
}

/// A recording that has ended. The kernel is as it was before.
#[derive(Debug)]
pub struct Ended {
    /// What it holds.
    pub recorded: Recorded,
    /// Why something of it is left in tracefs, if it is.
    pub left_over: Option<RecordError>,
    header: DatHeader,
    /// Of each CPU that has any.
    pages: BTreeMap<usize, Pages>,
}

#[derive(Debug)]
struct Pages {
    len: u64,
    file: File,
}

impl Recorder {
    /// Begins to record. Until it is written, the recording waits in files without a name in the folder `spool`.
    ///
    /// # Errors
    /// No right to trace, no tracing in this kernel, no place for the recording.
    pub fn start(tracefs: Tracefs, spool: &Path) -> Result<Recorder, RecordError> {
        let instance = tracefs.instance()?;
        let idle = IdleWatch::new(Path::new(CPU_DMA_LATENCY));
        Recorder::on(tracefs, instance, spool, Path::new("/proc"), idle)
    }

    fn on(
        tracefs: Tracefs,
        instance: Instance,
        spool: &Path,
        proc: &Path,
        idle: IdleWatch,
    ) -> Result<Recorder, RecordError> {
        instance.write("tracing_on", "0")?;
        // One clock for all CPUs, in nanoseconds, that neither jumps nor stops.
        instance.write("trace_clock", "mono")?;
        instance.write("buffer_size_kb", &BUFFER_KB.to_string())?;
        let page_size = header::page_size(&tracefs)?;
        let mut cpus = Vec::new();
        for cpu in instance.cpus()? {
            cpus.push(CpuPages::open(&instance, cpu, page_size, spool)?);
        }
        let tasks = tasks::all(proc);
        let recorder = Recorder { cpus, instance, tracefs, tasks, proc: proc.to_owned(), idle };
        recorder.instance.write("tracing_on", "1")?;
        for note in recorder.tasks.values() {
            recorder.instance.write("trace_marker", &format!("{note}\n"))?;
        }
        for event in EVENTS {
            let switch = format!("events/sched/{event}/enable");
            if recorder.instance.has(&switch) {
                recorder.instance.write(&switch, "1")?;
            }
        }
        Ok(recorder)
    }

    /// Takes what the kernel has so far. To be called several times a second, or its buffers overflow.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn collect(&mut self) -> Result<(), RecordError> {
        self.idle.look();
        for cpu in &mut self.cpus {
            cpu.collect()?;
        }
        Ok(())
    }

    /// What there is so far.
    ///
    /// # Errors
    /// Those of tracefs.
    pub fn so_far(&self) -> Result<Recorded, RecordError> {
        let mut sum = Recorded { cpus: self.cpus.len(), bytes: 0, lost: 0 };
        for cpu in &self.cpus {
            sum.bytes += cpu.bytes();
            sum.lost += lost(&self.stats(cpu)?);
        }
        Ok(sum)
    }

    /// Ends the recording and takes back what was set.
    ///
    /// # Errors
    /// Those of tracefs and of the disk.
    pub fn end(mut self) -> Result<Ended, RecordError> {
        self.instance.write("events/enable", "0")?;
        if let Some(idle) = self.idle.kind() {
            self.instance.write("trace_marker", &format!("{idle}\n"))?;
        }
        // Who was born meanwhile.
        for (pid, note) in tasks::all(&self.proc) {
            if !self.tasks.contains_key(&pid) {
                self.instance.write("trace_marker", &format!("{note}\n"))?;
                self.tasks.insert(pid, note);
            }
        }
        self.instance.write("tracing_on", "0")?;
        self.collect()?;
        let recorded = self.so_far()?;
        let mut stats = Vec::new();
        for cpu in &self.cpus {
            stats.push(format!("CPU: {}\n{}", cpu.cpu(), self.stats(cpu)?));
        }
        let header = header::header(&self.tracefs, &EVENTS, &self.tasks, stats)?;
        let Recorder { cpus, instance, .. } = self;
        let mut pages = BTreeMap::new();
        for cpu in cpus {
            let (number, len) = (cpu.cpu() as usize, cpu.bytes());
            pages.insert(number, Pages { len, file: cpu.into_pages()? });
        }
        Ok(Ended { recorded, left_over: instance.remove().err(), header, pages })
    }

    fn stats(&self, cpu: &CpuPages) -> Result<String, RecordError> {
        self.instance.read(&format!("per_cpu/cpu{}/stats", cpu.cpu()))
    }
}

impl Ended {
    /// Writes the trace.dat.
    ///
    /// # Errors
    /// Those of `out`, and of the disk where the recording waits.
    pub fn write(self, out: impl io::Write) -> io::Result<()> {
        let Ended { header, mut pages, .. } = self;
        // A CPU that is offline leaves no hole in the numbering.
        let count = pages.last_key_value().map_or(0, |(last, _)| last + 1);
        let of_cpu = |cpu| -> DatPages<Box<dyn io::Read>> {
            match pages.remove(&cpu) {
                Some(Pages { len, file }) => DatPages { len, pages: Box::new(file) },
                None => DatPages { len: 0, pages: Box::new(io::empty()) },
            }
        };
        write_dat_container(&header, (0..count).map(of_cpu).collect(), out)
    }
}

/// Events that a CPU's buffer could not keep, by its statistics.
fn lost(stats: &str) -> u64 {
    let count = |line: &str| {
        let (name, value) = line.split_once(':')?;
        let lost = matches!(name, "overrun" | "commit overrun" | "dropped events");
        lost.then(|| value.trim().parse::<u64>().ok())?
    };
    stats.lines().filter_map(count).sum()
}

#[cfg(test)]
mod tests;
