//! `schedlab record` on the real kernel: whatever ends it, tracing is as it was before. Needs root and tracefs; where a machine
//! gives neither, these tests say so and prove nothing.
#![cfg(target_os = "linux")]

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// tracefs, mounted for one test.
struct Tracefs(PathBuf);

impl Tracefs {
    /// `None`, after saying why, where that cannot be.
    fn mount(name: &str) -> Option<Tracefs> {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&root).expect("a temporary folder");
        let no_data: Option<&std::ffi::CStr> = None;
        let mounted = mount("nodev", &root, "tracefs", MountFlags::empty(), no_data).map_err(io::Error::from);
        let usable = mounted.and_then(|()| fs::read(root.join("events/sched/sched_switch/format")));
        match usable {
            Ok(_) => Some(Tracefs(root)),
            Err(error) => {
                // Unlike eprintln, this is seen without --nocapture.
                let _ = writeln!(io::stderr(), "SKIPPED {name}: no tracefs here ({error}); run it as root");
                let _ = unmount(&root, UnmountFlags::empty());
                None
            }
        }
    }

    fn instance_of(&self, recorder: u32) -> PathBuf {
        self.0.join(format!("instances/schedlab-{recorder}"))
    }

    fn args<'a>(&'a self, output: &'a Path) -> [&'a str; 5] {
        let text = |path: &'a Path| path.to_str().expect("a path of our own");
        ["record", "--tracefs", text(&self.0), "-o", text(output)]
    }
}

impl Drop for Tracefs {
    fn drop(&mut self) {
        let _ = unmount(&self.0, UnmountFlags::empty());
    }
}

fn schedlab(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedlab"));
    command.args(args);
    command
}

/// A recorder that has begun: its command, which waits for an end that does not come, has said so.
fn recorder(tracefs: &Tracefs, output: &Path) -> Child {
    let command = ["--", "sh", "-c", "echo begun; exec cat"];
    let mut command = schedlab(&[&tracefs.args(output)[..], &command].concat());
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary of this package");
    let mut line = String::new();
    let stdout = child.stdout.as_mut().expect("it is piped");
    BufReader::with_capacity(1, stdout).read_line(&mut line).expect("it says something");
    assert_eq!(line, "begun\n");
    child
}

fn send(signal: Signal, child: &Child) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, signal).expect("it lives");
}

#[test]
fn a_signal_ends_it_with_a_whole_file_and_nothing_left_behind() {
    let Some(tracefs) = Tracefs::mount("record-signals") else { return };
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let output = tracefs.0.with_extension("dat");
        let mut child = recorder(&tracefs, &output);
        let instance = tracefs.instance_of(child.id());
        assert_eq!(fs::read_to_string(instance.join("tracing_on")).expect("an instance"), "1\n");
        send(signal, &child);
        // Its standard input stays open: nothing else ends the command.
        let stdin = child.stdin.take();
        let status = child.wait().expect("it ends");
        drop(stdin);
        assert_eq!(status.code(), Some(0), "{signal:?}");
        assert!(!instance.exists(), "{signal:?}: {}", instance.display());
        let trace = trace::read_file(&output).expect("a trace");
        assert!(trace.facts.len() > 1 && trace.idle.is_some(), "{signal:?}: {}", trace.notes);
        assert!(output.with_extension("dat.machine.toml").exists());
        let replay = schedlab(&["run", output.to_str().expect("our own path")]).output();
        assert!(replay.expect("the binary of this package").status.success());
    }
}

#[test]
fn what_a_killed_recorder_leaves_the_next_one_removes() {
    let Some(tracefs) = Tracefs::mount("record-killed") else { return };
    let output = tracefs.0.with_extension("dat");
    let mut child = recorder(&tracefs, &output);
    let instance = tracefs.instance_of(child.id());
    send(Signal::KILL, &child);
    child.wait().expect("it ends");
    assert!(instance.exists(), "nobody can clean up behind that signal");
    let Output { status, stderr, .. } =
        schedlab(&[&tracefs.args(&output)[..], &["--for", "10ms"]].concat()).output().expect("the binary");
    assert_eq!(status.code(), Some(0), "{}", String::from_utf8_lossy(&stderr));
    assert!(!instance.exists(), "{}", instance.display());
}

#[test]
fn a_tracefs_that_nobody_had_mounted_is_not_mounted_afterwards() {
    let mounts = || fs::read_to_string("/proc/self/mounts").expect("Linux has it");
    let conventional = |mounts: &str| mounts.contains(" /sys/kernel/tracing tracefs ");
    let Some(usable) = Tracefs::mount("record-mounts") else { return };
    drop(usable);
    let before = conventional(&mounts());
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join("record-mounts.dat");
    let args = ["record", "--for", "10ms", "-o", output.to_str().expect("our own path")];
    assert!(schedlab(&args).output().expect("the binary of this package").status.success());
    assert_eq!(conventional(&mounts()), before);
}
