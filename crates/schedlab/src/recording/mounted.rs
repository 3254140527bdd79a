//! A file system of the kernel, mounted somewhere. If it was mounted for this, it is unmounted at the end.

use super::RecordError;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::fs;
use std::path::{Path, PathBuf};

/// What the list of mounts calls what we mounted: one that is left over from a killed recorder is ours to
/// unmount.
const MOUNT_SOURCE: &str = "schedlab";

/// See the module's head.
#[derive(Debug)]
pub struct Mounted {
    root: PathBuf,
    is_ours: bool,
}

impl Mounted {
    /// Where a file system of this kind is mounted already, or else mounted now, at its conventional place.
    pub fn find(kind: &str, place: &str) -> Result<Mounted, RecordError> {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        if let Some((source, root)) = mounted(&mounts, kind, place) {
            return Ok(Mounted { root, is_ours: source == MOUNT_SOURCE });
        }
        let no_data: Option<&std::ffi::CStr> = None;
        mount(MOUNT_SOURCE, place, kind, MountFlags::empty(), no_data)
            .map_err(|errno| RecordError::of(&format!("mount {kind} at"), place, errno.into()))?;
        Ok(Mounted { root: place.into(), is_ours: true })
    }

    /// A tree of files at `root`, whatever is mounted there.
    pub fn at(root: &Path) -> Mounted {
        Mounted { root: root.to_owned(), is_ours: false }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where it will be unmounted, if it was mounted for this.
    pub fn own_root(&self) -> Option<&Path> {
        self.is_ours.then_some(self.root())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if self.is_ours {
            // It stays mounted if somebody uses it meanwhile.
            let _ = unmount(&self.root, UnmountFlags::empty());
        }
    }
}

/// Under which name and where a list of mounts has a file system; the conventional place if there are
/// several.
fn mounted<'a>(mounts: &'a str, kind: &str, place: &str) -> Option<(&'a str, PathBuf)> {
    let points = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (source, point) = (words.next()?, words.next()?);
        (words.next()? == kind).then_some((source, point))
    });
    let (source, point) = points.min_by_key(|(_, point)| *point != place)?;
    Some((source, PathBuf::from(point)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_conventional_mount_comes_first() {
        let mounts = "proc /proc proc rw 0 0\n\
            tracefs /sys/kernel/debug/tracing tracefs rw 0 0\n\
            nodev /sys/kernel/tracing tracefs rw,nosuid 0 0\n";
        let place = "/sys/kernel/tracing";
        let tracefs = |mounts| mounted(mounts, "tracefs", place);
        assert_eq!(tracefs(mounts), Some(("nodev", PathBuf::from(place))));
        assert_eq!(tracefs("tracefs /t tracefs rw 0 0\n"), Some(("tracefs", PathBuf::from("/t"))));
        assert_eq!(tracefs("tracefs /t proc rw 0 0\n"), None);
        assert_eq!(mounted(mounts, "proc", "/proc"), Some(("proc", PathBuf::from("/proc"))));
    }
}
