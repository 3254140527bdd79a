//! Records the scheduler's events of this machine, into a trace.dat for replays: with what other recorders
//! leave open.
//!
//! The kernel's buffers are read as raw pages through an instance of tracefs of our own, and put into a file
//! as they are. What no event tells goes into the trace as markers: policies and affinities of the tasks
//! ([`trace::TaskNote`]), what idle CPUs did ([`trace::IdleKind`]), the machine, its groups and which command
//! was recorded ([`trace::HostNote`]). Whatever ends the recording, removing the instance takes back all that
//! was set.

mod cgroups;
mod events;
mod header;
mod host;
mod idle;
mod mounted;
mod pages;
mod price;
mod tasks;
mod tracefs;
mod watchdog;

use events::EventGroup;
pub use events::Extras;
pub use host::Host;
use idle::{CPU_DMA_LATENCY, IdleWatch};
use pages::CpuPages;
use scheduler::Nanos;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;
use thiserror::Error;
use trace::{
    CgroupCpu, DatHeader, DatPages, HostNote, Pid, RecordedCommand, TaskGroup, TaskNote, write_dat_container,
};
use tracefs::Instance;
pub use tracefs::Tracefs;

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
            "; recording needs root, or the capabilities CAP_DAC_OVERRIDE (files of tracefs) and \
             CAP_SYS_ADMIN (to mount it)"
        }
        io::ErrorKind::NotFound => {
            "; is this kernel built with tracing (CONFIG_FTRACE, CONFIG_EVENT_TRACING)?"
        }
        _ => "",
    }
}

/// A finished recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordedAmount {
    /// CPUs of the machine.
    pub cpus: usize,
    /// Bytes of pages.
    pub bytes: u64,
    /// Events.
    pub events: u64,
    /// Events that did not fit into the buffers.
    pub lost: u64,
}

/// A recording under way.
#[derive(Debug)]
pub struct TraceRecorder {
    // Fields are dropped in this order: an instance cannot be removed while its files are open.
    cpus: Vec<CpuPages>,
    instance: Instance,
    tracefs: Tracefs,
    tasks: BTreeMap<Pid, TaskNote>,
    groups: BTreeMap<Pid, TaskGroup>,
    cgroups: BTreeMap<String, CgroupCpu>,
    /// The process of the command, if there is one.
    command: Option<Pid>,
    host: Host,
    idle: IdleWatch,
    events: Vec<EventGroup>,
    event_cost: Option<Nanos>,
}

/// A recording that has ended. The kernel is as it was before.
#[derive(Debug)]
pub struct Ended {
    /// What it holds.
    pub recorded: RecordedAmount,
    /// How much longer work takes on this machine for each of its events, as measured before the recording;
    /// `None` if that could not be told.
    pub event_cost: Option<Nanos>,
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

impl TraceRecorder {
    /// Begins to record. Until it is written, the recording waits in files without a name in the folder
    /// `spool`.
    ///
    /// # Errors
    /// No right to trace, no tracing in this kernel, no place for the recording.
    pub fn start(tracefs: Tracefs, spool: &Path, extras: Extras) -> Result<TraceRecorder, RecordError> {
        let (instance, host) = (tracefs.instance()?, Host::this());
        let facts = host.notes();
        let idle = IdleWatch::new(Path::new(CPU_DMA_LATENCY));
        TraceRecorder::on(tracefs, instance, spool, Machine { host, facts, idle }, extras)
    }

    fn on(
        tracefs: Tracefs,
        instance: Instance,
        spool: &Path,
        machine: Machine,
        extras: Extras,
    ) -> Result<TraceRecorder, RecordError> {
        let Machine { host, facts, idle } = machine;
        instance.write("tracing_on", "0")?;
        // One clock for all CPUs, in nanoseconds, that neither jumps nor stops.
        instance.write("trace_clock", "mono")?;
        instance.write("buffer_size_kb", &BUFFER_KB.to_string())?;
        let page_size = header::page_size(&tracefs)?;
        let events = events::wanted(extras, host.has_block_devices());
        let event_cost = event_cost(&instance, &events)?;
        let mut cpus = Vec::new();
        for cpu in instance.cpus()? {
            cpus.push(CpuPages::open(&instance, cpu, page_size, spool)?);
        }
        let (tasks, groups) = (tasks::all(&host.proc), host.groups());
        let cgroups = host.cgroups(groups.values());
        let recorder = TraceRecorder {
            cpus,
            instance,
            tracefs,
            tasks,
            groups,
            cgroups,
            command: None,
            host,
            idle,
            events,
            event_cost,
        };
        recorder.instance.write("tracing_on", "1")?;
        for note in recorder.tasks.values() {
            recorder.mark(note)?;
        }
        for (&tgid, group) in &recorder.groups {
            recorder.mark(&HostNote::Group { tgid, group: group.clone() })?;
        }
        for (path, cpu) in &recorder.cgroups {
            recorder.mark(&HostNote::Cgroup { path: path.clone(), cpu: *cpu })?;
        }
        for fact in &facts {
            recorder.mark(fact)?;
        }
        // What the recorder calls tells nothing.
        if extras.syscalls {
            let others = format!("common_pid != {}", std::process::id());
            recorder.instance.write("events/syscalls/filter", &others)?;
        }
        enable(&recorder.instance, &recorder.events)?;
        Ok(recorder)
    }

    /// Says which command is recorded: the process `pid` and its descendants.
    ///
    /// # Errors
    /// Those of tracefs.
    pub fn command(&mut self, pid: u32, words: &str) -> Result<(), RecordError> {
        let pid = Pid(i32::try_from(pid).unwrap_or(0));
        self.command = Some(pid);
        self.mark(&HostNote::Command(RecordedCommand { pid, words: words.to_owned(), stopped: false }))
    }

    /// Says that the command is not done when the recording ends.
    ///
    /// # Errors
    /// Those of tracefs.
    pub fn command_stopped(&mut self) -> Result<(), RecordError> {
        self.command.map_or(Ok(()), |pid| self.mark(&HostNote::Stopped(pid)))
    }

    fn mark(&self, note: &impl fmt::Display) -> Result<(), RecordError> {
        self.instance.mark(&note.to_string())
    }

    /// Takes what the kernel has so far. To be called several times a second, or its buffers overflow.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn collect(&mut self) -> Result<(), RecordError> {
        self.idle.look();
        self.follow_command()?;
        for cpu in &mut self.cpus {
            cpu.collect()?;
        }
        Ok(())
    }

    /// The command and what comes from it may give themselves other policies, CPUs and groups before they
    /// begin their work.
    fn follow_command(&mut self) -> Result<(), RecordError> {
        let Some(command) = self.command else { return Ok(()) };
        for (pid, note) in tasks::family(&self.host.proc, command) {
            if self.tasks.get(&pid).is_none_or(|known| known.facts != note.facts) {
                self.mark(&note)?;
                self.tasks.insert(pid, note);
            }
        }
        self.follow_group(command)
    }

    fn follow_group(&mut self, tgid: Pid) -> Result<(), RecordError> {
        let Some(group) = self.host.group(tgid) else { return Ok(()) };
        // A process that ends is in the first group, in a hierarchy of version 1.
        if group.cgroup != "/" && self.groups.get(&tgid) != Some(&group) {
            self.mark(&HostNote::Group { tgid, group: group.clone() })?;
            self.groups.insert(tgid, group);
            self.mark_cgroups()?;
        }
        Ok(())
    }

    /// What has changed since it was last said of the cgroups in use. A group may be gone when the recording
    /// ends.
    fn mark_cgroups(&mut self) -> Result<(), RecordError> {
        for (path, cpu) in self.host.cgroups(self.groups.values()) {
            if self.cgroups.get(&path) != Some(&cpu) {
                self.mark(&HostNote::Cgroup { path: path.clone(), cpu })?;
                self.cgroups.insert(path, cpu);
            }
        }
        Ok(())
    }

    /// What there is so far.
    ///
    /// # Errors
    /// Those of tracefs.
    pub fn so_far(&self) -> Result<RecordedAmount, RecordError> {
        let mut sum = RecordedAmount { cpus: self.cpus.len(), bytes: 0, events: 0, lost: 0 };
        for cpu in &self.cpus {
            let stats = self.instance.stats(cpu.cpu())?;
            sum.bytes += cpu.bytes();
            sum.events += recorded(&stats);
            sum.lost += lost(&stats);
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
            self.mark(&idle)?;
        }
        // Who was born meanwhile.
        for (pid, note) in tasks::all(&self.host.proc) {
            if !self.tasks.contains_key(&pid) {
                self.mark(&note)?;
                self.tasks.insert(pid, note);
            }
        }
        for (tgid, group) in self.host.groups() {
            if !self.groups.contains_key(&tgid) {
                self.mark(&HostNote::Group { tgid, group: group.clone() })?;
                self.groups.insert(tgid, group);
            }
        }
        self.mark_cgroups()?;
        self.instance.write("tracing_on", "0")?;
        for cpu in &mut self.cpus {
            cpu.drain()?;
        }
        let recorded = self.so_far()?;
        let mut stats = Vec::new();
        for cpu in &self.cpus {
            stats.push(format!("CPU: {}\n{}", cpu.cpu(), self.instance.stats(cpu.cpu())?));
        }
        let header = header::header(&self.tracefs, &self.events, &self.tasks, stats)?;
        let TraceRecorder { cpus, instance, event_cost, .. } = self;
        let mut pages = BTreeMap::new();
        for cpu in cpus {
            let (number, len) = (cpu.cpu() as usize, cpu.bytes());
            pages.insert(number, Pages { len, file: cpu.into_pages()? });
        }
        Ok(Ended { recorded, event_cost, left_over: instance.remove().err(), header, pages })
    }
}

/// What is recorded beside events.
struct Machine {
    host: Host,
    facts: Vec<HostNote>,
    idle: IdleWatch,
}

fn enable(instance: &Instance, groups: &[EventGroup]) -> Result<(), RecordError> {
    for EventGroup { system, events } in groups {
        for event in *events {
            let switch = format!("events/{system}/{event}/enable");
            if instance.has(&switch) {
                instance.write(&switch, "1")?;
            }
        }
    }
    Ok(())
}

/// Measures what an event costs, in the instance that will record, and leaves that as it was: off and empty.
fn event_cost(instance: &Instance, groups: &[EventGroup]) -> Result<Option<Nanos>, RecordError> {
    let work =
        || price::wakeups().map_err(|source| RecordError::of("measure", "the cost of an event", source));
    let so_far = || -> Result<u64, RecordError> {
        let stats = instance.cpus()?.into_iter().map(|cpu| instance.stats(cpu));
        stats.map(|stats| stats.map(|stats| recorded(&stats) + lost(&stats))).sum()
    };
    let mut tries = Vec::with_capacity(price::TRIES);
    let mut before = so_far()?;
    for _ in 0..price::TRIES {
        let without = work()?;
        instance.write("tracing_on", "1")?;
        enable(instance, groups)?;
        let with = work()?;
        instance.write("events/enable", "0")?;
        instance.write("tracing_on", "0")?;
        let now = so_far()?;
        tries.push(price::Try { without, with, events: now.saturating_sub(before) });
        before = now;
    }
    instance.clear()?;
    Ok(price::of_event(&tries))
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

/// Events that a CPU's buffer has and had, by its statistics.
fn recorded(stats: &str) -> u64 {
    sum(stats, &["entries", "read events"])
}

/// Events that it could not keep.
fn lost(stats: &str) -> u64 {
    sum(stats, &["overrun", "commit overrun", "dropped events"])
}

fn sum(stats: &str, names: &[&str]) -> u64 {
    let count = |line: &str| {
        let (name, value) = line.split_once(':')?;
        names.contains(&name).then(|| value.trim().parse::<u64>().ok())?
    };
    stats.lines().filter_map(count).sum()
}

#[cfg(test)]
mod tests;
