//! `schedlab record`: the scheduler's events of this machine.

use super::output::{Failure, print};
use super::voice::Voice;
use indicatif::{ProgressBar, ProgressStyle};
use schedlab::calibration::topology_alone;
use schedlab::recording::{Recorded, Recorder, Tracefs};
use schedlab::{Error, machine_beside};
use scheduler::Nanos;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use workload::units;

/// How long to record where neither a time nor a command says so.
const DEFAULT_LENGTH: Duration = Duration::from_secs(10);
/// Between two looks at the kernel's buffers, which hold half a second of a busy CPU.
const INTERVAL: Duration = Duration::from_millis(100);

/// Record the scheduler's events of this machine into a trace that replays without guessing; needs root.
///
/// Ends after the time, when the command ends, or at Ctrl-C, and then writes FILE, and FILE.machine.toml with the
/// machine's topology, which `run` takes for a machine where none is named.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// For how long, seconds without a unit [default: until the command ends; 10s without one].
    #[arg(long = "for", value_name = "TIME", value_parser = positive)]
    length: Option<Nanos>,
    /// The file to write.
    #[arg(short, long, value_name = "FILE", default_value = "trace.dat")]
    output: PathBuf,
    /// Where tracefs is mounted [default: found, or mounted for the time of the recording].
    #[arg(long, value_name = "DIR")]
    tracefs: Option<PathBuf>,
    /// A command to run meanwhile.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub fn execute(args: &Args, voice: Voice) -> Result<(), Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, stop.clone()).map_err(Failure::Output)?;
    }
    let tracefs = args.tracefs.as_deref().map_or_else(Tracefs::find, |root| Ok(Tracefs::at(root)));
    let mut recorder =
        tracefs.and_then(|tracefs| Recorder::start(tracefs, &args.output)).map_err(Error::Record)?;
    let mut command = match Running::start(&args.command) {
        Ok(command) => command,
        Err(error) => {
            drop(recorder);
            // It is empty.
            let _ = fs::remove_file(&args.output);
            return Err(error.into());
        }
    };
    let length = args.length.map(|length| Duration::from_nanos(length.0));
    let length = if command.is_none() { length.or(Some(DEFAULT_LENGTH)) } else { length };
    let watch = Watch::start();
    let line = Line::new(voice);
    let outcome = loop {
        thread::park_timeout(
            INTERVAL.min(length.map_or(INTERVAL, |length| length.saturating_sub(watch.elapsed()))),
        );
        let collected = recorder.collect().and_then(|()| recorder.so_far());
        let elapsed = watch.elapsed();
        match collected {
            Ok(so_far) => line.show(elapsed, so_far),
            Err(error) => break Err(error),
        }
        let over = length.is_some_and(|length| elapsed >= length);
        if over || stop.load(Ordering::Relaxed) || command.as_mut().is_some_and(Running::has_ended) {
            break Ok(elapsed);
        }
    };
    line.clear();
    // The recording is put away whatever becomes of the command.
    let recorded = outcome.and_then(|elapsed| Ok((elapsed, recorder.finish()?)));
    if let Some(command) = command {
        command.end();
    }
    let (elapsed, recorded) = recorded.map_err(Error::Record)?;
    let machine = machine_beside(&args.output.to_string_lossy());
    let text = topology_alone("recorded").map_err(Error::Calibrate)?;
    fs::write(&machine, text)
        .map_err(|source| Error::File { path: machine.display().to_string(), source })?;
    // What was lost is said in any case.
    if voice == Voice::Quiet && recorded.lost == 0 {
        return Ok(());
    }
    print(&summary(&args.output, elapsed, recorded))
}

fn summary(output: &Path, elapsed: Duration, recorded: Recorded) -> String {
    let mut text = format!("{}: {}\n", output.display(), figures(elapsed, recorded));
    if recorded.lost > 0 {
        text +=
            "Events were lost: the kernel's buffers were full. A replay leaves out what it cannot know.\n";
    }
    text
}

fn figures(elapsed: Duration, recorded: Recorded) -> String {
    let Recorded { cpus, bytes, lost } = recorded;
    let megabytes = bytes as f64 / 1e6;
    format!("{:.1}s, {cpus} CPUs, {megabytes:.1} MB, {lost} events lost", elapsed.as_secs_f64())
}

fn positive(text: &str) -> Result<Nanos, String> {
    units::positive_duration(text, Nanos::from_secs(1))
}

/// The wall clock: what is recorded is real.
#[allow(clippy::disallowed_types)] // No result of a simulation depends on it.
struct Watch(std::time::Instant);

#[allow(clippy::disallowed_types)]
impl Watch {
    fn start() -> Watch {
        Watch(std::time::Instant::now())
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// The line that says how it goes, if there is somebody to see it.
struct Line(ProgressBar);

impl Line {
    fn new(voice: Voice) -> Line {
        let bar = ProgressBar::with_draw_target(None, voice.progress());
        bar.set_style(
            ProgressStyle::with_template("recording: {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner()),
        );
        Line(bar)
    }

    fn show(&self, elapsed: Duration, so_far: Recorded) {
        self.0.set_message(figures(elapsed, so_far));
        self.0.tick();
    }

    fn clear(&self) {
        self.0.finish_and_clear();
    }
}

/// The command that runs meanwhile.
struct Running(Child);

impl Running {
    fn start(command: &[String]) -> Result<Option<Running>, Error> {
        let Some((program, args)) = command.split_first() else { return Ok(None) };
        let failed = |source| Error::File { path: program.clone(), source };
        Ok(Some(Running(Command::new(program).args(args).spawn().map_err(failed)?)))
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }

    /// Asks it to end if it has not, and waits for it.
    fn end(mut self) {
        if !self.has_ended()
            && let Some(pid) = i32::try_from(self.0.id()).ok().and_then(rustix::process::Pid::from_raw)
        {
            // It may have ended since.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        let _ = self.0.wait();
    }
}
