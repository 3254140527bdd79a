//! Whether idle CPUs halt. A program that cannot wait for them to wake up holds `/dev/cpu_dma_latency` at 0
//! µs, and they look for work all the time instead; so they must in a replay.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use trace::IdleKind;

/// Where the kernel tells the latency that is asked for.
pub const CPU_DMA_LATENCY: &str = "/dev/cpu_dma_latency";

/// Looks at the file as long as the recording goes on: whoever holds it lets it go at the end.
#[derive(Debug)]
pub struct IdleWatch {
    path: PathBuf,
    looks: u32,
    /// At which the latency was 0.
    polled: u32,
}

impl IdleWatch {
    pub fn new(path: &Path) -> IdleWatch {
        IdleWatch { path: path.to_owned(), looks: 0, polled: 0 }
    }

    /// Looks once. A machine without the file gives no look.
    pub fn look(&mut self) {
        let mut latency_us = [0; 4];
        if File::open(&self.path).and_then(|mut file| file.read_exact(&mut latency_us)).is_ok() {
            self.looks += 1;
            self.polled += u32::from(i32::from_ne_bytes(latency_us) == 0);
        }
    }

    /// What they did most of the time, if that can be known.
    pub fn kind(&self) -> Option<IdleKind> {
        let polls = self.polled > self.looks / 2;
        (self.looks > 0).then_some(if polls { IdleKind::Polls } else { IdleKind::Halts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_part_of_the_time_counts() {
        let path = std::env::temp_dir().join(format!("schedlab-latency-{}", std::process::id()));
        let mut watch = IdleWatch::new(&path);
        watch.look();
        assert_eq!(watch.kind(), None, "there is no such file");
        let mut look = |latency_us: i32| {
            std::fs::write(&path, latency_us.to_ne_bytes()).expect("a temporary file");
            watch.look();
            watch.kind()
        };
        assert_eq!(look(2_000_000_000), Some(IdleKind::Halts));
        assert_eq!(look(0), Some(IdleKind::Halts));
        assert_eq!(look(0), Some(IdleKind::Polls));
        std::fs::remove_file(&path).expect("our own file");
    }
}
