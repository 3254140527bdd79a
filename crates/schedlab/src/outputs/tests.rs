use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};

/// A folder for one test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("schedlab-outputs-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).expect("a temporary folder");
        Folder(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn put(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, "old").expect("a temporary file");
        path
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("our own folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("a name").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn open(path: &Path) -> Output {
    let mut output = Output::open(path, &[]).expect("it can be written");
    output.write_all(b"new").expect("there is room");
    output
}

fn content(path: &Path) -> String {
    fs::read_to_string(path).expect("a file")
}

#[test]
fn a_file_changes_when_it_is_complete_and_not_before() {
    let folder = Folder::new("whole");
    let path = folder.put("out");
    drop(open(&path));
    assert_eq!((content(&path).as_str(), folder.names()), ("old", vec!["out".to_owned()]));
    let output = open(&path);
    assert_eq!(content(&path), "old");
    output.commit().expect("it is moved");
    assert_eq!((content(&path).as_str(), folder.names()), ("new", vec!["out".to_owned()]));
}

#[test]
fn a_file_keeps_its_permissions_and_a_new_one_gets_those_of_any_new_file() {
    let folder = Folder::new("permissions");
    let path = folder.put("out");
    let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o604)).expect("our own file");
    open(&path).commit().expect("it is moved");
    assert_eq!(mode(&path), 0o604);
    let (other, new) = (folder.put("other"), folder.path("new"));
    open(&new).commit().expect("it is moved");
    assert_eq!(mode(&new), mode(&other));
}

#[test]
fn a_link_stays_one_also_if_it_leads_nowhere_yet() {
    let folder = Folder::new("links");
    fs::create_dir(folder.path("sub")).expect("a folder");
    let (file, link, dangling) = (folder.put("sub/file"), folder.path("link"), folder.path("dangling"));
    symlink("sub/file", &link).expect("a link");
    symlink("sub/new", &dangling).expect("a link");
    for (link, target) in [(link, file), (dangling, folder.path("sub/new"))] {
        open(&link).commit().expect("it is moved");
        assert_eq!(content(&target), "new");
        assert!(link.is_symlink() && !target.is_symlink());
    }
}

#[test]
fn an_input_is_refused_under_every_name() {
    let folder = Folder::new("inputs");
    let file = folder.put("file");
    let (soft, hard) = (folder.path("soft"), folder.path("hard"));
    symlink(&file, &soft).expect("a link");
    fs::hard_link(&file, &hard).expect("a link");
    let inputs = [folder.path("none"), file.clone()];
    for path in [&file, &soft, &hard, &folder.path("../").join(&file)] {
        let error = Output::open(path, &inputs).expect_err("it is read").to_string();
        assert!(error.contains("the same file as the input"), "{error}");
    }
    assert!(Output::open(&folder.put("copy"), &inputs).is_ok(), "the same content is no reason");
}

#[test]
fn two_cannot_write_a_file_at_the_same_time_and_the_next_one_can() {
    let folder = Folder::new("busy");
    let path = folder.path("out");
    let first = open(&path);
    let error = Output::open(&path, &[]).expect_err("the first is not done").to_string();
    assert!(error.contains("out is being written already"), "{error}");
    assert!(Output::open(&folder.path("other"), &[]).is_ok());
    first.commit().expect("nobody disturbed it");
    open(&path).commit().expect("nobody writes it any more");
    assert_eq!(folder.names(), ["out"]);
}

#[test]
fn what_a_killed_process_left_is_no_obstacle() {
    let folder = Folder::new("left-over");
    // Such a file is there, and nobody holds its lock.
    folder.put(".out.schedlab-partial");
    open(&folder.path("out")).commit().expect("it is moved");
    assert_eq!((content(&folder.path("out")).as_str(), folder.names()), ("new", vec!["out".to_owned()]));
}

#[test]
fn folders_and_places_that_are_not_there_are_refused_at_once() {
    let folder = Folder::new("refused");
    let error = |path: PathBuf| Output::open(&path, &[]).expect_err("impossible").to_string();
    for path in [folder.0.clone(), folder.path("new/")] {
        assert!(error(path.clone()).starts_with(&format!("cannot write {}: is a directory", path.display())));
    }
    let nowhere = folder.path("no/out");
    let (file, parent) = (nowhere.display().to_string(), folder.path("no").display().to_string());
    assert_eq!(error(nowhere), format!("cannot write {file}: there is no folder {parent}; make it first"));
    assert!(check_folder(&folder.path("no")).is_err() && check_folder(&folder.put("file")).is_err());
    check_folder(&folder.0).expect("a folder of ours");
    assert_eq!(folder.names(), ["file"]);
}

#[test]
fn a_device_is_written_to() {
    let mut output = open(Path::new("/dev/null"));
    assert!(!output.is_file() && !output.is_stdout());
    output.flush().expect("it takes everything");
    output.commit().expect("it takes everything");
    let full = open(Path::new("/dev/full"));
    let error = full.commit().expect_err("it takes nothing").to_string();
    assert!(error.starts_with("cannot write /dev/full: No space left"), "{error}");
    assert!(!Path::new("/dev/null").is_file() && !Path::new("/dev/full").is_file());
}

#[test]
fn what_is_unfinished_can_be_removed_at_any_time() {
    let folder = Folder::new("unfinished");
    let (path, done) = (folder.put("out"), folder.path("done"));
    let output = open(&path);
    open(&done).commit().expect("it is moved");
    let unfinished: Vec<PathBuf> = unfinished::names();
    assert!(unfinished.contains(&folder.path(".out.schedlab-partial")));
    assert!(!unfinished.iter().any(|path| path.ends_with(".done.schedlab-partial")));
    drop(output);
    assert!(!unfinished::names().contains(&folder.path(".out.schedlab-partial")));
}

#[test]
fn a_name_that_says_gz_is_packed() {
    let folder = Folder::new("packed");
    let path = folder.path("trace.dat.gz");
    let mut output = open(&path);
    output.write_all(b"events").expect("room");
    assert!(output.is_file());
    output.commit().expect("a disk");
    let mut text = String::new();
    let packed = File::open(&path).expect("it is there");
    io::Read::read_to_string(&mut flate2::read::GzDecoder::new(packed), &mut text).expect("gzip");
    assert_eq!(text, "newevents", "`open` has written something already");
}
