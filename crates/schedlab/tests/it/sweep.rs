//! Sweeps by the program: killed and gone on with, and what it says of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const EXAMPLE: &str = "../../demo/kernels.toml";

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // Of a test before.
    let _ = fs::remove_dir_all(&path);
    path
}

fn command(file: &str, folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedlab"));
    command.args(["sweep", file, "--folder"]).arg(folder);
    command
}

fn sweep(file: &str, folder: &Path) -> Output {
    command(file, folder).output().expect("the binary of this package")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[test]
fn the_example_fits_the_width_and_is_that_of_the_page() {
    let page = include_str!("../../../../docs/sweeps.md");
    let file = fs::read_to_string(EXAMPLE).expect("it is in the repository");
    assert!(page.contains(&format!("```toml\n{file}```")), "docs/sweeps.md shows demo/kernels.toml");
    let folder = folder("example.sweep");
    let output = sweep(EXAMPLE, &folder);
    let said = text(&output.stdout);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{said}");
    assert!(said.starts_with("schedlab 0.1.0, 48 runs\n"), "{said}");
    let rows =
        said.lines().filter(|line| ["2.6.36", "4.4", "6.1"].iter().any(|kernel| line.starts_with(kernel)));
    assert_eq!(rows.count(), 12, "{said}");
    let path = folder.to_str().expect("a path of our own");
    for line in said.lines().filter(|line| !line.contains(path)) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    // All of it is there now.
    let again = sweep(EXAMPLE, &folder);
    assert_eq!(
        (text(&again.stdout), text(&again.stderr)),
        (said, "note: 48 of 48 runs were there already\n".into())
    );
}

/// SIGKILL, wherever it is: what comes out in the end is what comes out at once, and what was written is not
/// made again.
#[test]
fn a_killed_sweep_goes_on() {
    let (at_once, killed) = (folder("whole.sweep"), folder("killed.sweep"));
    let whole = sweep(EXAMPLE, &at_once);
    let kept = || {
        let names = fs::read_dir(&killed).into_iter().flatten().flatten();
        names.filter(|entry| entry.file_name().to_string_lossy().starts_with("runs-")).count()
    };
    for enough in [1, 3, 5] {
        let mut command = command(EXAMPLE, &killed);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        while kept() < enough && child.try_wait().expect("a child").is_none() {
            std::thread::yield_now();
        }
        let before = kept();
        child.kill().expect("killed, or over already");
        child.wait().expect("it ended");
        assert!(kept() >= before && before >= enough, "nothing that was finished is lost");
    }
    let output = sweep(EXAMPLE, &killed);
    let same = |output: &Output| {
        let said = text(&output.stdout);
        said.lines().filter(|line| !line.contains("sweep")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(same(&output), same(&whole));
    let results = |folder: &Path| fs::read(folder.join("results.parquet")).expect("written");
    assert_eq!(results(&killed), results(&at_once));
}

#[test]
fn mistakes_are_one_clear_error() {
    let above = folder("mistakes");
    fs::create_dir(&above).expect("made");
    let file = above.join("wrong.toml");
    let example = fs::read_to_string(EXAMPLE).expect("it is in the repository");
    let error = |content: &str, folder: &Path| {
        fs::write(&file, content).expect("written");
        let output = sweep(file.to_str().expect("a path of our own"), folder);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()));
        text(&output.stderr)
    };
    let results = above.join("results");
    let kernal = error(&example.replace("\"kernel\"", "\"kernal\""), &results);
    assert!(kernal.contains("unknown axis `kernal`; did you mean `kernel`?"), "{kernal}");
    let unknown = error(&example.replace("\"4.4\"", "\"4.5x\""), &results);
    assert!(unknown.contains("axis `kernel`, value `4.5x`: "), "{unknown}");
    let titel = error(&example.replace("title", "titel"), &results);
    assert!(titel.contains("unknown field `titel`") && titel.contains("here"), "{titel}");
    let missing = error(&example, &above.join("no/such"));
    assert!(missing.contains("there is no folder "), "{missing}");
    let no_folder = error(&example, &file);
    assert!(no_folder.to_lowercase().contains("not a directory"), "{no_folder}");
    let proc = error(&example, Path::new("/proc/x"));
    assert!(proc.contains("cannot write /proc/x: "), "{proc}");
    let program = Command::new(env!("CARGO_BIN_EXE_schedlab"))
        .args(["sweep", "-"])
        .stdin(fs::File::open(EXAMPLE).expect("it is in the repository"))
        .output();
    let nameless = text(&program.expect("the binary of this package").stderr);
    assert!(nameless.contains("--folder: a sweep from standard input has no name"), "{nameless}");
    let output = sweep("no-such.toml", &results);
    assert!(text(&output.stderr).contains("no-such.toml"), "{output:?}");
}

/// Ray is Python's: where there is none, that is told, and not after the runs.
#[test]
fn ray_without_python_is_one_clear_error() {
    let folder = folder("ray.sweep");
    let error = |args: &[&str]| {
        let output = command(EXAMPLE, &folder).args(args).env("PATH", "").output().expect("it runs");
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()));
        text(&output.stderr)
    };
    let ray = error(&["--engine", "ray"]);
    assert!(ray.contains("`python3` has not got the packages schedlab and ray; install them"), "{ray}");
    let address = error(&["--address", "host:6379"]);
    assert!(address.contains("add --engine ray, or leave it out"), "{address}");
    assert!(!folder.exists());
}
