//! From what the user gives as a load to a load: a command line, an rt-app file, a workload file, a recorded
//! trace.

use crate::error::Error;
use crate::machines::{DescribedMachine, NamedMachine};
use crate::reading::Reading;
use crate::sources::{Input, STANDARD_STREAM, SourceKind, Sources, shown, text_of};
use crate::stored_result;
use crate::task_options::TaskOptions;
use machine::{MachineSpec, Setup, WakePaths, Window};
use scheduler::{DlParams, GroupId, Policy};
use std::path::PathBuf;
use std::sync::Arc;
use trace::Trace;
use workload::deadlines::Deadlines;
use workload::groups::Members;
use workload::load::{self, BuiltLoad, Length, Load, LoadError};
use workload::replay::{
    Changed, Origin, Override, ReadOptions, Recording, Replay, TaskSelector, is_workload,
};
use workload::rtapp::{self, RtApp};

/// Endings by which a word is taken for a file even if no such file exists.
const FILE_ENDINGS: [&str; 11] = [
    ".json",
    ".jsonl",
    ".workload",
    ".dat",
    ".data",
    ".txt",
    ".trace",
    ".ftrace",
    ".gz",
    ".pftrace",
    ".perfetto-trace",
];
/// Bytes by which a trace is told from other files.
pub(crate) const HEAD: u64 = 4096;

/// Where the recorder of a trace puts the description of the machine: beside it.
#[must_use]
pub fn machine_beside(trace: &str) -> PathBuf {
    format!("{trace}.machine.toml").into()
}

/// What a word means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoadSource {
    /// A command line such as `cyclictest -t8 -p90`.
    CommandLine,
    /// A file.
    File,
}

impl LoadSource {
    /// A word names a file if there is a file (or a pipe: `/dev/stdin`) of this name or it ends as such
    /// files do, or if it is a path from here (`./name`). The bare name of a standard load is always that
    /// load; a file of that name is written `./hackbench`. `-` is standard input.
    #[must_use]
    pub fn of(text: &str, files: &dyn Sources) -> LoadSource {
        let ends_like_a_file = FILE_ENDINGS.iter().any(|ending| text.ends_with(ending));
        let is_load = load::entries().iter().any(|entry| entry.name == text);
        let is_path =
            !text.contains(char::is_whitespace) && (text.starts_with("./") || text.starts_with("../"));
        let is_file = text == STANDARD_STREAM || ends_like_a_file || is_path || files.kind(text).is_some();
        if !is_load && is_file { LoadSource::File } else { LoadSource::CommandLine }
    }
}

/// A load of an experiment. Cheap to clone.
#[derive(Clone, Debug)]
pub struct LoadSpec {
    text: String,
    kind: Kind,
    words: Words,
}

/// What makes a load once more, beside its name.
#[derive(Clone, Debug)]
pub(crate) enum Words {
    /// Nothing: its name is a command line.
    CommandLine,
    /// Its name is that of a file.
    File(ReadFile),
    /// It was made by other means, and nobody can write down how.
    None,
}

/// A file that was read.
#[derive(Clone, Debug)]
pub(crate) struct ReadFile {
    /// As [`schema::FileText::xxh128`].
    pub content_hash: Option<String>,
    /// How it was read.
    pub reading: Reading,
    /// What has been changed since, each on top of those before.
    pub changes: Vec<TaskOptions>,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Made from a command line, or by whoever uses the library.
    Other(Arc<dyn Load>),
    /// From an rt-app file with this content.
    RtApp { app: RtApp, text: Arc<str> },
    /// From a recorded trace, or a workload file made of one.
    Replay(Arc<RecordedLoad>),
}

/// A recorded trace.
#[derive(Clone, Debug)]
pub(crate) struct RecordedLoad {
    /// Its tasks.
    pub replay: Replay,
    /// The machine on which it was recorded, as far as the user said so.
    pub machine: Option<NamedMachine>,
    /// What describes that machine: a file beside the recording, or else the workload file itself.
    pub described: Option<DescribedMachine>,
}

impl RecordedLoad {
    /// On what it was recorded, as far as the user said so.
    pub fn on(&self) -> Option<&MachineSpec> {
        self.machine.as_ref().map(NamedMachine::spec)
    }
}

impl LoadSpec {
    /// Opens what the user gave.
    ///
    /// # Errors
    /// A command line that is not understood, a file that cannot be read, an rt-app file or a trace that is
    /// damaged.
    pub fn open(text: &str, files: &dyn Sources) -> Result<LoadSpec, Error> {
        LoadSpec::open_as(text, &Reading::default(), files)
    }

    /// As [`LoadSpec::open`], with more to say about files.
    ///
    /// # Errors
    /// As [`LoadSpec::open`].
    pub fn open_as(text: &str, reading: &Reading, files: &dyn Sources) -> Result<LoadSpec, Error> {
        match LoadSource::of(text, files) {
            LoadSource::CommandLine => LoadSpec::of_command_line(text),
            LoadSource::File => LoadSpec::open_file(text, reading, files),
        }
    }

    /// A standard load, even if a file has its name.
    pub(crate) fn of_command_line(text: &str) -> Result<LoadSpec, Error> {
        let kind = Kind::Other(load::parse(text)?.into());
        Ok(LoadSpec { text: text.to_owned(), kind, words: Words::CommandLine })
    }

    /// Opens a file, however it is called.
    ///
    /// # Errors
    /// As [`LoadSpec::open`].
    pub fn open_file(path: &str, reading: &Reading, files: &dyn Sources) -> Result<LoadSpec, Error> {
        let mut input = Input::open(path, files)?;
        let content_hash = input.content_hash()?;
        let head = input.head(HEAD)?;
        if stored_result::schema(head).is_some() || stored_result::is_experiment(head) {
            return Err(Error::ResultAmongLoads { path: shown(path) });
        }
        let kind = if is_workload(head) {
            workload(path, input.into_bytes()?, reading, files)?
        } else if is_rt_app(path, head) {
            rt_app(path, input.into_bytes()?, reading)?
        } else {
            replay(path, input.into_trace()?, reading, files)
        };
        let words = Words::File(ReadFile { content_hash, reading: reading.clone(), changes: Vec::new() });
        Ok(LoadSpec { text: path.to_owned(), kind, words })
    }

    /// Its tasks as a workload file, with the file of the recorded machine in it; `None` unless it is a
    /// recording or came from such a file.
    ///
    /// # Errors
    /// The file of the machine cannot be read.
    pub fn workload_text(&self, files: &dyn Sources) -> Result<Option<String>, Error> {
        let Some(RecordedLoad { replay, .. }) = self.recorded() else { return Ok(None) };
        let machine = self.described_machine().map(|machine| machine.text(files)).transpose()?;
        let origin =
            Origin { kernel: replay.kernel(), machine: machine.as_deref(), caveats: Some(replay.caveats()) };
        Ok(Some(replay.recording().to_text(origin)))
    }

    /// A load made by other means, under the name that results show.
    pub fn new(text: impl Into<String>, load: impl Load + 'static) -> LoadSpec {
        LoadSpec { text: text.into(), kind: Kind::Other(Arc::new(load)), words: Words::None }
    }

    /// Says on which machine a trace was recorded: what that machine's kernel did around the tasks is taken
    /// out of their recorded CPU time, because the simulated one does it again. Other loads stay as they are.
    #[must_use]
    pub fn recorded_on(self, machine: &NamedMachine) -> LoadSpec {
        self.map_recorded(|recorded| RecordedLoad {
            replay: recorded.replay.recorded_on(machine.spec()),
            machine: Some(machine.clone()),
            ..recorded
        })
    }

    /// Changes tasks of a recording, on top of what has been changed before. Other loads stay as they are.
    #[must_use]
    pub fn with_tasks(self, tasks: &TaskOptions) -> LoadSpec {
        let mut load =
            self.map_recorded(|recorded| RecordedLoad { replay: tasks.change(recorded.replay), ..recorded });
        if let Words::File(file) = &mut load.words
            && *tasks != TaskOptions::default()
        {
            file.changes.push(tasks.clone());
        }
        load
    }

    /// Tasks of a recording become deadline tasks, by the last of these rules that means them, whatever
    /// policies they set themselves. Other loads stay as they are.
    pub(crate) fn with_deadlines(self, rules: &[(TaskSelector, DlParams)]) -> LoadSpec {
        let change = |(whom, params): &(TaskSelector, DlParams)| Override {
            whom: whom.clone(),
            what: Changed::Policy(Policy::Deadline(*params)),
        };
        let overrides: Vec<Override> = rules.iter().map(change).collect();
        self.map_recorded(|recorded| RecordedLoad {
            replay: recorded.replay.with_overrides(&overrides),
            ..recorded
        })
    }

    /// A recording without the user's changes.
    #[must_use]
    pub(crate) fn without_changes(self) -> LoadSpec {
        if !self.recorded().is_some_and(|recorded| recorded.replay.is_changed()) {
            return self;
        }
        let load =
            self.map_recorded(|recorded| RecordedLoad { replay: recorded.replay.as_recorded(), ..recorded });
        // What the user knows of affinities stays, and no text says that of a part of what was said.
        LoadSpec { words: Words::None, ..load }
    }

    /// Another recording in place of this one, if it is one; copied only if somebody else has it, too.
    fn map_recorded(self, change: impl FnOnce(RecordedLoad) -> RecordedLoad) -> LoadSpec {
        let kind = match self.kind {
            Kind::Replay(recorded) => Kind::Replay(Arc::new(change(Arc::unwrap_or_clone(recorded)))),
            other => other,
        };
        LoadSpec { kind, ..self }
    }

    /// Whether it does the same as another one in every run.
    pub(crate) fn is_same(&self, other: &LoadSpec) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::Other(mine), Kind::Other(others)) => Arc::ptr_eq(mine, others) || self.text == other.text,
            (Kind::RtApp { text: mine, .. }, Kind::RtApp { text: others, .. }) => mine == others,
            (Kind::Replay(mine), Kind::Replay(others)) => {
                mine.on() == others.on() && mine.replay.plays_as(&others.replay)
            }
            _ => false,
        }
    }

    /// What decides its run, the content of its file included, if that can be told.
    pub(crate) fn written(&self) -> Option<String> {
        let on = self.recorded().and_then(RecordedLoad::on);
        match &self.words {
            Words::CommandLine => Some(self.text.clone()),
            Words::File(file @ ReadFile { content_hash: Some(_), .. }) => Some(format!("{file:?} {on:?}")),
            Words::File(_) | Words::None => None,
        }
    }

    /// As it was given.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What makes it once more, beside that.
    pub(crate) fn words(&self) -> &Words {
        &self.words
    }

    /// The file, if it was read from one.
    pub(crate) fn file(&self) -> Option<&ReadFile> {
        match &self.words {
            Words::File(file) => Some(file),
            Words::CommandLine | Words::None => None,
        }
    }

    /// Number of CPUs of the machine on which it was recorded, if it is a recording.
    #[must_use]
    pub fn recorded_cpus(&self) -> Option<usize> {
        self.recorded().map(|recorded| recorded.replay.cpus() as usize)
    }

    /// Whether it is a recording with such a task.
    #[must_use]
    pub fn has_task(&self, whom: &TaskSelector) -> bool {
        self.recorded().is_some_and(|recorded| recorded.replay.has_task(whom))
    }

    /// The description of the machine on which it was recorded, if it is a recording with one: beside it, or
    /// else in it.
    #[must_use]
    pub fn described_machine(&self) -> Option<DescribedMachine> {
        self.recorded()?.described.clone()
    }

    /// The kernel that recorded it as in `uname`, if it is a recording that says so.
    #[must_use]
    pub fn recorded_kernel(&self) -> Option<&str> {
        self.recorded().and_then(|recorded| recorded.replay.kernel())
    }

    /// Whether it is a recording in which mutexes were found.
    #[must_use]
    pub fn has_mutexes(&self) -> bool {
        self.recorded().is_some_and(|recorded| recorded.replay.recording().counts.handed_over > 0)
    }

    /// How long it took from wakeups to the woken tasks when it was recorded, if it is a recording that shows
    /// it.
    pub(crate) fn recorded_paths(&self) -> Option<&WakePaths> {
        Some(&self.recorded()?.replay.recording().paths).filter(|paths| !paths.is_empty())
    }

    /// The recording, if it is one.
    pub(crate) fn recorded(&self) -> Option<&RecordedLoad> {
        match &self.kind {
            Kind::Replay(recorded) => Some(recorded),
            Kind::Other(_) | Kind::RtApp { .. } => None,
        }
    }

    /// Whether it says itself which groups there are: a recording, an rt-app file.
    pub(crate) fn may_have_groups(&self) -> bool {
        !matches!(self.kind, Kind::Other(_))
    }

    fn load(&self) -> &dyn Load {
        match &self.kind {
            Kind::Other(load) => &**load,
            Kind::RtApp { app, .. } => app,
            Kind::Replay(recorded) => &recorded.replay,
        }
    }

    pub(crate) fn length(&self) -> Length {
        self.load().length()
    }

    /// Whether it comes to an end by itself.
    pub(crate) fn ends(&self) -> bool {
        self.length() != Length::Endless
    }

    /// That no time until it is done is compared, if it could have one.
    pub(crate) fn note_on_endlessness(&self) -> Option<String> {
        let more = self.load().ends_with()?;
        Some(format!("{}: endless, so no time until it is done is compared; give {more}", self.text()))
    }

    pub(crate) fn warnings(&self) -> Vec<String> {
        self.load().warnings()
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        self.load().notes()
    }

    /// Its tasks on a machine, in their groups; `session` is that of those that are in no other. Deadline
    /// tasks of a recording have been made before ([`LoadSpec::with_deadlines`]).
    pub(crate) fn build(
        &self,
        setup: &mut Setup,
        members: &Members,
        deadlines: &Deadlines,
        session: Option<GroupId>,
    ) -> Result<BuiltLoad, Error> {
        let first = setup.spawned();
        let built = match self.recorded() {
            Some(recorded) => {
                deadlines.meet(|whom| recorded.replay.has_task(whom));
                recorded.replay.build_in(setup, members, session)
            }
            None => self.load().build(setup).inspect(|_| {
                setup.change_tasks(first, |pid, spec| members.first(pid, spec, session));
                setup.change_tasks(first, |pid, spec| deadlines.first(pid, spec));
            }),
        };
        built.map_err(|error| match (error, &self.kind) {
            (LoadError::RtApp(error), Kind::RtApp { text, .. }) => Error::RtApp { error, text: text.clone() },
            (error, _) => Error::Load(error),
        })
    }
}

/// Traces are told apart by content; what is neither JSON by name nor by its first letter is one, and so are
/// Chrome's JSON and the log of a run.
fn is_rt_app(name: &str, bytes: &[u8]) -> bool {
    let others = [&b"{\"displayTimeUnit\""[..], b"{\"traceEvents\"", b"{\"schema\":\"schedlab-log/"];
    !others.iter().any(|magic| bytes.starts_with(magic))
        && (name.ends_with(".json") || bytes.trim_ascii_start().starts_with(b"{"))
}

/// Whether a word names a recording. Standard input, which can be read only once, is taken for one.
pub(crate) fn is_recording(word: &str, files: &dyn Sources) -> Result<bool, Error> {
    if word == STANDARD_STREAM {
        return Ok(true);
    }
    if LoadSource::of(word, files) != LoadSource::File {
        return Ok(false);
    }
    let mut input = Input::open(word, files)?;
    let head = input.head(HEAD)?;
    let is_result = stored_result::schema(head).is_some() || stored_result::is_experiment(head);
    Ok(!is_result && !is_workload(head) && !is_rt_app(word, head))
}

/// The description of a machine that lies beside a recording.
fn beside(recording: &str, files: &dyn Sources) -> Option<DescribedMachine> {
    let path = machine_beside(recording);
    // Nothing lies beside standard input.
    let is_there = recording != STANDARD_STREAM && files.kind(path.to_str()?) == Some(SourceKind::File);
    is_there.then_some(DescribedMachine::Beside(path))
}

fn workload(name: &str, bytes: Vec<u8>, reading: &Reading, files: &dyn Sources) -> Result<Kind, Error> {
    let text: Arc<str> = text_of(name, bytes)?.into();
    match Recording::from_text(&text) {
        Ok(workload) => {
            let inside = workload.machine.as_deref().map(Arc::from);
            let inside = inside.map(|text| DescribedMachine::Inside { workload: shown(name), text });
            let described = beside(name, files).or(inside);
            let replay = reading.read(Replay::of_workload(workload));
            Ok(Kind::Replay(Arc::new(RecordedLoad { replay, machine: None, described })))
        }
        Err(error) => Err(Error::Workload { path: shown(name), error, text }),
    }
}

fn rt_app(name: &str, bytes: Vec<u8>, reading: &Reading) -> Result<Kind, Error> {
    let text: Arc<str> = text_of(name, bytes)?.into();
    match rtapp::parse(&text, &shown(name), reading.dialect) {
        Ok(app) => Ok(Kind::RtApp { app, text }),
        Err(error) => Err(Error::RtApp { error, text }),
    }
}

fn replay(name: &str, trace: Trace, reading: &Reading, files: &dyn Sources) -> Kind {
    let window = reading.window.unwrap_or(Window::ALL);
    let options = ReadOptions { locks: reading.locks, window, groups: reading.groups };
    let replay = reading.read(Replay::read(trace, options));
    Kind::Replay(Arc::new(RecordedLoad { replay, machine: None, described: beside(name, files) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::Files;

    #[test]
    fn files_are_told_from_command_lines() {
        let files = Files::from([("Cargo.toml".to_owned(), Vec::new())]);
        let file = |text| LoadSource::of(text, &files) == LoadSource::File;
        assert!(file("Cargo.toml") && !file("Cargo.lock"), "what is there is not taken for a command");
        assert!(file("no-such.json") && file("some/where/trace.dat") && file("x.ftrace"));
        assert!(!file("cyclictest -t8") && !file("hackbench") && !file("/usr/bin/hackbench -g 4"));
    }

    #[test]
    fn rt_app_files_are_known_by_name_or_content() {
        assert!(is_rt_app("a.json", b"/* comment */ {}") && is_rt_app("a", b"\n {"));
        assert!(!is_rt_app("a.txt", b"# tracer: nop"));
    }
}
