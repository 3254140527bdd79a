//! `--report`: the result as a page, beside what is printed.

use super::output::{Failure, open};
use lab::STANDARD_STREAM;
use report::page::Page;
use schedlab::Error;
use schedlab::outputs::Output;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};

// As typed, by every command that writes pages. (A doc comment here would become their help text.)
#[derive(Debug, clap::Args)]
pub struct ReportOptions {
    /// Also write the result as a page to look at in a browser: one file, which needs no network.
    ///
    /// It has a timeline of CPUs and tasks through which one moves, histograms, series over time, locks,
    /// migrations, and all tables.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

impl ReportOptions {
    /// Whether a page is wanted.
    pub fn is_wanted(&self) -> bool {
        self.report.is_some()
    }

    /// Begins to write the page, so that nobody waits for a result whose page cannot be written.
    pub fn open(&self, inputs: &[PathBuf]) -> Result<Option<Report>, Failure> {
        let Some(path) = &self.report else { return Ok(None) };
        if path == Path::new(STANDARD_STREAM) {
            return Err(Error::ReportToStandardOutput.into());
        }
        // Who gives another ending wants something else than a page.
        if !matches!(path.extension().and_then(OsStr::to_str), Some("html" | "htm")) {
            return Err(Error::ReportEnding(path.clone()).into());
        }
        let file = open(path, inputs)?;
        // By another name of it.
        if file.is_stdout() { Err(Error::ReportToStandardOutput.into()) } else { Ok(Some(Report { file })) }
    }
}

/// A page under way.
#[derive(Debug)]
pub struct Report {
    file: Output,
}

impl Report {
    /// Writes it.
    pub fn write(mut self, page: &Page) -> Result<(), Failure> {
        let html = page.html();
        self.file.write_all(html.as_bytes()).map_err(|source| self.file.failed(source))?;
        Ok(self.file.commit()?)
    }
}
