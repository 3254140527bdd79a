//! What the binary reads and writes: whatever goes wrong, no file is lost and none is left behind; pipes,
//! devices and the standard streams are as good as files; nothing that a terminal obeys reaches it.
#![cfg(target_os = "linux")]

use crate::signals;

use rustix::fs::{CWD, Mode, inotify, mkfifoat};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../demo/mix-rtover.dat");

/// A folder for one test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("outputs-{name}"));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a temporary folder");
        Folder(path)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("our own folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("a name").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn schedlab(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_schedlab"));
        command.args(args).current_dir(&self.0).env_remove("SUDO_USER");
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.schedlab(args).output().expect("the binary of this package")
    }

    /// As [`Folder::run`], for what has to succeed.
    fn done(&self, args: &[&str]) -> Output {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
        output
    }

    /// As [`Folder::run`], with this file as standard input.
    fn read_from(&self, input: &str, args: &[&str]) -> Output {
        let input = File::open(input).expect("a file");
        self.schedlab(args).stdin(input).output().expect("the binary of this package")
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn send(signal: Signal, child: &Child) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, signal).expect("it lives");
}

#[test]
fn a_command_that_fails_leaves_the_file_that_was_there() {
    let folder = Folder::new("failures");
    fs::copy(DEMO, folder.0.join("t.dat")).expect("a temporary file");
    fs::hard_link(folder.0.join("t.dat"), folder.0.join("hard.dat")).expect("a link");
    symlink("t.dat", folder.0.join("soft.dat")).expect("a link");
    fs::write(folder.0.join("old.dat"), "old").expect("a temporary file");
    fs::write(folder.0.join("m.toml"), "no machine").expect("a temporary file");
    let before = (folder.names(), fs::read(DEMO).expect("the recording of the demo"));
    for (args, message) in [
        (&["run", "nosuch", "--trace", "old.dat"][..], "unknown load"),
        (&["run", "nosuch.dat", "--trace", "old.dat"], "No such file"),
        (&["run", "hog", "--machine", "nosuch", "--trace", "old.dat"], "no machine is called"),
        (&["run", "hog", "--machine", "m.toml", "--trace", "old.dat"], "not readable as TOML"),
        (&["run", "hog", "--set", "nosuch", "--trace", "old.dat"], "unknown feature"),
        (&["run", "hog -a 8", "--cpus", "2", "--trace", "old.dat"], "no CPU of 8 exists"),
        (&["run", "t.dat", "--trace", "t.dat"], "the same file as the input t.dat"),
        (&["run", "t.dat", "--trace", "hard.dat"], "the same file as the input"),
        (&["run", "soft.dat", "--trace", "t.dat"], "the same file as the input soft.dat"),
        (&["workload", "t.dat", "-o", "t.dat"], "the same file as the input"),
        (&["workload", "t.dat", "-o", "soft.dat"], "the same file as the input"),
        (&["workload", "old.dat", "-o", "t.dat"], "old.dat"),
        (&["record", "--tracefs", "nosuch", "-o", "old.dat"], "nosuch"),
        (&["record", "--user", "no such user", "-o", "old.dat", "--", "true"], "no user is called"),
        (&["run", "hog", "--for", "1ms", "--trace", "no/such/folder.dat"], "there is no folder no/such"),
        (&["reproduce", "000", "--quick", "--save", "old.dat"], "not a directory"),
        (&["reproduce", "000", "--quick", "--save", "no/such"], "there is no folder no/such"),
    ] {
        let output = folder.run(args);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
        assert!(error.contains(message) && output.stdout.is_empty(), "{args:?}: {error}");
        assert_eq!(fs::read(folder.0.join("old.dat")).expect("it is there"), b"old", "{args:?}");
        assert_eq!(
            (folder.names(), fs::read(folder.0.join("t.dat")).expect("it is there")),
            before,
            "{args:?}"
        );
    }
    let output =
        folder.read_from(&folder.0.join("t.dat").to_string_lossy(), &["run", "-", "--trace", "t.dat"]);
    assert!(text(&output.stderr).contains("the same file as the input -"), "{}", text(&output.stderr));
    assert_eq!(fs::read(folder.0.join("t.dat")).expect("it is there"), before.1);
}

#[test]
fn a_full_disk_leaves_the_file_that_was_there() {
    let folder = Folder::new("full");
    fs::write(folder.0.join("old.dat"), "old").expect("a temporary file");
    // A limit on the size of files is as good as a full disk: the write fails in the middle.
    let script = "ulimit -f 1; exec \"$0\" run 'cyclictest -t2 -i100 -n' --for 1s --trace old.dat";
    let limited = Command::new("/bin/sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_schedlab")])
        .current_dir(&folder.0)
        .output()
        .expect("a shell");
    let error = text(&limited.stderr);
    assert_eq!(limited.status.code(), Some(2), "{error}");
    assert!(error.starts_with("error: cannot write old.dat: "), "{error}");
    assert_eq!(fs::read(folder.0.join("old.dat")).expect("it is there"), b"old");
    assert_eq!(folder.names(), ["old.dat"]);
}

#[test]
fn a_signal_leaves_the_file_that_was_there_and_no_half_one() {
    let folder = Folder::new("signals");
    fs::write(folder.0.join("old.dat"), "old").expect("a temporary file");
    let watch = inotify::init(inotify::CreateFlags::CLOEXEC).expect("a watch");
    inotify::add_watch(&watch, &folder.0, inotify::WatchFlags::CREATE).expect("our own folder");
    for signal in signals::heard() {
        let args = ["run", "hog", "--for", "1000000s", "--trace", "old.dat"];
        let mut child =
            folder.schedlab(&args).stdout(Stdio::null()).spawn().expect("the binary of this package");
        // Beside the old file, those of the trace and of the machine.
        let mut buffer = [std::mem::MaybeUninit::uninit(); 512];
        let mut events = inotify::Reader::new(&watch, &mut buffer);
        while folder.names().len() < 3 {
            events.next().expect("a new file");
        }
        send(signal, &child);
        let status = child.wait().expect("it ends");
        assert_eq!(status.signal(), Some(signal.as_raw()), "as the shell wants to see it");
        assert_eq!(fs::read(folder.0.join("old.dat")).expect("it is there"), b"old");
        assert_eq!(folder.names(), ["old.dat"]);
    }
}

#[test]
fn what_is_done_replaces_the_file_with_its_machine_beside_it() {
    let folder = Folder::new("done");
    fs::write(folder.0.join("run.dat"), "old").expect("a temporary file");
    let args = ["run", "hog", "--for", "10ms", "--machine", "laptop", "--cpus", "2", "--trace", "run.dat"];
    folder.done(&args);
    assert_eq!(folder.names(), ["run.dat", "run.dat.machine.toml"]);
    let whole = fs::read(folder.0.join("run.dat")).expect("it is there");
    trace::read(&whole).expect("a trace");
    // Again, with the machine that lies where that of the trace belongs.
    let machine = fs::read(folder.0.join("run.dat.machine.toml")).expect("it is there");
    let args =
        [&args[..4], &["--machine", "run.dat.machine.toml", "--cpus", "2", "--trace", "run.dat"]].concat();
    folder.done(&args);
    assert_eq!(fs::read(folder.0.join("run.dat")).expect("it is there"), whole);
    assert_eq!(fs::read(folder.0.join("run.dat.machine.toml")).expect("it is there"), machine);
}

#[test]
fn a_workload_file_brings_its_machine_wherever_it_is_copied() {
    let folder = Folder::new("workload");
    folder.done(&["run", "hog", "--for", "10ms", "--machine", "vm2", "--cpus", "3", "--trace", "run.dat"]);
    let machine = fs::read_to_string(folder.0.join("run.dat.machine.toml")).expect("it is there");
    folder.done(&["workload", "run.dat", "-o", "load.workload"]);
    assert!(!folder.names().contains(&"load.workload.machine.toml".to_owned()), "{:?}", folder.names());
    let load = fs::read_to_string(folder.0.join("load.workload")).expect("text");
    assert_eq!(text(&folder.done(&["workload", "run.dat"]).stdout), load, "also on standard output");
    fs::create_dir(folder.0.join("elsewhere")).expect("a folder");
    fs::rename(folder.0.join("load.workload"), folder.0.join("elsewhere/load.workload")).expect("moved");
    let head = |args: &[&str]| text(&folder.done(args).stdout).lines().nth(1).map(str::to_owned);
    let run = ["run", "elsewhere/load.workload"];
    assert_eq!(head(&run).as_deref(), Some("machine  vm2, 3 CPUs"));
    assert_eq!(
        head(&[&run[..], &["--machine", "laptop"]].concat()).as_deref(),
        Some("machine  laptop, 8 CPUs")
    );
    assert_eq!(head(&[&run[..], &["--cpus", "5"]].concat()).as_deref(), Some("machine  vm2, 5 CPUs"));
    // A trace of its run has that machine beside it, and a workload of it brings it once more.
    folder.done(&[&run[..], &["--trace", "again.dat"]].concat());
    assert_eq!(fs::read_to_string(folder.0.join("again.dat.machine.toml")).expect("it is there"), machine);
    let again = text(&folder.done(&["workload", "elsewhere/load.workload"]).stdout);
    assert_eq!(again, load);
    // What lies beside it comes first: somebody put it there.
    let beside = machine.replace("name = \"vm2\"", "name = \"mine\"");
    fs::write(folder.0.join("elsewhere/load.workload.machine.toml"), beside).expect("a temporary file");
    assert_eq!(head(&run).as_deref(), Some("machine  mine, 3 CPUs"));
    // A mistake in it is told with its line.
    fs::remove_file(folder.0.join("elsewhere/load.workload.machine.toml")).expect("it was there");
    let wrong = load.replace("machine name = \"vm2\"", "machine name = vm2");
    let line = wrong.lines().position(|line| line == "machine name = vm2").expect("a line") + 1;
    fs::write(folder.0.join("elsewhere/load.workload"), wrong).expect("a temporary file");
    let output = folder.run(&run);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(error.contains(&format!("elsewhere/load.workload:{line}:")), "{error}");
}

#[test]
fn devices_and_pipes_are_written_to_and_stay() {
    let folder = Folder::new("devices");
    folder.done(&["workload", DEMO, "-o", "/dev/null"]);
    folder.done(&["run", "hog", "--for", "1ms", "--trace", "/dev/null", "--trace-format", "dat"]);
    assert!(fs::metadata("/dev/null").expect("it is there").file_type().is_char_device());
    assert!(!Path::new("/dev/null.machine.toml").exists());
    let full = folder.run(&["workload", DEMO, "-o", "/dev/full"]);
    assert_eq!(full.status.code(), Some(2));
    assert!(
        text(&full.stderr).starts_with("error: cannot write /dev/full: No space left"),
        "{}",
        text(&full.stderr)
    );

    let pipe = folder.0.join("pipe");
    mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).expect("a pipe");
    let reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().expect("cat");
    let load = ["run", "cyclictest -t2 -n", "--for", "10ms", "--cpus", "2", "--trace"];
    folder.done(&[&load[..], &["pipe", "--trace-format", "ftrace"]].concat());
    let through = reader.wait_with_output().expect("it ends").stdout;
    folder.done(&[&load[..], &["file.ftrace"]].concat());
    assert_eq!(through, fs::read(folder.0.join("file.ftrace")).expect("it is there"));
    assert_eq!(folder.names(), ["file.ftrace", "file.ftrace.machine.toml", "pipe"]);
}

#[test]
fn whoever_waits_for_a_reader_can_be_interrupted() {
    let folder = Folder::new("no-reader");
    mkfifoat(CWD, folder.0.join("pipe"), Mode::RUSR | Mode::WUSR).expect("a pipe");
    for args in [&["record", "-o", "pipe"][..], &["workload", DEMO, "-o", "pipe"]] {
        let mut child = folder.schedlab(args).spawn().expect("the binary of this package");
        // The thread for signals is the last thing before it waits.
        let tasks = format!("/proc/{}/task", child.id());
        let name = |task: fs::DirEntry| fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        while !fs::read_dir(&tasks).expect("it lives").flatten().any(|task| name(task) == "signals\n") {
            assert_eq!(child.try_wait().expect("a child of ours"), None, "it waits for its reader: {args:?}");
            std::thread::yield_now();
        }
        let signal = signals::heard()[0];
        send(signal, &child);
        assert_eq!(child.wait().expect("it ends").signal(), Some(signal.as_raw()), "{args:?}");
    }
    assert_eq!(folder.names(), ["pipe"]);
}

#[test]
fn standard_input_is_as_good_as_a_file() {
    let folder = Folder::new("stdin");
    folder.done(&["workload", DEMO, "-o", "demo.workload"]);
    fs::write(folder.0.join("a.json"), r#"{ "tasks": { "t": { "loop": 3, "run": 1000, "sleep": 9000 } } }"#)
        .expect("a temporary file");
    let json = ["--format", "json", "--machine", "vm2"];
    let tables = |output: &Output| {
        let text = String::from_utf8(output.stdout.clone()).expect("text");
        let mut result = schema::RunResult::from_json(&text).expect("our own JSON");
        result.forget_wall_clock();
        result.tasks
    };
    for file in [DEMO, "demo.workload", "a.json"] {
        let by_name = tables(&folder.done(&[&["run", file][..], &json].concat()));
        let path = folder.0.join(file);
        let redirected = folder.read_from(&path.to_string_lossy(), &[&["run", "-"][..], &json].concat());
        assert_eq!(redirected.status.code(), Some(0), "{}", text(&redirected.stderr));
        assert_eq!(tables(&redirected), by_name, "{file}");
        let mut cat = Command::new("cat").arg(&path).stdout(Stdio::piped()).spawn().expect("cat");
        let pipe = cat.stdout.take().expect("it is piped");
        let args = [&["run", "-"][..], &json].concat();
        let piped = folder.schedlab(&args).stdin(pipe).output().expect("the binary of this package");
        cat.wait().expect("it ends");
        assert_eq!(tables(&piped), by_name, "{file}");
    }
    let workload = fs::read(folder.0.join("demo.workload")).expect("it is there");
    assert_eq!(folder.read_from(DEMO, &["workload", "-"]).stdout, workload);
    assert_eq!(folder.done(&["workload", DEMO, "-o", "-"]).stdout, workload);
    let inspected = text(&folder.read_from(DEMO, &["inspect", "-"]).stdout);
    assert!(inspected.contains("holds    2 CPUs, 26 tasks"), "{inspected}");
    let compare = ["compare", "-", "--machine", "vm2", "--with", "NO_RT_PUSH_IPI", "--repeat", "2"];
    let compared = folder.read_from(DEMO, &compare);
    assert_eq!(compared.status.code(), Some(0), "{}", text(&compared.stderr));
    let twice = folder.read_from(DEMO, &["run", "-", "-"]);
    assert!(text(&twice.stderr).contains("can be one load only"), "{}", text(&twice.stderr));
    let endless = folder.read_from("/dev/zero", &["run", "-"]);
    assert_eq!(endless.status.code(), Some(2));
    assert!(text(&endless.stderr).starts_with("error: standard input: "), "{}", text(&endless.stderr));
    let empty = folder.read_from("/dev/null", &["run", "-"]);
    assert_eq!(empty.status.code(), Some(2));
    assert!(text(&empty.stderr).starts_with("error: standard input: "), "{}", text(&empty.stderr));
}

#[test]
fn standard_output_takes_a_trace_and_the_tables_step_aside() {
    let folder = Folder::new("stdout");
    let load = ["run", "cyclictest -t2 -n", "--for", "10ms", "--cpus", "2"];
    let tables = text(&folder.done(&load).stdout);
    let tables = tables.lines().filter(|line| line.contains("cyclictest -t2 -n") || line.starts_with("T: "));
    for (format, name) in [(&[][..], "file.dat"), (&["--trace-format", "pftrace"], "file.pftrace")] {
        let output = folder.done(&[&load[..], &["--trace", "-"], format].concat());
        folder.done(&[&load[..], &["--trace", name]].concat());
        assert_eq!(output.stdout, fs::read(folder.0.join(name)).expect("it is there"), "{name}");
        let stderr = text(&output.stderr);
        assert!(
            tables.clone().filter(|line| line.starts_with("T: ")).all(|line| stderr.contains(line)),
            "{stderr}"
        );
    }
    // Its other name is no file to be replaced either.
    let output = folder.done(&[&load[..], &["--trace", "/dev/stdout", "--trace-format", "dat"]].concat());
    assert_eq!(output.stdout, fs::read(folder.0.join("file.dat")).expect("it is there"));
    assert!(!folder.names().contains(&"-".to_owned()));
    let unknown = folder.run(&[&load[..], &["--trace", "trace.csv"]].concat());
    assert!(text(&unknown.stderr).contains("--trace-format"), "{}", text(&unknown.stderr));
}

/// No byte but letters, blanks, line ends and whole characters beyond ASCII.
fn assert_harmless(what: &str, bytes: &[u8]) {
    let text = String::from_utf8(bytes.to_vec()).expect("text");
    let obeyed = text.chars().find(|c| c.is_control() && *c != '\n' || *c == '\u{202e}');
    assert_eq!(obeyed, None, "{what}: {text:?}");
}

#[test]
fn nothing_that_a_terminal_obeys_comes_from_a_file_or_the_command_line() {
    let folder = Folder::new("escapes");
    let evil = "\u{1b}]0;x\u{7}\u{9b}31m\u{202e}";
    let events = "a-7 [000] d..2. 1.000001: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> \
        next_comm=b next_pid=8 next_prio=97\n";
    let named = format!("{evil}.ftrace");
    fs::write(folder.0.join(&named), format!("# tracer: {evil}\n#\n{events}{evil}\n"))
        .expect("a temporary file");
    let rt_app =
        format!(r#"{{ "tasks": {{ "t": {{ "run": 1000, "{evil}": 1 }} }} }}"#).replace('\u{1b}', "\\u001b");
    fs::write(folder.0.join("evil.json"), rt_app).expect("a temporary file");
    fs::write(folder.0.join("evil.toml"), format!("name = \"{evil}\"\n[topology")).expect("a temporary file");
    fs::write(folder.0.join("evil.workload"), format!("schedlab-workload 1\n{evil}\n"))
        .expect("a temporary file");
    let settings = format!("cpus={evil}");
    for args in [
        &["inspect", &named][..],
        &["run", &named],
        &["workload", &format!("{evil}.dat")],
        &["workload", &named, "-o", &format!("no/{evil}")],
        &["run", "evil.json", "--for", "10ms"],
        &["run", "evil.workload"],
        &["run", "hog", "--machine", "evil.toml"],
        &["run", "hog", "--machine", evil],
        &["run", "hog", "--kernel", evil],
        &["run", "hog", "--set", evil],
        &["run", "hog", "--for", evil],
        &["run", "hog", &format!("--{evil}")],
        &["run", evil],
        &["run", "hog", "--for", "1ms", "--trace", evil],
        &["compare", "hog", "--with", &settings],
        &["reproduce", evil],
        &["list", evil],
        &["--explain", evil],
        &["record", "--tracefs", evil, "-o", "x.dat"],
        &["record", "--user", evil, "-o", "x.dat", "--", "true"],
    ] {
        let output = folder.run(args);
        assert_harmless(&format!("{args:?}, stdout"), &output.stdout);
        assert_harmless(&format!("{args:?}, stderr"), &output.stderr);
        let shown = text(&[output.stdout, output.stderr].concat());
        assert!(!shown.is_empty(), "{args:?}");
    }
    let shown = text(&folder.run(&["run", evil]).stderr);
    assert!(shown.contains(r"\x1b]0;x\x07\x9b31m\u{202e}"), "{shown}");
    assert!(folder.names().iter().all(|name| OsStr::new(name) != "x.dat"));
}
