//! Runs that are kept by the hash of what decides them, for whoever makes runs that are no sweep.

use crate::archive::Archive;
use crate::error::Error;
use crate::folder::Folder;
use crate::inputs::{Inputs, hash};
use crate::row::Row;
use crate::work::Work;
use lab::{ExperimentText, Sources};

/// The rows in a folder, those of sweeps among them.
pub struct Store<'f> {
    archive: Archive<'f>,
    inputs: Inputs,
}

impl<'f> Store<'f> {
    /// Reads what is there; `row` is called for each, twice for one that is in two files.
    ///
    /// # Errors
    /// A folder that cannot be read, a damaged file in it.
    pub fn open(folder: &'f dyn Folder, row: &mut dyn FnMut(Row)) -> Result<Store<'f>, Error> {
        let archive = Archive::open(folder, |file| {
            file.rows()?.into_iter().for_each(&mut *row);
            Ok(())
        })?;
        Ok(Store { archive, inputs: Inputs::default() })
    }

    /// The run of an experiment, with the hash under which its row is kept. `None`: a load comes from a pipe,
    /// so nobody can tell whether another run has the same.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn work(&mut self, mut text: ExperimentText, files: &dyn Sources) -> Result<Option<Work>, Error> {
        let beside = self.inputs.settle(&mut text, files)?;
        let files = text.loads.iter().filter_map(|load| load.file.as_ref());
        let is_told = files.into_iter().all(|file| file.xxh128.is_some());
        let run = format!("{:032x}", hash(&text, &beside));
        Ok(is_told.then_some(Work { run, experiment: text }))
    }

    /// Keeps rows; when this comes back, they are on the disk.
    ///
    /// # Errors
    /// A folder that does not take them.
    pub fn put(&mut self, rows: &[Row]) -> Result<(), Error> {
        self.archive.put(rows)
    }
}
