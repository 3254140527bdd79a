//! `--plot FILE`: a picture beside what is printed, in the format that the ending of the name says.

use super::output::{Failure, open};
use clap::ValueEnum;
use report::page::Timeline;
use report::page::timeline::Task;
use report::plot::Latencies;
use schedlab::Error;
use schedlab::outputs::Output;
use std::io::Write;
use std::path::{Path, PathBuf};
use workload::replay::TaskSelector;

/// A picture under way.
#[derive(Debug)]
pub struct Picture {
    file: Output,
    format: PictureFormat,
}

/// How a picture is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PictureFormat {
    /// Lines and letters as text, which a browser shows at any size.
    Svg,
    /// Pixels, two for each of the SVG's.
    Png,
}

impl PictureFormat {
    /// The ending of its files.
    pub fn ending(self) -> &'static str {
        match self {
            PictureFormat::Svg => "svg",
            PictureFormat::Png => "png",
        }
    }

    /// The bytes of a picture.
    pub fn encoded(self, svg: String) -> Result<Vec<u8>, Error> {
        match self {
            PictureFormat::Svg => Ok(svg.into_bytes()),
            PictureFormat::Png => report::plot::png(&svg).map_err(Error::Picture),
        }
    }
}

impl Picture {
    /// Begins to write it, so that nobody waits for a result whose picture cannot be written.
    pub fn open(path: &Path, inputs: &[PathBuf]) -> Result<Picture, Failure> {
        let format = match path.extension().and_then(|ending| ending.to_str()) {
            Some("svg") => PictureFormat::Svg,
            Some("png") => PictureFormat::Png,
            _ => return Err(Error::PictureEnding(path.to_owned()).into()),
        };
        Ok(Picture { file: open(path, inputs)?, format })
    }

    /// Writes it.
    pub fn write(mut self, svg: String) -> Result<(), Failure> {
        let bytes = self.format.encoded(svg)?;
        self.file.write_all(&bytes).map_err(|source| self.file.failed(source))?;
        Ok(self.file.commit()?)
    }

    /// Writes one timeline: rows of CPUs and of these tasks, or of all, and how long woken ones waited.
    pub fn write_timeline(self, timeline: &Timeline, tasks: &[TaskSelector]) -> Result<(), Failure> {
        if !timeline.has_events() {
            return Err(Error::NothingHappens.into());
        }
        self.write(timeline.svg(|task| is_meant(task, tasks)))
    }

    /// Writes how long these tasks, or all, waited once they were woken in several, over each other.
    pub fn write_latencies(self, timelines: &[Timeline], tasks: &[TaskSelector]) -> Result<(), Failure> {
        let each = timelines.iter().map(|one| Latencies {
            name: one.name.clone(),
            each_ns: one.latencies_ns(|task| is_meant(task, tasks)),
        });
        let each: Vec<Latencies> = each.collect();
        self.write(report::plot::latencies(&each).ok_or(Error::NobodyWoken)?.svg)
    }
}

/// Whether it is one of these, by any of its names, or all are meant.
fn is_meant(task: &Task, tasks: &[TaskSelector]) -> bool {
    let names = || task.names.iter().map(String::as_str).chain(task.names.is_empty().then_some(""));
    let is_it = |whom: &TaskSelector| names().any(|comm| whom.matches(task.pid.unsigned_abs(), comm));
    tasks.is_empty() || tasks.iter().any(is_it)
}
