//! Sweeps that are stopped, killed, or run out of disk: nothing that was finished is lost, and nothing is
//! made or counted twice.

use crate::support::{Failing, many_chunks, rows, run, small, to_its_end};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicUsize;
use sweep::{Error, Folder, MemoryFolder, RESULTS};

fn distinct(folder: &dyn Folder) -> usize {
    rows(folder).into_iter().map(|row| row.run).collect::<BTreeSet<_>>().len()
}

#[test]
fn a_stopped_sweep_goes_on_where_it_was() {
    let plan = small();
    let whole = MemoryFolder::default();
    let (expected, made) = to_its_end(&plan, &whole);
    assert_eq!((made, expected.runs), (24, 24));
    for stop_after in [1, 3, 4] {
        let folder = MemoryFolder::default();
        let mut chunks = 0;
        let (stopped, made_first) = run(&plan, &folder, &mut |progress| {
            chunks += usize::from(progress.done > chunks as u64);
            if chunks >= stop_after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(matches!(stopped, Err(Error::Stopped { runs: 24, .. })), "{stopped:?}");
        let there = distinct(&folder);
        assert!(there >= stop_after && there < 24, "{there} rows were kept");
        assert!(folder.read(RESULTS).is_err(), "nobody takes a part for the whole");
        let mut reused = 0;
        let (result, made_then) = run(&plan, &folder, &mut |progress| {
            reused = progress.reused;
            ControlFlow::Continue(())
        });
        assert_eq!(result.expect("it goes on"), expected);
        assert_eq!((reused, made_then), (there as u64, 24 - there), "what is there is not run again");
        assert!(made_first >= there);
        assert_eq!(folder.read(RESULTS).expect("there"), whole.read(RESULTS).expect("there"));
    }
}

#[test]
fn a_finished_sweep_runs_nothing_and_says_the_same() {
    let (plan, folder) = (small(), MemoryFolder::default());
    let (first, _) = to_its_end(&plan, &folder);
    assert_eq!(to_its_end(&plan, &folder), (first, 0));
}

#[test]
fn a_full_disk_loses_nothing_that_was_finished() {
    let (plan, disk) = (small(), MemoryFolder::default());
    for writes in 0..3 {
        let there = distinct(&disk);
        let full = Failing {
            inner: &disk,
            writes: AtomicUsize::new(writes),
            removals: AtomicUsize::new(usize::MAX),
        };
        let (result, _) = run(&plan, &full, &mut |_| ControlFlow::Continue(()));
        let error = result.expect_err("the disk is full").to_string();
        assert!(error.starts_with("disk/") && error.contains("what has been finished is kept"), "{error}");
        assert!(distinct(&disk) >= there + writes, "each chunk that was written is there");
    }
    let there = distinct(&disk);
    let (result, made) = to_its_end(&plan, &disk);
    assert_eq!((result.failed, made), (0, 24 - there));
    assert_eq!(result, to_its_end(&plan, &MemoryFolder::default()).0);
}

/// Small files are merged. Killed in between, some rows are in two files: they count once.
#[test]
fn many_small_files_become_few_and_a_kill_in_between_counts_nothing_twice() {
    let (plan, disk) = (many_chunks(), MemoryFolder::default());
    let (expected, _) = to_its_end(&plan, &MemoryFolder::default());
    let broken =
        Failing { inner: &disk, writes: AtomicUsize::new(usize::MAX), removals: AtomicUsize::new(7) };
    assert!(run(&plan, &broken, &mut |_| ControlFlow::Continue(())).0.is_err());
    let (twice, once) = (rows(&disk).len(), distinct(&disk));
    assert!(twice > once, "{twice} rows of {once} runs: the situation that is tested");
    let (result, made) = to_its_end(&plan, &disk);
    assert_eq!((result, made), (expected, 128 - once));
    let files = disk.list().expect("a list").len();
    assert!(files < 70, "{files} files");
}
