//! `schedlab record` on the real kernel: whatever ends it, tracing is as it was before. Needs root and
//! tracefs; where a machine gives neither, these tests say so and prove nothing.
#![cfg(target_os = "linux")]

use crate::signals;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::FileTypeExt;
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

    /// Whether this kernel has an event of any system.
    fn has_event(&self, event: &str) -> bool {
        let systems = fs::read_dir(self.0.join("events")).expect("tracefs has it").flatten();
        systems.into_iter().any(|system| system.path().join(event).exists())
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
    for signal in signals::heard() {
        let output = tracefs.0.with_extension("dat");
        let mut child = recorder(&tracefs, &output);
        let instance = tracefs.instance_of(child.id());
        assert_eq!(fs::read_to_string(instance.join("tracing_on")).expect("an instance"), "1\n");
        // What wakes tasks is recorded, too, as far as the kernel has it; whether it happens in so short a
        // time is chance.
        let causes = [
            "irq_vectors/local_timer_entry",
            "irq/softirq_entry",
            "timer/hrtimer_expire_entry",
            "net/net_dev_xmit",
        ];
        for cause in causes {
            let enabled = fs::read_to_string(instance.join("events").join(cause).join("enable"));
            assert!(enabled.is_err() || enabled.is_ok_and(|enabled| enabled.starts_with('1')), "{cause}");
        }
        send(signal, &child);
        // Its standard input stays open: nothing else ends the command.
        let stdin = child.stdin.take();
        let status = child.wait().expect("it ends");
        drop(stdin);
        assert_eq!(status.code(), Some(0), "{signal:?}");
        assert!(!instance.exists(), "{signal:?}: {}", instance.display());
        let trace = trace::read(&fs::read(&output).expect("a file")).expect("a trace");
        assert!(trace.facts.len() > 1 && trace.idle.is_some(), "{signal:?}: {}", trace.notes);
        let command = trace.host.command.as_ref().expect("it was recorded");
        assert_eq!(command.words, "sh -c echo begun; exec cat");
        assert!(trace.host.facts.contains_key("version") && trace.host.groups.contains_key(&command.pid));
        assert!(trace.events.iter().any(|event| event.kind.name() == "sched_switch"), "{signal:?}");
        assert!(output.with_extension("dat.machine.toml").exists());
        let replay = schedlab(&["run", output.to_str().expect("our own path")]).output();
        assert!(replay.expect("the binary of this package").status.success());
    }
}

/// The shell that waits for the end of a recorder.
fn watchdog_of(recorder: &Child) -> Pid {
    let of_recorder = |pid: &i32| {
        let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let is_child = read("status").contains(&format!("\nPPid:\t{}\n", recorder.id()));
        is_child && read("cmdline").contains("schedlab-watchdog")
    };
    let processes = fs::read_dir("/proc").expect("Linux has it").flatten();
    let mut pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    Pid::from_raw(pids.find(of_recorder).expect("it has one")).expect("a process")
}

#[test]
fn nothing_records_behind_a_killed_recorder() {
    let Some(tracefs) = Tracefs::mount("record-killed") else { return };
    let output = tracefs.0.with_extension("dat");
    fs::write(&output, "old").expect("a temporary file");
    let mut child = recorder(&tracefs, &output);
    let instance = tracefs.instance_of(child.id());
    let watchdog = pidfd_open(watchdog_of(&child), PidfdFlags::empty()).expect("it lives");
    send(Signal::KILL, &child);
    child.wait().expect("it ends");
    poll(&mut [PollFd::new(&watchdog, PollFlags::IN)], None).expect("it ends");
    assert!(!instance.exists(), "{}", instance.display());
    assert_eq!(fs::read(&output).expect("it is there"), b"old");
}

#[test]
fn what_a_recorder_leaves_that_is_killed_with_its_watchdog_the_next_one_removes() {
    let Some(tracefs) = Tracefs::mount("record-both-killed") else { return };
    let output = tracefs.0.with_extension("dat");
    let mut child = recorder(&tracefs, &output);
    let instance = tracefs.instance_of(child.id());
    kill_process(watchdog_of(&child), Signal::KILL).expect("it lives");
    send(Signal::KILL, &child);
    child.wait().expect("it ends");
    assert!(instance.exists(), "nobody can clean up behind that");
    let Output { status, stderr, .. } =
        schedlab(&[&tracefs.args(&output)[..], &["--for", "10ms"]].concat()).output().expect("the binary");
    assert_eq!(status.code(), Some(0), "{}", String::from_utf8_lossy(&stderr));
    assert!(!instance.exists(), "{}", instance.display());
    trace::read(&fs::read(&output).expect("a file")).expect("a trace");
}

#[test]
fn a_recording_that_does_not_begin_leaves_the_file_that_was_there() {
    let Some(tracefs) = Tracefs::mount("record-fails") else { return };
    let output = tracefs.0.with_extension("dat");
    fs::write(&output, "old").expect("a temporary file");
    let args = [&tracefs.args(&output)[..], &["--", "/nonexistent"]].concat();
    let failed = schedlab(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let failed = failed.expect("the binary of this package");
    let instance = tracefs.instance_of(failed.id());
    let failed = failed.wait_with_output().expect("it ends");
    let error = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert_eq!((failed.status.code(), failed.stdout), (Some(2), Vec::new()), "{error}");
    assert!(error.starts_with("error: cannot run /nonexistent: No such file"), "{error}");
    assert_eq!(fs::read(&output).expect("it is there"), b"old");
    assert!(!instance.exists());
}

#[test]
fn of_two_recorders_of_one_file_the_second_fails_at_once() {
    let Some(tracefs) = Tracefs::mount("record-twice") else { return };
    let output = tracefs.0.with_extension("dat");
    let mut first = recorder(&tracefs, &output);
    let second = schedlab(&tracefs.args(&output)).output().expect("the binary of this package");
    let error = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(2), "{error}");
    assert!(error.contains("is being written already"), "{error}");
    drop(first.stdin.take());
    assert_eq!(first.wait().expect("it ends").code(), Some(0));
    trace::read(&fs::read(&output).expect("a file")).expect("a trace");
}

#[test]
fn devices_and_standard_output_take_a_recording() {
    let Some(tracefs) = Tracefs::mount("record-devices") else { return };
    let [null, stdout] = ["/dev/null", "-"].map(|output| {
        let args = [&tracefs.args(Path::new(output))[..], &["--", "echo", "said"]].concat();
        schedlab(&args).output().expect("the binary of this package")
    });
    assert_eq!(null.status.code(), Some(0), "{}", String::from_utf8_lossy(&null.stderr));
    assert!(fs::metadata("/dev/null").expect("it is there").file_type().is_char_device());
    assert!(!Path::new("/dev/null.machine.toml").exists() && !Path::new("-.machine.toml").exists());
    trace::read(&stdout.stdout).expect("a trace, and nothing else");
    let said = String::from_utf8_lossy(&stdout.stderr).into_owned();
    assert!(said.starts_with("said\n-: ") && said.contains(" events lost"), "{said}");
}

#[test]
fn system_calls_are_recorded_where_they_are_wanted_and_not_those_of_the_recorder() {
    let Some(tracefs) = Tracefs::mount("record-syscalls") else { return };
    if !tracefs.has_event("sys_enter_read") {
        let _ = writeln!(io::stderr(), "SKIPPED: this kernel does not trace system calls");
        return;
    }
    let output = tracefs.0.with_extension("dat");
    let calls = |options: &[&str]| {
        let args = [&tracefs.args(&output)[..], options, &["--", "sh", "-c", "echo x | cat"]].concat();
        let recorder = schedlab(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut recorder = recorder.expect("the binary of this package");
        let pid = trace::Pid(i32::try_from(recorder.id()).expect("a process"));
        assert_eq!(recorder.wait().expect("it ends").code(), Some(0));
        let trace = trace::read(&fs::read(&output).expect("a file")).expect("a trace");
        let is_call = |event: &&trace::Event| event.kind.name() == "sys_enter";
        let (own, others): (Vec<_>, Vec<_>) =
            trace.events.iter().filter(is_call).map(|event| event.pid).partition(|by| *by == pid);
        assert_eq!(own, []);
        others.len()
    };
    assert_eq!(calls(&[]), 0);
    assert!(calls(&["--syscalls"]) > 10);
}

#[test]
fn the_command_runs_as_the_user_who_is_named() {
    let Some(tracefs) = Tracefs::mount("record-user") else { return };
    let output = tracefs.0.with_extension("dat");
    let script = "id -un; id -G; echo $USER $LOGNAME $HOME; umask";
    let run = |user: &[&str]| {
        let args = [&tracefs.args(&output)[..], user, &["--", "sh", "-c", script]].concat();
        let output = schedlab(&args).env("SUDO_USER", "nobody").output().expect("the binary of this package");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let expected = Command::new("id").args(["-G", "nobody"]).output().expect("id").stdout;
    let expected = String::from_utf8_lossy(&expected).into_owned();
    let [said, advice] = run(&["--user", "nobody"]);
    assert!(said.starts_with(&format!("nobody\n{expected}nobody nobody /")), "{said}");
    assert_eq!(advice, "");
    let [said, advice] = run(&[]);
    assert!(said.starts_with("root\n"), "{said}");
    assert_eq!(advice, "warning: the command runs as root; --user nobody runs it as you\n");
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
