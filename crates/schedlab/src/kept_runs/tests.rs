use super::*;
use report::reproduce::Figure;
use schema::Unit;
use tempfile::TempDir;

fn told(value: u64) -> RunFigures {
    let figures = [("totals.context_switches".to_owned(), Figure::new(value, Unit::Count))].into();
    RunFigures { simulated_ns: 1_000_000_007, events: 3, figures }
}

/// A file with these two runs.
fn kept(folder: &TempDir) -> PathBuf {
    let path = folder.path().join("runs.jsonl");
    let runs = RunsFile::open(&path).expect("a new file");
    assert_eq!((runs.runs(), runs.find(RunHash(1))), (0, None));
    runs.keep(RunHash(1), &told(12)).expect("written");
    runs.keep(RunHash(2), &told(u64::from(u32::MAX))).expect("written");
    path
}

#[test]
fn what_was_kept_is_there_again() {
    let folder = TempDir::new().expect("a folder");
    let again = RunsFile::open(&kept(&folder)).expect("the file");
    assert_eq!(again.runs(), 2);
    assert_eq!(again.find(RunHash(1)), Some(told(12)));
    assert_eq!(again.find(RunHash(2)), Some(told(u64::from(u32::MAX))));
    assert_eq!(again.find(RunHash(3)), None);
}

#[test]
fn a_line_without_its_end_is_made_again() {
    let folder = TempDir::new().expect("a folder");
    let path = kept(&folder);
    let whole = fs::read(&path).expect("it is there");
    fs::write(&path, &whole[..whole.len() - 5]).expect("cut");
    let again = RunsFile::open(&path).expect("the file");
    assert_eq!((again.runs(), again.find(RunHash(2))), (1, None));
    again.keep(RunHash(2), &told(u64::from(u32::MAX))).expect("written");
    drop(again);
    assert_eq!(fs::read(&path).expect("it is there"), whole);
    for bytes in [&whole[..7], &[]] {
        fs::write(&path, bytes).expect("cut");
        assert_eq!(RunsFile::open(&path).expect("begun anew").runs(), 0);
    }
}

fn refused(path: &Path) -> String {
    RunsFile::open(path).expect_err("refused").to_string()
}

#[test]
fn what_is_no_file_of_runs_stays_as_it_is() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("notes");
    for text in ["my notes", "my notes\n", "{\"schema\":\"schedlab-run/8\",\"program\":\"\"}\n"] {
        fs::write(&path, text).expect("written");
        assert!(refused(&path).contains("line 1"), "{}", refused(&path));
        assert_eq!(fs::read_to_string(&path).expect("it is there"), text);
    }
    let path = kept(&folder);
    let whole = fs::read_to_string(&path).expect("it is there");
    fs::write(&path, whole.replace("\"events\":3", "\"events\":-3")).expect("written");
    assert!(refused(&path).contains("line 2"), "{}", refused(&path));
}

#[test]
fn runs_of_another_program_and_of_two_at_once_are_refused() {
    let folder = TempDir::new().expect("a folder");
    let path = kept(&folder);
    let first = RunsFile::open(&path).expect("the file");
    assert!(refused(&path).contains("another process"), "{}", refused(&path));
    drop(first);
    let whole = fs::read_to_string(&path).expect("it is there");
    fs::write(&path, whole.replace("\"program\":\"", "\"program\":\"0")).expect("written");
    assert!(refused(&path).contains("another build"), "{}", refused(&path));
}
