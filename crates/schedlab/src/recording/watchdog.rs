//! Takes a trace instance away when its recorder is killed: nothing else can clean up behind SIGKILL, and an
//! instance goes on recording until somebody does.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Its input ends when the recorder does, whatever ends that. An instance can be removed once the kernel has
/// closed the recorder's files.
const SCRIPT: &str = r#"
read -r _
echo 0 > "$1/tracing_on"
tries=0
while [ -d "$1" ] && [ $tries -lt 50 ] && ! rmdir "$1"; do
    sleep 0.1
    tries=$((tries + 1))
done
[ -z "$2" ] || umount "$2"
"#;

/// A shell that waits for the end of this process. Dropped, it is gone, and does nothing.
#[derive(Debug)]
pub struct Watchdog(Child);

impl Watchdog {
    /// Will remove `instance`, and then unmount `mount_point` if there is one.
    pub fn start(instance: &Path, mount_point: Option<&Path>) -> io::Result<Watchdog> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", SCRIPT, "schedlab-watchdog"]).arg(instance);
        shell.arg(mount_point.unwrap_or(Path::new("")));
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
        // Ctrl-C is for the recorder; it tells the watchdog.
        shell.process_group(0).spawn().map(Watchdog)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // It has ended if this fails.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
