//! What a terminal changes: the width of lines, and colours.

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::Command;

/// Runs the binary with both outputs on a terminal of so many columns, and gives what the terminal received.
fn on_terminal(columns: u16, args: &[&str], no_color: &str) -> String {
    let mut terminal = File::from(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal"));
    grantpt(&terminal).expect("our own terminal");
    unlockpt(&terminal).expect("our own terminal");
    let name = ptsname(&terminal, Vec::new()).expect("its name").into_string().expect("text");
    let open = || OpenOptions::new().read(true).write(true).open(&name).expect("its other side");
    let other = open();
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&other, size).expect("a size");
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedlab"));
    command.args(args).env("NO_COLOR", no_color).stdout(open()).stderr(open());
    let mut child = command.spawn().expect("the binary of this package");
    drop(command);
    drop(other);
    let mut text = Vec::new();
    // Linux ends the reading of a terminal that nobody holds any more with an error.
    let _ = terminal.read_to_end(&mut text);
    child.wait().expect("it ends");
    String::from_utf8(text).expect("text").replace("\r\n", "\n")
}

fn widest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn lines_are_as_wide_as_the_terminal_from_40_to_250_columns() {
    let on = |columns, args: &[&str]| on_terminal(columns, args, "1");
    let run = ["run", "cyclictest -t1 -p80 -l3", "--cpus", "2"];
    // The line of cyclictest itself is longer: scripts read it.
    let own_lines: String =
        on(40, &run).lines().filter(|l| !l.starts_with("T: ")).map(|l| format!("{l}\n")).collect();
    assert!(widest(&own_lines) <= 40, "{own_lines}");
    assert!(own_lines.matches("\n pid task ").count() > 1, "the table in parts:\n{own_lines}");
    let limits = |columns| widest(&on(columns, &["list", "limits"]));
    assert!((121..=200).contains(&limits(200)), "{}", limits(200));
    assert!(limits(1000) <= 250 && limits(20) > 20, "within reason");
    for help in [&["-h"][..], &["run", "--help"], &["list", "-h"]] {
        assert!(widest(&on(60, help)) <= 60, "{help:?}");
    }
}

#[test]
fn errors_are_coloured_on_a_terminal_unless_no_color_says_otherwise() {
    let machine = "tests/cmd/errors.in/syntax.toml";
    let coloured =
        |no_color| on_terminal(80, &["run", "hog", "--machine", machine], no_color).contains('\u{1b}');
    assert!(coloured("") && !coloured("1"));
}

/// Needs root and tracefs; where a machine gives neither, this says so and proves nothing.
#[test]
fn quiet_takes_progress_and_what_became_of_the_file_away() {
    let output = concat!(env!("CARGO_TARGET_TMPDIR"), "/quiet.dat");
    let args = ["record", "--for", "300ms", "-o", output];
    let said = on_terminal(80, &args, "1");
    if said.contains("error: ") {
        // Unlike eprintln, this is seen without --nocapture.
        let _ = writeln!(std::io::stderr(), "SKIPPED quiet: {said}");
        return;
    }
    assert!(said.contains("recording: ") && said.contains("quiet.dat: "), "{said:?}");
    assert_eq!(on_terminal(80, &[&args[..], &["--quiet"]].concat(), "1"), "");
}
