//! The raw pages of one CPU, on their way from the kernel to the file.

use super::RecordError;
use super::tracefs::Instance;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// See the module's head. Pages wait in a file without a name, since only their number says where each CPU's
/// begin.
#[derive(Debug)]
pub struct CpuPages {
    cpu: u32,
    from: File,
    kept: File,
    page: Vec<u8>,
    bytes: u64,
}

impl CpuPages {
    /// Opens a CPU's buffer. `page_size` is the kernel's, in bytes. Pages wait in the folder `spool`.
    pub fn open(
        instance: &Instance,
        cpu: u32,
        page_size: usize,
        spool: &Path,
    ) -> Result<CpuPages, RecordError> {
        let kept = tempfile::tempfile_in(spool).map_err(|source| RecordError::of_folder(spool, source))?;
        Ok(CpuPages { cpu, from: instance.pages(cpu)?, kept, page: vec![0; page_size], bytes: 0 })
    }

    pub fn cpu(&self) -> u32 {
        self.cpu
    }

    /// How much was taken.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes what is there. Taking makes events of its own, so a page that is not half full ends it: there
    /// will always be such a page.
    pub fn collect(&mut self) -> Result<(), RecordError> {
        while self.take()?.is_some_and(|used| used * 2 >= self.page.len()) {}
        Ok(())
    }

    /// Takes the rest, of a buffer into which nothing comes any more.
    pub fn drain(&mut self) -> Result<(), RecordError> {
        while self.take()?.is_some() {}
        Ok(())
    }

    /// Takes a page, and says how much of it is used, in bytes. `None` if there is nothing.
    fn take(&mut self) -> Result<Option<usize>, RecordError> {
        let failed =
            |doing: &str, cpu: u32, source| RecordError::of(doing, format!("the pages of CPU {cpu}"), source);
        let len = loop {
            match self.from.read(&mut self.page) {
                Ok(0) => return Ok(None),
                Ok(len) => break len,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed("read", self.cpu, error)),
            }
        };
        // A page is a page, however little of it is used.
        self.page[len..].fill(0);
        self.kept.write_all(&self.page).map_err(|error| failed("keep", self.cpu, error))?;
        self.bytes += self.page.len() as u64;
        Ok(Some(used(&self.page)))
    }

    /// All of them, from the first on. Closes the kernel's file.
    pub fn into_pages(mut self) -> Result<File, RecordError> {
        let start = self.kept.seek(SeekFrom::Start(0));
        start.map_err(|source| {
            RecordError::of("read back", format!("the pages of CPU {}", self.cpu), source)
        })?;
        Ok(self.kept)
    }
}

/// Bytes of events in a page, by its head: a time (8 bytes), then the length, above which there are flags.
fn used(page: &[u8]) -> usize {
    const LENGTH: usize = 0xf_ffff;
    let length = page.get(8..12).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes);
    length as usize & LENGTH
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A buffer of one CPU that is a file with pages of which so many bytes are used.
    fn buffer(name: &str, used: &[u32]) -> CpuPages {
        let root = std::env::temp_dir().join(format!("schedlab-pages-{name}-{}", std::process::id()));
        let folder = root.join("per_cpu/cpu0");
        fs::create_dir_all(&folder).expect("a temporary folder");
        let page = |used: &u32| [&[7; 8][..], &used.to_le_bytes(), &[0; 52]].concat();
        fs::write(folder.join("trace_pipe_raw"), used.iter().flat_map(page).collect::<Vec<u8>>())
            .expect("a temporary file");
        let pages = CpuPages::open(&Instance::at(&root), 0, 64, &root).expect("it opens");
        fs::remove_dir_all(root).expect("our own folder");
        pages
    }

    #[test]
    fn a_page_that_fills_while_it_is_taken_is_left_for_the_next_time() {
        let mut pages = buffer("filling", &[48, 40, 1 << 31 | 3, 5, 48]);
        pages.collect().expect("pages");
        assert_eq!(pages.bytes(), 3 * 64);
        pages.collect().expect("pages");
        assert_eq!(pages.bytes(), 4 * 64);
    }

    #[test]
    fn at_the_end_all_is_taken() {
        let mut pages = buffer("end", &[3, 48, 5, 0, 40]);
        pages.drain().expect("pages");
        assert_eq!(pages.bytes(), 5 * 64);
    }
}
