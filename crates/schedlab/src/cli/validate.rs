//! `schedlab validate`: recorded figures beside simulated ones.

use super::common::Format;
use super::output::{Failure, Stream, command_line, print, write};
use super::picture::PictureFormat;
use super::progress::Progress;
use super::voice::Voice;
use lab::validate::{Host, References, shipped};
use lab::{Files, Sources};
use report::text::Rows;
use schedlab::files::Disk;
use schedlab::outputs::check_folder;
use schedlab::{Error, references};
use schema::validation::Validation;
use std::path::{Path, PathBuf};

/// Say how true the simulator is: run what was recorded on real kernels, and set each figure beside the
/// recorded one.
///
/// A folder is searched for references (reference.toml, which validation/README.md describes) and for traces
/// without one. Programs that a reference names run as loads, traces are replayed, on what recorded them and
/// on something else of which there is a recording. A bound that is missed without a known reason makes the
/// exit code 1.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A folder, a trace, or the beginning of the names of references that come with the program
    /// [default: all of these].
    #[arg(value_name = "DIR|NAME")]
    of: Option<String>,
    /// Store the result in this file, as JSON.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Write the page that says which questions can be trusted (docs/accuracy.md) to this file.
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Do not run anything: show the result that --save stored in this file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["of", "save"])]
    stored: Option<PathBuf>,
    /// Draw recorded distributions with the simulated ones over them, a picture for each, into this folder:
    /// REFERENCE.RUN.WHAT.svg.
    #[arg(long, value_name = "FOLDER")]
    plot: Option<PathBuf>,
    /// Format of these pictures, and the ending of their names.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = PictureFormat::Svg, requires = "plot")]
    plot_format: PictureFormat,
    /// How to print the result.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Print every figure of replays, too.
    #[arg(long)]
    full: bool,
}

pub fn execute(args: &Args, voice: Voice) -> Result<(), Failure> {
    if let Some(folder) = &args.plot {
        check_folder(folder)?;
    }
    let mut validation = match &args.stored {
        Some(file) => lab::validate::stored(&file.to_string_lossy(), &Disk)?,
        None => args.measure(voice)?,
    };
    if let Some(file) = &args.save {
        save(&validation, file, args.of.as_deref())?;
    }
    if let Some(file) = &args.page {
        write(file, &[], report::validate::page(&validation, &lab::claims()?))?;
    }
    if let Some(folder) = &args.plot {
        args.draw(&validation, folder)?;
    }
    validation.command = Some(command_line());
    match args.format {
        Format::Text => {
            let rows = if args.full { Rows::All } else { Rows::Folded };
            print(&report::text::validation(&validation, rows))?;
        }
        Format::Json => Stream::Output.exact(&validation.to_json())?,
    }
    let missed = validation.failures();
    if missed.is_empty() { Ok(()) } else { Err(Failure::Missed(missed)) }
}

/// A file is the same wherever it is made: it tells the command that makes it anew.
fn save(validation: &Validation, file: &Path, of: Option<&str>) -> Result<(), Failure> {
    let of = of.map_or(String::new(), |of| format!(" {of}"));
    let stored = Validation { command: Some(format!("schedlab validate{of}")), ..validation.clone() };
    write(file, &[], stored.to_json())
}

impl Args {
    fn draw(&self, validation: &Validation, folder: &Path) -> Result<(), Failure> {
        let pictures = report::plot::validated(validation);
        if pictures.is_empty() {
            return Err(Error::NoDistribution.into());
        }
        for picture in pictures {
            let file = folder.join(format!("{}.{}", picture.name, self.plot_format.ending()));
            write(&file, &[], self.plot_format.encoded(picture.svg)?)?;
        }
        Ok(())
    }

    fn measure(&self, voice: Voice) -> Result<Validation, Failure> {
        let files: Files = shipped();
        let is_there = |name: &&str| Disk.kind(name).is_some();
        match self.of.as_deref() {
            Some(path) if is_there(&path) => run(&references::of_path(path)?, &Disk, voice),
            name => run(&of_program(name, &files)?, &files, voice),
        }
    }
}

/// The references that come with the program, all or those of a name.
fn of_program(name: Option<&str>, files: &Files) -> Result<References, Failure> {
    let paths: Vec<String> = files.keys().cloned().collect();
    let all = References::of_files("", &paths, files)?;
    let Some(name) = name else { return Ok(all) };
    let known = all.list.iter().map(|reference| reference.name.clone()).collect();
    let named = all.named(name);
    if named.list.is_empty() {
        return Err(Error::UnknownReference { name: name.to_owned(), known }.into());
    }
    Ok(named)
}

fn run(references: &References, files: &(dyn Sources + Sync), voice: Voice) -> Result<Validation, Failure> {
    let progress = Progress::new(references.runs(), voice);
    let finished = || progress.one_more();
    let validation = references.run(Host { files, finished: &finished });
    progress.finish();
    Ok(validation?)
}
