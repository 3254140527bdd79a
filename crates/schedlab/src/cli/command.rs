//! The command that runs while something is recorded.

use super::output::say;
use super::signals::Taken;
use super::user::User;
use super::watch::Watch;
use schedlab::Error;
use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

/// How long a command may take to end after SIGTERM.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// Between two looks whether it has.
const INTERVAL: Duration = Duration::from_millis(20);

/// See the module's head.
#[derive(Debug)]
pub struct Running(Child);

impl Running {
    /// Starts `program` for `user`, or for whoever runs this. With `quiet`, what it says goes to standard
    /// error.
    pub fn start(program: &str, args: &[String], user: Option<&User>, quiet: bool) -> Result<Running, Error> {
        let mut command = Command::new(program);
        command.args(args);
        if quiet {
            command.stdout(Stdio::from(io::stderr()));
        }
        let child = match user {
            Some(user) => user.spawn(&mut command),
            None => command.spawn(),
        };
        child.map(Running).map_err(|source| Error::Command { program: program.to_owned(), source })
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    pub fn has_ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }

    /// Asks it to end, if it has not.
    pub fn ask_to_end(&mut self) {
        if !self.has_ended()
            && let Some(pid) = i32::try_from(self.0.id()).ok().and_then(rustix::process::Pid::from_raw)
        {
            // It may have ended since.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
    }

    /// Waits for a command that was asked to end. What has not ended after the patience, or at another
    /// Ctrl-C, is killed.
    pub fn wait(mut self, patience: Duration) {
        let (signals, watch) = (Taken::take(), Watch::start());
        while !self.has_ended() {
            let is_tired = watch.elapsed() >= patience;
            if is_tired || signals.asked() {
                let why = if is_tired { "did not end after SIGTERM" } else { "still ran" };
                say(&format!("warning: the command (process {}) {why} and was killed\n", self.0.id()));
                let _ = self.0.kill();
                break;
            }
            thread::park_timeout(INTERVAL);
        }
        let _ = self.0.wait();
    }

    /// How it failed by itself, if it has ended and did.
    pub fn failure(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().ok().flatten().filter(|status| !status.success())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::process::ExitStatusExt;

    /// A command that has done `script` and waits for its input, which stays open.
    fn command(script: &str) -> Running {
        let script = format!("{script}; echo begun; exec cat");
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = shell.spawn().expect("a shell");
        let stdout = child.stdout.as_mut().expect("it is piped");
        stdout.read_exact(&mut [0; "begun\n".len()]).expect("it says so");
        Running(child)
    }

    #[test]
    fn a_command_that_ignores_sigterm_is_killed() {
        let mut stubborn = command("trap '' TERM");
        stubborn.ask_to_end();
        assert!(!stubborn.has_ended());
        let pid = stubborn.0.id();
        stubborn.wait(Duration::ZERO);
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "it is gone, and nobody's zombie");
    }

    #[test]
    fn a_command_that_can_be_asked_is_not_killed() {
        let mut polite = command(":");
        polite.ask_to_end();
        let status = polite.0.wait().expect("it ends");
        assert_eq!(status.signal(), Some(15));
        polite.wait(Duration::ZERO);
    }
}
