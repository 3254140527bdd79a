//! docs/limits.md is what the tables say. To make it anew:
//! `SNAPSHOTS=overwrite cargo test -p schedlab-lab --test it limits`.

#[test]
fn the_page_is_made_of_the_tables() {
    snapbox::assert_data_eq!(lab::limits_page(), snapbox::file!["../../../../docs/limits.md"].raw());
}
