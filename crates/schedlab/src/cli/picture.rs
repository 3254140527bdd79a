//! `--plot FILE`: a picture beside what is printed, in the format that the ending of the name says.

use super::output::{Failure, open};
use schedlab::Error;
use schedlab::outputs::Output;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A picture under way.
#[derive(Debug)]
pub struct Picture {
    file: Output,
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Svg,
    Png,
}

impl Picture {
    /// Begins to write it, so that nobody waits for a result whose picture cannot be written.
    pub fn open(path: &Path, inputs: &[PathBuf]) -> Result<Picture, Failure> {
        let format = match path.extension().and_then(|ending| ending.to_str()) {
            Some("svg") => Format::Svg,
            Some("png") => Format::Png,
            _ => return Err(Error::PictureEnding(path.to_owned()).into()),
        };
        Ok(Picture { file: open(path, inputs)?, format })
    }

    /// Writes it.
    pub fn write(mut self, svg: &str) -> Result<(), Failure> {
        let png;
        let bytes = match self.format {
            Format::Svg => svg.as_bytes(),
            Format::Png => {
                png = report::plot::png(svg).map_err(Error::Picture)?;
                &png
            }
        };
        self.file.write_all(bytes).map_err(|source| self.file.failed(source))?;
        Ok(self.file.commit()?)
    }
}
