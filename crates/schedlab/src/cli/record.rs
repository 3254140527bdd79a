//! `schedlab record`: the scheduler's events of this machine.

use super::command::{PATIENCE, Running};
use super::output::{Failure, Stream, open};
use super::signals::Taken;
use super::user::User;
use super::voice::Voice;
use super::watch::Watch;
use indicatif::{ProgressBar, ProgressStyle};
use lab::machine_beside;
use report::numbers::many;
use report::text::wrap;
use schedlab::Error;
use schedlab::calibration::topology_alone;
use schedlab::outputs::Output;
use schedlab::recording::{Ended, Extras, RecordedAmount, TraceRecorder, Tracefs};
use scheduler::Nanos;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use workload::units;

/// How long to record where neither a time nor a command says so.
const DEFAULT_LENGTH: Duration = Duration::from_secs(10);
/// In a shorter recording most events are those of its own beginning and end.
const LONG_ENOUGH: Duration = Duration::from_millis(100);
/// The command may end before the first of the others: taskset and chrt have done their work by then.
const FIRST_LOOK: Duration = Duration::from_millis(10);
/// Between two looks at the kernel's buffers, which hold half a second of a busy CPU.
const INTERVAL: Duration = Duration::from_millis(100);

/// Record the scheduler's events of this machine into a trace for replays; needs root.
///
/// The trace also has what events do not tell: policies, affinities, groups, the tick rate, the machine. What
/// is not in it either, a replay infers, and says so in its notes.
///
/// Ends after the time, when the command ends, or at Ctrl-C, and then writes FILE, and FILE.machine.toml with
/// the machine's topology, which `run` takes for a machine where none is named.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// For how long, seconds without a unit [default: until the command ends; 10s without one].
    #[arg(long = "for", value_name = "TIME", value_parser = positive)]
    length: Option<Nanos>,
    /// The file to write; `-` for standard output.
    ///
    /// A file that exists is replaced when the recording is complete. Beside a device, a pipe or standard
    /// output there is no FILE.machine.toml.
    #[arg(short, long, value_name = "FILE", default_value = "trace.dat")]
    output: PathBuf,
    /// Where tracefs is mounted [default: found, or mounted for the time of the recording].
    #[arg(long, value_name = "DIR")]
    tracefs: Option<PathBuf>,
    /// Run the command as this user, with his groups and home [default: as whoever records, which is root].
    #[arg(long, value_name = "NAME", requires = "command")]
    user: Option<String>,
    /// Also record the system calls in which tasks wait or wake: futexes, sleeps, polls, reads, writes.
    #[arg(long)]
    syscalls: bool,
    /// A command to run meanwhile.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub fn execute(args: &Args, voice: Voice) -> Result<(), Failure> {
    if args.command.first().is_some_and(|program| program.trim().is_empty()) {
        return Err(Error::EmptyCommand.into());
    }
    let user = args.user.as_deref().map(User::find).transpose()?;
    let files = Files::open(&args.output)?;
    let signals = Taken::take();
    let tracefs = args.tracefs.as_deref().map_or_else(Tracefs::find, |root| Ok(Tracefs::at(root)));
    let extras = Extras { syscalls: args.syscalls };
    let recorder = tracefs
        .and_then(|tracefs| TraceRecorder::start(tracefs, &files.spool, extras))
        .map_err(Error::Record)?;
    let mut command = match args.command.split_first() {
        Some((program, words)) => {
            advise(user.as_ref(), voice);
            Some(Running::start(program, words, user.as_ref(), files.trace.is_stdout())?)
        }
        None => None,
    };
    let length = args.length.map(|length| Duration::from_nanos(length.0));
    let length = if command.is_none() { length.or(Some(DEFAULT_LENGTH)) } else { length };
    let under_way = UnderWay { recorder, signals: &signals, line: Line::new(voice) };
    let recording = under_way.record(length, command.as_mut(), &args.command.join(" "));
    if let Some(command) = &mut command {
        let by_itself = recording.as_ref().is_ok_and(|recording| !recording.is_stopped);
        if let Some(status) = command.failure().filter(|_| by_itself) {
            voice.warn(&format!("the command failed ({status}): it is recorded up to there"));
        }
        command.ask_to_end();
    }
    // Tracing is as it was before: whoever asks once more does not want the file either.
    drop(signals);
    let written = recording.map_err(Failure::from).and_then(|recording| files.write(recording, voice));
    if let Some(command) = command {
        command.wait(PATIENCE);
    }
    written
}

/// Most people do not want their build to run as root.
fn advise(user: Option<&User>, voice: Voice) {
    let sudo_user = std::env::var("SUDO_USER").unwrap_or_default();
    if user.is_none() && !sudo_user.is_empty() && sudo_user != "root" && rustix::process::geteuid().is_root()
    {
        voice.warn(&format!("the command runs as root; --user {sudo_user} runs it as you"));
    }
}

/// What was recorded, and for how long.
struct Recording {
    ended: Ended,
    elapsed: Duration,
    /// Whether it ended before the command did.
    is_stopped: bool,
}

/// A recording under way.
struct UnderWay<'a> {
    recorder: TraceRecorder,
    signals: &'a Taken,
    line: Line,
}

impl UnderWay<'_> {
    /// Records until the time is over, the command (of these words) has ended or a signal asks.
    fn record(
        mut self,
        length: Option<Duration>,
        mut command: Option<&mut Running>,
        words: &str,
    ) -> Result<Recording, Error> {
        if let Some(command) = &command {
            self.recorder.command(command.pid(), words)?;
        }
        let watch = Watch::start();
        let mut pause = FIRST_LOOK;
        loop {
            let left = length.map_or(INTERVAL, |length| length.saturating_sub(watch.elapsed()));
            thread::park_timeout(pause.min(left));
            pause = INTERVAL.min(pause * 2);
            self.recorder.collect()?;
            let elapsed = watch.elapsed();
            self.line.show(elapsed, self.recorder.so_far()?);
            let is_over = length.is_some_and(|length| elapsed >= length);
            // Who presses Ctrl-C asks the command to end, too.
            let is_stopped = is_over || self.signals.asked();
            if is_stopped || command.as_deref_mut().is_some_and(Running::has_ended) {
                if is_stopped {
                    self.recorder.command_stopped()?;
                }
                return Ok(Recording { ended: self.recorder.end()?, elapsed, is_stopped });
            }
        }
    }
}

/// Where the recording goes.
struct Files {
    trace: Output,
    /// The file of the machine, and what it will say; none beside a pipe.
    machine: Option<(Output, String)>,
    /// Where it waits.
    spool: PathBuf,
}

impl Files {
    fn open(path: &Path) -> Result<Files, Failure> {
        let trace = open(path, &[])?;
        if !trace.is_file() {
            return Ok(Files { trace, machine: None, spool: std::env::temp_dir() });
        }
        let text = topology_alone("recorded").map_err(Error::Calibrate)?;
        let machine = Some((open(&machine_beside(&path.to_string_lossy()), &[])?, text));
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Ok(Files { trace, machine, spool: folder.unwrap_or(Path::new(".")).to_owned() })
    }

    fn write(self, recording: Recording, voice: Voice) -> Result<(), Failure> {
        let Files { mut trace, machine, .. } = self;
        let Recording { mut ended, elapsed, .. } = recording;
        let (recorded, cost, left_over) = (ended.recorded, ended.event_cost, ended.left_over.take());
        ended.write(&mut trace).map_err(|source| trace.failed(source))?;
        if let Some((mut machine, text)) = machine {
            machine.write_all(text.as_bytes()).map_err(|source| machine.failed(source))?;
            machine.commit()?;
        }
        let results = Stream::beside(Some(&trace));
        let text = summary(trace.path(), elapsed, recorded, cost);
        trace.commit()?;
        // What was lost is said in any case.
        if voice == Voice::Normal || recorded.lost > 0 {
            results.text(&text)?;
        }
        left_over.map_or(Ok(()), |error| Err(Error::Record(error).into()))
    }
}

fn summary(output: &Path, elapsed: Duration, recorded: RecordedAmount, event_cost: Option<Nanos>) -> String {
    let mut text = format!("{}: {}\n", output.display(), figures(elapsed, recorded));
    text += &match event_cost {
        Some(cost) => price(elapsed, recorded, cost),
        None => format!("price: {} events; what one costs could not be told\n", recorded.events),
    };
    if recorded.lost > 0 {
        let lost =
            "Events were lost: the kernel's buffers were full. A replay leaves out what it cannot know.";
        text += &wrap(lost, "", "  ");
    }
    text
}

/// What the recording did to what it recorded.
fn price(elapsed: Duration, recorded: RecordedAmount, cost: Nanos) -> String {
    let RecordedAmount { cpus, events, .. } = recorded;
    let share = events as f64 * cost.0 as f64 / (elapsed.as_nanos() as f64 * cpus as f64) * 100.0;
    let of_time = if elapsed < LONG_ENOUGH {
        "too short a recording to say what part of the CPUs' time that was".to_owned()
    } else {
        format!("{share:.2} % of the CPUs' time over these {:.1}s", elapsed.as_secs_f64())
    };
    wrap(&format!("price: {events} events of about {} ns (measured before), {of_time}", cost.0), "", "  ")
}

fn figures(elapsed: Duration, recorded: RecordedAmount) -> String {
    let RecordedAmount { cpus, bytes, lost, .. } = recorded;
    let megabytes = bytes as f64 / 1e6;
    let length = match elapsed {
        short if short < LONG_ENOUGH => format!("{}ms", short.as_millis()),
        long => format!("{:.1}s", long.as_secs_f64()),
    };
    format!("{length}, {}, {megabytes:.1} MB, {} lost", many(cpus as u64, "CPU"), many(lost, "event"))
}

fn positive(text: &str) -> Result<Nanos, String> {
    units::positive_duration(text, Nanos::from_secs(1))
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

    fn show(&self, elapsed: Duration, so_far: RecordedAmount) {
        self.0.set_message(figures(elapsed, so_far));
        self.0.tick();
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told_with(elapsed_ms: u64, event_cost: Option<Nanos>) -> String {
        let recorded = RecordedAmount { cpus: 2, events: 4_000, bytes: 100_000, lost: 1 };
        summary(Path::new("t.dat"), Duration::from_millis(elapsed_ms), recorded, event_cost)
    }

    fn told(elapsed_ms: u64) -> String {
        told_with(elapsed_ms, Some(Nanos(500)))
    }

    #[test]
    fn a_price_that_cannot_be_told_is_none() {
        let text = told_with(2_000, None);
        assert!(text.contains("\nprice: 4000 events; what one costs could not be told\n"), "{text}");
    }

    #[test]
    fn the_price_says_over_which_time_it_is() {
        assert_eq!(
            told(2_000),
            "t.dat: 2.0s, 2 CPUs, 0.1 MB, 1 event lost\n\
             price: 4000 events of about 500 ns (measured before), 0.05 % of the CPUs' time\n  over these 2.0s\n\
             Events were lost: the kernel's buffers were full. A replay leaves out what it\n  cannot know.\n"
        );
    }

    #[test]
    fn of_milliseconds_no_share_is_told() {
        let text = told(7);
        assert!(text.starts_with("t.dat: 7ms, 2 CPUs") && !text.contains('%'), "{text}");
        assert!(text.contains("too short a recording"), "{text}");
    }
}
