//! An instance of tracefs of our own: other people's tracing goes on beside it, undisturbed.

use super::RecordError;
use super::mounted::Mounted;
use super::watchdog::Watchdog;
use rustix::fs::OFlags;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Where tracefs is mounted by convention.
const MOUNT_POINT: &str = "/sys/kernel/tracing";
/// What the names of our instances begin with; the process id follows.
const INSTANCE_PREFIX: &str = "schedlab-";

/// tracefs, mounted somewhere. If it was mounted for this, it is unmounted at the end.
#[derive(Debug)]
pub struct Tracefs(Mounted);

impl Tracefs {
    /// Where it is mounted already, or else mounted now.
    pub fn find() -> Result<Tracefs, RecordError> {
        Mounted::find("tracefs", MOUNT_POINT).map(Tracefs)
    }

    /// A tree of files at `root`, whatever is mounted there.
    pub fn at(root: &Path) -> Tracefs {
        Tracefs(Mounted::at(root))
    }

    /// Content of a file.
    pub fn read(&self, name: &str) -> Result<String, RecordError> {
        read(&self.0.root().join(name))
    }

    /// Content of a file that some kernels do not have.
    pub fn read_if_there(&self, name: &str) -> String {
        read(&self.0.root().join(name)).unwrap_or_default()
    }

    /// Names in a folder, in order.
    pub fn list(&self, name: &str) -> Result<Vec<String>, RecordError> {
        let path = self.0.root().join(name);
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
        let root = self.0.root().join("instances").join(format!("{INSTANCE_PREFIX}{}", std::process::id()));
        fs::create_dir(&root)
            .map_err(|source| RecordError::of("make the trace instance", root.display(), source))?;
        // Without a shell there is none; then the next recorder cleans up behind a killed one.
        let watchdog = Watchdog::start(&root, self.0.own_root()).ok();
        Ok(Instance { root, removed: false, _watchdog: watchdog })
    }

    fn remove_orphans(&self) {
        for name in self.list("instances").unwrap_or_default() {
            let pid = name.strip_prefix(INSTANCE_PREFIX).and_then(|pid| pid.parse::<u32>().ok());
            if pid.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
                // What cannot be removed is in somebody's use.
                let _ = fs::remove_dir(self.0.root().join("instances").join(name));
            }
        }
    }
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

    /// Puts a marker of one line into the trace.
    pub fn mark(&self, text: &str) -> Result<(), RecordError> {
        let path = self.root.join("trace_marker");
        let file = OpenOptions::new().append(true).open(&path);
        file.and_then(|mut file| io::Write::write_all(&mut file, format!("{text}\n").as_bytes()))
            .map_err(|source| RecordError::of("write a marker to", path.display(), source))
    }

    /// Content of a file.
    pub fn read(&self, name: &str) -> Result<String, RecordError> {
        read(&self.root.join(name))
    }

    /// Empties the buffers, and their statistics.
    pub fn clear(&self) -> Result<(), RecordError> {
        let path = self.root.join("trace");
        let cleared = OpenOptions::new().write(true).truncate(true).open(&path);
        cleared.map(drop).map_err(|source| RecordError::of("empty", path.display(), source))
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

    /// Statistics of a CPU's buffer.
    pub fn stats(&self, cpu: u32) -> Result<String, RecordError> {
        self.read(&format!("per_cpu/cpu{cpu}/stats"))
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

/// Some files of tracefs give everything to the first read and nothing to a second one, so that one must be
/// large.
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
