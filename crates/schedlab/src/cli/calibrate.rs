//! `schedlab calibrate`: this machine as a machine file.

use super::calibrate_check::CheckOptions;
use super::common::Format;
use super::output::{Failure, Stream, command_line, open};
use super::progress::Spinner;
use super::voice::Voice;
use lab::STANDARD_STREAM;
use machine::OriginKind;
use schedlab::Error;
use schedlab::calibration::{Calibrated, EntrySource, Observation, TimerRun, calibrate};
use schedlab::clocks::wall;
use schema::CalibrateSchema;
use schema::calibration::{CalibratedEntry, CalibratedTimer, Calibration, EntryOrigin, Observed};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Measure this machine and write a machine file, every figure with its origin and spread.
///
/// Takes about a minute, on the CPUs that this process may use. Let the machine do nothing else meanwhile.
/// With -o the report is printed: where every entry comes from, by which probe, or why it was not measured;
/// and how late timers were. With --check a file is held against this machine instead.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to write the machine file [default: standard output, as with `-`].
    #[arg(short, long, value_name = "FILE", default_value = STANDARD_STREAM, hide_default_value = true)]
    output: PathBuf,
    /// Name of the machine in the file.
    #[arg(long, value_name = "NAME", default_value = "measured", value_parser = name)]
    name: String,
    /// How to print the report; as JSON it has the machine file in it.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    check: CheckOptions,
}

pub fn execute(args: &Args, voice: Voice) -> Result<(), Failure> {
    if let Some(machine) = &args.check.check {
        return args.check.execute(machine, args.format, voice);
    }
    let to_stream = args.output == Path::new(STANDARD_STREAM);
    let mut output = match (to_stream, args.format) {
        // What goes to standard output is the report then, and the file is in it.
        (true, Format::Json) => None,
        _ => Some(open(&args.output, &[])?),
    };
    let start = wall();
    let spinner = Spinner::new("measuring {msg}", voice);
    let calibrated = calibrate(&args.name, &mut |what| spinner.says(what));
    spinner.finish();
    let calibrated = calibrated.map_err(Error::Calibrate)?;
    for warning in &calibrated.warnings {
        voice.warn(warning);
    }
    if let Some(mut output) = output.take() {
        output.write_all(calibrated.text.as_bytes()).map_err(|source| output.failed(source))?;
        output.commit()?;
    }
    let report = report(calibrated, (wall() - start).0 / 1_000_000);
    match args.format {
        Format::Text if to_stream => Ok(()),
        Format::Text => Stream::Output.text(&report::text::calibration(&report)),
        Format::Json => Stream::Output.exact(&report.to_json()),
    }
}

/// What was measured, as it is told.
fn report(calibrated: Calibrated, took_ms: u64) -> Calibration {
    let Calibrated { text, spec, sources, observations, timers, warnings } = calibrated;
    Calibration {
        schema: CalibrateSchema,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: Some(command_line()),
        machine: spec.name.clone(),
        cpus: spec.cpus() as u32,
        took_ms,
        warnings,
        entries: sources.into_iter().map(entry).collect(),
        observations: observations.into_iter().map(observed).collect(),
        timers: timers.runs.iter().map(timer).collect(),
        slack_told_ns: timers.told_slack_ns,
        slack_seen_ns: timers.slack_ns(),
        file: text,
    }
}

fn entry(source: EntrySource) -> CalibratedEntry {
    let EntrySource { entry, value, kind, probe, samples, how } = source;
    let from = match kind {
        Some(OriginKind::Measured) => EntryOrigin::Measured,
        Some(OriginKind::Published) => EntryOrigin::Published,
        Some(OriginKind::Assumed) => EntryOrigin::Assumed,
        None => EntryOrigin::LeftOut,
    };
    let samples = samples.map(|samples| samples as u64);
    CalibratedEntry { entry, value, from, probe: probe.map(str::to_owned), samples, how }
}

fn observed(Observation { what, value, how }: Observation) -> Observed {
    Observed { what, value, how }
}

fn timer(run: &TimerRun) -> CalibratedTimer {
    let late = run.lateness;
    CalibratedTimer {
        policy: run.sleeper.name().to_owned(),
        meanwhile: run.meanwhile.name().to_owned(),
        interval_ns: run.interval_ns,
        samples: late.samples as u64,
        floor_ns: late.floor_ns,
        p10_ns: late.p10_ns,
        p50_ns: late.p50_ns,
        p90_ns: late.p90_ns,
        p99_ns: late.p99_ns,
        max_ns: late.max_ns,
    }
}

/// As machine files have it.
fn name(text: &str) -> Result<String, String> {
    let letter = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !text.is_empty() && text.chars().all(letter) {
        Ok(text.to_owned())
    } else {
        Err("use letters, digits and -_. only".to_owned())
    }
}
