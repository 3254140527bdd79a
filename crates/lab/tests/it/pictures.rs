//! Stored pictures of published experiments.

use lab::PUBLISHED;
use schema::reproduction::Reproduction;
use snapbox::{Data, assert_data_eq};
use std::fs;
use std::path::{Path, PathBuf};

/// What is there to look at is what is there to read. (`SNAPSHOTS=overwrite` draws the pictures anew.)
#[test]
fn stored_pictures_are_those_of_the_stored_results() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results"));
    let entries = fs::read_dir(folder).expect("stored results").map(|entry| entry.expect("readable").path());
    let mut pictures: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "svg")).collect();
    let all = pictures.len();
    for name in PUBLISHED.iter().map(|file| file.name) {
        let json = fs::read_to_string(folder.join(format!("{name}.json"))).expect("a stored result");
        let result = Reproduction::from_json(&json).expect("our own JSON");
        for plot in result.experiments.iter().flat_map(report::plot::swept) {
            let path = folder.join(format!("{}.svg", plot.name));
            if path.exists() {
                assert_data_eq!(Data::text(plot.svg), Data::read_from(&path, None).raw());
                pictures.retain(|picture| *picture != path);
            }
        }
    }
    assert!(all >= 8 && pictures.is_empty(), "pictures of nothing: {pictures:?}");
}
