//! An instance of tracefs of our own: other people's tracing goes on beside it, undisturbed.

use super::RecordError;
use super::watchdog::Watchdog;
use rustix::fs::OFlags;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Where tracefs is mounted by convention.
const MOUNT_POINT: &str = "/sys/kernel/tracing";
/// What the list of mounts calls a tracefs that we mounted: one that is left over from a killed recorder is ours to unmount.
const MOUNT_SOURCE: &str = "schedlab";
/// What the names of our instances begin with; the process id follows.
const INSTANCE_PREFIX: &str = "schedlab-";

/// tracefs, mounted somewhere. If it was mounted for this, it is unmounted at the end.
#[derive(Debug)]
pub struct Tracefs {
    root: PathBuf,
    mounted_here: bool,
}

impl Tracefs {
    /// Where it is mounted already, or else mounted now.
    pub fn find() -> Result<Tracefs, RecordError> {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        if let Some((source, root)) = mounted(&mounts) {
            return Ok(Tracefs { root, mounted_here: source == MOUNT_SOURCE });
        }
        let no_data: Option<&std::ffi::CStr> = None;
        mount(MOUNT_SOURCE, MOUNT_POINT, "tracefs", MountFlags::empty(), no_data)
            .map_err(|errno| RecordError::of("mount tracefs at", MOUNT_POINT, errno.into()))?;
        Ok(Tracefs { root: MOUNT_POINT.into(), mounted_here: true })
    }

    /// A tree of files at `root`, whatever is mounted there.
    pub fn at(root: &Path) -> Tracefs {
        Tracefs { root: root.to_owned(), mounted_here: false }
    }

    /// Content of a file.
    pub fn read(&self, name: &str) -> Result<String, RecordError> {
        read(&self.root.join(name))
    }

    /// Content of a file that some kernels do not have.
    pub fn read_if_there(&self, name: &str) -> String {
        read(&self.root.join(name)).unwrap_or_default()
    }

    /// Names in a folder, in order.
    pub fn list(&self, name: &str) -> Result<Vec<String>, RecordError> {
        let path = self.root.join(name);
        let failed = |source| RecordError::of("list", path.display(), source);
        let mut names = Vec::new();
        for entry in fs::read_dir(&path).map_err(failed)? {
            names.push(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    /// Makes an instance of our own, and removes those that killed recorders left behind.
    pub fn instance(&self) -> Result<Instance, RecordError> {
        self.remove_orphans();
        let root = self.root.join("instances").join(format!("{INSTANCE_PREFIX}{}", std::process::id()));
        fs::create_dir(&root)
            .map_err(|source| RecordError::of("make the trace instance", root.display(), source))?;
        // Without a shell there is none; then the next recorder cleans up behind a killed one.
        let watchdog = Watchdog::start(&root, self.mounted_here.then_some(&self.root)).ok();
        Ok(Instance { root, removed: false, _watchdog: watchdog })
    }

    fn remove_orphans(&self) {
        for name in self.list("instances").unwrap_or_default() {
            let pid = name.strip_prefix(INSTANCE_PREFIX).and_then(|pid| pid.parse::<u32>().ok());
            if pid.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
                // What cannot be removed is in somebody's use.
                let _ = fs::remove_dir(self.root.join("instances").join(name));
            }
        }
    }
}

impl Drop for Tracefs {
    fn drop(&mut self) {
        if self.mounted_here {
            // It stays mounted if somebody uses it meanwhile.
            let _ = unmount(&self.root, UnmountFlags::empty());
        }
    }
}

/// Under which name and where a list of mounts has tracefs; the conventional place if there are several.
fn mounted(mounts: &str) -> Option<(&str, PathBuf)> {
    let points = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (source, point) = (words.next()?, words.next()?);
        (words.next()? == "tracefs").then_some((source, point))
    });
    let (source, point) = points.min_by_key(|(_, point)| *point != MOUNT_POINT)?;
    Some((source, PathBuf::from(point)))
}

/// Our instance. Removing it takes back everything that was set in it.
#[derive(Debug)]
pub struct Instance {
    root: PathBuf,
    removed: bool,
    /// Is dropped when the instance is gone.
    _watchdog: Option<Watchdog>,
}

impl Instance {
    /// An instance that exists already.
    #[cfg(test)]
    pub fn at(root: &Path) -> Instance {
        Instance { root: root.to_owned(), removed: true, _watchdog: None }
    }

    /// Sets a file.
    pub fn write(&self, name: &str, value: &str) -> Result<(), RecordError> {
        let path = self.root.join(name);
        let file = OpenOptions::new().write(true).open(&path);
        file.and_then(|mut file| io::Write::write_all(&mut file, value.as_bytes()))
            .map_err(|source| RecordError::of(&format!("write {value} to"), path.display(), source))
    }

    /// Content of a file.
    pub fn read(&self, name: &str) -> Result<String, RecordError> {
        read(&self.root.join(name))
    }

    /// Whether it has this file.
    pub fn has(&self, name: &str) -> bool {
        self.root.join(name).exists()
    }

    /// The raw pages of a CPU, without waiting for any.
    pub fn pages(&self, cpu: u32) -> Result<File, RecordError> {
        let path = self.root.join(format!("per_cpu/cpu{cpu}/trace_pipe_raw"));
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0);
        let file = OpenOptions::new().read(true).custom_flags(flags).open(&path);
        file.map_err(|source| RecordError::of("open", path.display(), source))
    }

    /// The CPUs that have a buffer, in order.
    pub fn cpus(&self) -> Result<Vec<u32>, RecordError> {
        let path = self.root.join("per_cpu");
        let entries =
            fs::read_dir(&path).map_err(|source| RecordError::of("list", path.display(), source))?;
        let number = |name: &str| name.strip_prefix("cpu").and_then(|number| number.parse().ok());
        let mut cpus: Vec<u32> =
            entries.flatten().filter_map(|entry| number(&entry.file_name().to_string_lossy())).collect();
        cpus.sort_unstable();
        Ok(cpus)
    }

    /// Removes it. All its files must be closed.
    pub fn remove(mut self) -> Result<(), RecordError> {
        self.removed = true;
        fs::remove_dir(&self.root)
            .map_err(|source| RecordError::of("remove the trace instance", self.root.display(), source))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if !self.removed {
            // The error that ended the recording is the one to tell.
            let _ = fs::remove_dir(&self.root);
        }
    }
}

/// Some files of tracefs give everything to the first read and nothing to a second one, so that one must be large.
const READ: usize = 1 << 16;

fn read(path: &Path) -> Result<String, RecordError> {
    let failed = |source| RecordError::of("read", path.display(), source);
    let mut file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    let mut buffer = vec![0; READ];
    loop {
        match file.read(&mut buffer).map_err(failed)? {
            0 => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
            len => bytes.extend_from_slice(&buffer[..len]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_conventional_mount_comes_first() {
        let mounts = "proc /proc proc rw 0 0\n\
            tracefs /sys/kernel/debug/tracing tracefs rw 0 0\n\
            nodev /sys/kernel/tracing tracefs rw,nosuid 0 0\n";
        assert_eq!(mounted(mounts), Some(("nodev", PathBuf::from(MOUNT_POINT))));
        assert_eq!(mounted("tracefs /t tracefs rw 0 0\n"), Some(("tracefs", PathBuf::from("/t"))));
        assert_eq!(mounted("tracefs /t proc rw 0 0\n"), None);
    }
}
