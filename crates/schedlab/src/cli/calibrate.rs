//! `schedlab calibrate`: this machine as a machine file.

use super::output::{Failure, open};
use super::voice::Voice;
use indicatif::{ProgressBar, ProgressStyle};
use lab::STANDARD_STREAM;
use schedlab::Error;
use schedlab::calibration::calibrate;
use std::io::Write;
use std::path::PathBuf;

/// Measure this machine and write a machine file, every figure with its origin and spread.
///
/// Takes some seconds, on the CPUs that this process may use. Let the machine do nothing else meanwhile.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to write the machine file [default: standard output, as with `-`].
    #[arg(short, long, value_name = "FILE", default_value = STANDARD_STREAM, hide_default_value = true)]
    output: PathBuf,
    /// Name of the machine in the file.
    #[arg(long, value_name = "NAME", default_value = "measured", value_parser = name)]
    name: String,
}

pub fn execute(args: &Args, voice: Voice) -> Result<(), Failure> {
    let mut output = open(&args.output, &[])?;
    let bar = ProgressBar::with_draw_target(None, voice.progress());
    bar.set_style(
        ProgressStyle::with_template("measuring {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()),
    );
    let calibrated = calibrate(&args.name, &mut |what| {
        bar.set_message(what.to_owned());
        bar.tick();
    });
    bar.finish_and_clear();
    let calibrated = calibrated.map_err(Error::Calibrate)?;
    for warning in &calibrated.warnings {
        voice.warn(warning);
    }
    output.write_all(calibrated.text.as_bytes()).map_err(|source| output.failed(source))?;
    Ok(output.commit()?)
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
