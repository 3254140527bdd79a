//! The raw pages of one CPU, on their way from the kernel to the file.

use super::RecordError;
use super::tracefs::Instance;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// See the module's head. Pages wait in a file without a name, since only their number says where each CPU's begin.
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

    /// Takes what is there.
    pub fn collect(&mut self) -> Result<(), RecordError> {
        let failed =
            |doing: &str, cpu: u32, source| RecordError::of(doing, format!("the pages of CPU {cpu}"), source);
        loop {
            let len = match self.from.read(&mut self.page) {
                Ok(0) => return Ok(()),
                Ok(len) => len,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(failed("read", self.cpu, error)),
            };
            // A page is a page, however little of it is used.
            self.page[len..].fill(0);
            self.kept.write_all(&self.page).map_err(|error| failed("keep", self.cpu, error))?;
            self.bytes += self.page.len() as u64;
        }
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
