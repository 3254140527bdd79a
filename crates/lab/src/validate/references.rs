//! A folder of references, and what is wanted of many figures together.

use super::fault::excerpt;
use super::recordings::{Rules, is_recording};
use super::{BOUNDS_NAME, Host, RECORDINGS_NAME, REFERENCE_FILE, Reference, file_name, shipped};
use crate::error::Error;
use crate::sources::{self, Sources};
use report::replay::BOUNDS_FILE;
use report::validate::{Bounds, judge};
use schema::ValidateSchema;
use schema::validation::{ValidatedReference, Validation};
use std::collections::BTreeSet;

/// References, and what is wanted of all of them.
#[derive(Clone, PartialEq, Debug)]
pub struct References {
    /// In the order of their names.
    pub list: Vec<Reference>,
    bounds: Bounds,
    /// Not all that there are.
    part: bool,
}

/// Why a part may miss what is wanted of a share of all.
const OF_A_PART: &str = "so many are in this part of the references; it is wanted of all of them together";

impl References {
    /// What is in the files of a folder, by their paths. Each `reference.toml` is one, and so is each trace
    /// that none of them names. `root` is what all paths begin with, the slash at its end included.
    ///
    /// # Errors
    /// A file that cannot be read, or is not what its name says.
    pub fn of_files(root: &str, paths: &[String], files: &dyn Sources) -> Result<References, Error> {
        let listing: BTreeSet<String> = paths.iter().cloned().collect();
        let own = |name: &str| Some(format!("{root}{name}")).filter(|path| listing.contains(path));
        let bounds = match own(BOUNDS_NAME) {
            Some(path) => bounds(&path, &sources::text(&path, files)?)?,
            // Why they are missed is known of the recordings that come with the program only.
            None => without_reasons(bounds(BOUNDS_NAME, BOUNDS_FILE)?),
        };
        let rules = match own(RECORDINGS_NAME) {
            Some(path) => Rules::parse(&path, &sources::text(&path, files)?)?,
            None => Rules::parse(RECORDINGS_NAME, shipped::RECORDINGS)?,
        };
        let mut list = Vec::new();
        for path in listing.iter().filter(|path| file_name(path) == REFERENCE_FILE) {
            list.push(Reference::open(root, path, &listing, files)?);
        }
        let named: BTreeSet<String> = list.iter().flat_map(Reference::recordings).collect();
        for path in listing.iter().filter(|path| is_recording(path) && !named.contains(*path)) {
            list.push(Reference::of_recording(root, path, &rules, &listing, files)?);
        }
        list.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(References { list, bounds, part: false })
    }

    /// Leaves those of a name, or whose names begin so. What is wanted of a share of many figures is then
    /// told and is no failure.
    #[must_use]
    pub fn named(mut self, name: &str) -> References {
        let all = self.list.len();
        self.list.retain(|reference| reference.name.starts_with(name));
        self.part |= self.list.len() < all;
        self
    }

    /// How many runs it takes.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.list.iter().map(Reference::runs).sum()
    }

    /// Runs all, one after the other.
    ///
    /// # Errors
    /// A reference that cannot be run, or whose figures are not there.
    pub fn run(&self, host: Host<'_>) -> Result<Validation, Error> {
        let references = self.list.iter().map(|reference| reference.run(host));
        Ok(self.judged(references.collect::<Result<_, _>>()?))
    }

    /// What many figures come to together.
    #[must_use]
    pub fn judged(&self, references: Vec<ValidatedReference>) -> Validation {
        let mut bounds = judge(&self.bounds.bound, &references);
        if self.part {
            for bound in bounds.iter_mut().filter(|bound| bound.fails()) {
                bound.unreached = Some(OF_A_PART.to_owned());
            }
        }
        Validation {
            schema: ValidateSchema,
            command: None,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            bounds,
            references,
        }
    }
}

fn without_reasons(mut bounds: Bounds) -> Bounds {
    bounds.bound.iter_mut().for_each(|bound| bound.unreached = None);
    bounds
}

fn bounds(path: &str, text: &str) -> Result<Bounds, Error> {
    Bounds::parse(text).map_err(|error| excerpt(path, text, error.span.clone(), &error.problem))
}
