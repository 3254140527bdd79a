//! Folders of references on this computer.

use crate::error::Error;
use lab::validate::References;
use std::fs;
use std::io;
use std::path::Path;

/// The references in a folder and in all below it, or a trace alone.
///
/// # Errors
/// A folder that cannot be read or holds none; a reference that is not readable.
pub fn of_path(path: &str) -> Result<References, Error> {
    let is_file = Path::new(path).is_file();
    let slash = path.rfind('/').map_or("", |slash| &path[..=slash]);
    let root = match is_file {
        true => slash.to_owned(),
        false => format!("{}/", path.trim_end_matches('/')),
    };
    let mut paths = Vec::new();
    if is_file {
        // What lies beside it tells more of it.
        below(&root, Depth::Here, &mut paths)?;
        let all = References::of_files(&root, &paths, &crate::files::Disk)?;
        let name = path.strip_prefix(&root).unwrap_or(path);
        return some(all.named(name), path);
    }
    below(&root, Depth::All, &mut paths)?;
    some(References::of_files(&root, &paths, &crate::files::Disk)?, path)
}

fn some(references: References, path: &str) -> Result<References, Error> {
    if references.list.is_empty() {
        return Err(Error::NoReferences { folder: path.to_owned() });
    }
    Ok(references)
}

/// How far down to look.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Here,
    All,
}

/// Paths of the files in a folder, whose path ends with a slash. What it is called that has a name which
/// is no text is left out: a reference could not name it.
fn below(folder: &str, depth: Depth, paths: &mut Vec<String>) -> Result<(), Error> {
    let failed = |source: io::Error| lab::Error::File { path: folder.to_owned(), source };
    let shown = if folder.is_empty() { "." } else { folder };
    let mut names = Vec::new();
    for entry in fs::read_dir(shown).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if let Ok(name) = entry.file_name().into_string() {
            names.push((name, entry.path()));
        }
    }
    // The order of a folder is that of its file system.
    names.sort();
    for (name, path) in names {
        if path.is_file() {
            paths.push(format!("{folder}{name}"));
        } else if depth == Depth::All && path.is_dir() && !path.is_symlink() {
            below(&format!("{folder}{name}/"), depth, paths)?;
        }
    }
    Ok(())
}
