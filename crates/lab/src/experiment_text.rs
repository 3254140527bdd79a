//! An experiment as text and back. The command line, experiment files and results all say it in this form.

use crate::dumps::DumpRequest;
use crate::error::Error;
use crate::experiment::Experiment;
use crate::groups::Groups;
use crate::kernel::{KernelConfig, NamedKernel};
use crate::loads::{LoadSource, LoadSpec, ReadFile, Words};
use crate::machines::NamedMachine;
use crate::reading::Reading;
use crate::sources::{STANDARD_STREAM, Sources};
use crate::task_options::TaskOptions;
use machine::{Redraw, Window};
use scheduler::Nanos;
use schema::{ExperimentText, FileText, KernelChange, LoadText, MachineText, RedrawText, Stretch};
use workload::replay::TaskSelector;

/// A load as the user gives it; what is a file is read so.
#[must_use]
pub fn load_text(word: &str, file: &FileText, files: &dyn Sources) -> LoadText {
    let is_file = LoadSource::of(word, files) == LoadSource::File;
    LoadText { load: word.to_owned(), file: is_file.then(|| file.clone()) }
}

impl Experiment {
    /// What a text says, with the files that it names.
    ///
    /// # Errors
    /// Whatever is wrong with a load, the machine, the kernel, a setting, a group, a task or a dump; a file
    /// that is not there or has changed since the text was written; options for a task that no recording
    /// has; mutexes that are to be inferred, and no recording shows any.
    pub fn open(text: &ExperimentText, files: &dyn Sources) -> Result<Experiment, Error> {
        if text.loads.iter().filter(|load| load.file.is_some() && load.load == STANDARD_STREAM).count() > 1 {
            return Err(Error::StdinTwice);
        }
        let dumps = text.dumps.iter().map(|dump| DumpRequest::parse(dump)).collect::<Result<_, _>>()?;
        let tasks =
            |task: &String| task.parse().map_err(|problem| Error::Settings { word: task.clone(), problem });
        let tasks = text.tasks.iter().map(tasks).collect::<Result<_, _>>()?;
        let window = text.stretch.map(Window::from);
        if let Some(Window { from, to }) = window
            && to <= from
        {
            return Err(Error::NothingBetween { from, to });
        }
        let open = |load: &LoadText| open_load(load, window, files);
        let mut loads = text.loads.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        for file in loads.iter().filter_map(LoadSpec::file) {
            file.reading.check(&loads)?;
            file.changes.iter().try_for_each(|tasks| tasks.check(&loads))?;
        }
        let recorded = loads.iter().filter_map(LoadSpec::recorded_kernel).find_map(NamedKernel::of_uname);
        let kernel = match recorded.filter(|_| text.kernel.is_none()) {
            Some(recorded) => KernelConfig::of_text(text)?.with_named(recorded),
            None => KernelConfig::of_text(text)?,
        };
        let groups = Groups::of_text(text)?;
        let machine = NamedMachine::open(&text.machine, &loads, files)?;
        for (load, LoadText { file, .. }) in loads.iter_mut().zip(&text.loads) {
            if let Some(origin) = file.as_ref().and_then(|file| file.recorded_on.as_ref()) {
                let is_here = *origin == MachineText::default();
                let origin = if is_here { machine.clone() } else { NamedMachine::open(origin, &[], files)? };
                *load = load.clone().recorded_on(&origin);
            }
        }
        let experiment = Experiment {
            loads,
            machine,
            kernel,
            groups,
            seed: text.seed,
            redraws: text.redraws.iter().map(|one| Redraw { at: Nanos(one.at_ns), seed: one.seed }).collect(),
            duration: text.duration_ns.map(Nanos),
            check: text.check,
            check_every: text.check_every,
            why: text.why,
            record: false,
            fidelity: !text.without_fidelity,
            dumps,
            tasks,
            window,
            changes: Vec::new(),
            clock: None,
            stop: None,
        };
        experiment.check_groups()?;
        Ok(experiment)
    }

    /// The text that [`Experiment::open`] makes this experiment of, whose runs have the same results. `None`
    /// where no text says it: with a load or a machine that was made by other means, where a recording was
    /// read for another stretch of the run, and where somebody outside changes something.
    #[must_use]
    pub fn text(&self) -> Option<ExperimentText> {
        if !self.changes.is_empty() {
            return None;
        }
        Some(self.groups.said_in(ExperimentText {
            loads: self.loads.iter().map(|load| self.load_text(load)).collect::<Option<_>>()?,
            machine: self.machine.text()?.clone(),
            kernel: Some(self.kernel.named().asked.clone()),
            settings: self.kernel.changes().iter().map(KernelChange::from).collect(),
            seed: self.seed,
            redraws: self.redraws.iter().map(|one| RedrawText { at_ns: one.at.0, seed: one.seed }).collect(),
            duration_ns: self.duration.map(|duration| duration.0),
            stretch: self.window.map(Stretch::from),
            tasks: self.tasks.iter().map(TaskSelector::word).collect(),
            dumps: self.dumps.iter().map(|dump| dump.text.clone()).collect(),
            check: self.check,
            check_every: self.check_every,
            why: self.why,
            without_fidelity: !self.fidelity,
            ..ExperimentText::default()
        }))
    }

    fn load_text(&self, load: &LoadSpec) -> Option<LoadText> {
        let file = match load.words() {
            Words::None => return None,
            Words::CommandLine => None,
            Words::File(ReadFile { reading, .. }) if reading.window != self.window => return None,
            Words::File(file) => Some(FileText {
                xxh128: file.content_hash.clone(),
                changes: changes(file),
                recorded_on: match load.recorded().and_then(|recorded| recorded.machine.as_ref()) {
                    Some(origin) if origin.text() == self.machine.text() => Some(MachineText::default()),
                    Some(origin) => Some(origin.text()?.clone()),
                    None => None,
                },
                ..file.reading.text()
            }),
        };
        Some(LoadText { load: load.text().to_owned(), file })
    }
}

fn changes(file: &ReadFile) -> Vec<Vec<String>> {
    let all = std::iter::once(&file.reading.tasks).chain(&file.changes);
    all.map(TaskOptions::words).filter(|words| !words.is_empty()).collect()
}

fn open_load(text: &LoadText, window: Option<Window>, files: &dyn Sources) -> Result<LoadSpec, Error> {
    let written_by_hand = FileText::default();
    let file = match &text.file {
        Some(file) => file,
        None => match LoadSpec::of_command_line(&text.load) {
            // What schedlab writes says of each file how to read it; people need not.
            Err(_) if LoadSource::of(&text.load, files) == LoadSource::File => &written_by_hand,
            load => return load,
        },
    };
    let mut changes = file.changes.iter().map(|words| TaskOptions::of_words(words));
    let tasks = changes.next().transpose()?.unwrap_or_default();
    let FileText { dialect, locks, groups, wakeup_costs, .. } = *file;
    let reading = Reading { dialect, locks, groups, wakeup_costs, tasks, window };
    let mut load = LoadSpec::open_file(&text.load, &reading, files)?;
    let found = load.file().and_then(|file| file.content_hash.as_ref());
    if let (Some(expected), Some(found)) = (&file.xxh128, found)
        && expected != found
    {
        let (expected, found) = (expected.clone(), found.clone());
        return Err(Error::Changed { path: text.load.clone(), expected, found });
    }
    for tasks in changes {
        load = load.with_tasks(&tasks?);
    }
    Ok(load)
}
