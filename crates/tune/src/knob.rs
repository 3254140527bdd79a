//! What may be set.

use crate::error::Error;
use lab::Settings;

/// Something that may be set, with the values to try. What the base has is no value of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Knob {
    /// Its name.
    pub name: String,
    /// At least one.
    pub values: Vec<KnobValue>,
}

/// One value of a knob.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KnobValue {
    /// Words of a comparison: `NO_RT_PUSH_IPI`, `policy=worker=fifo:50`, `group=web=cpu.weight:300`.
    Words(String),
    /// Another command line of a load: priorities, affinities and slices of its tasks.
    Load {
        /// The load as it was given.
        of: String,
        /// The other one.
        instead: String,
    },
}

impl KnobValue {
    /// As results show it.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            KnobValue::Words(words) => words,
            KnobValue::Load { instead, .. } => instead,
        }
    }
}

/// A value that consists of words, of which each can be set on a machine that is there and leaves the work as
/// it is.
///
/// # Errors
/// Words that are none; another kernel, machine or load; other work.
pub(crate) fn words(knob: &str, text: &str) -> Result<KnobValue, Error> {
    let fault = |problem: String| Error::Knob { name: knob.to_owned(), problem };
    let settings = Settings::parse(text).map_err(|error| fault(error.to_string()))?;
    let Settings { kernel, machine, loads, .. } = &settings;
    let is_other_work = |word: &str| ["scale=", "without=", "outside="].iter().any(|of| word.starts_with(of));
    if kernel.is_some() || *machine != schema::MachineText::default() || !loads.is_empty() {
        let problem = "kernel, machine, cpus and load are what is tuned, and no knobs; compare asks what another one \
                       would change";
        return Err(fault(problem.to_owned()));
    }
    if let Some(word) = text.split_whitespace().find(|word| is_other_work(word)) {
        return Err(fault(format!("`{word}` changes the work, not how it is scheduled")));
    }
    if settings.text.is_empty() {
        return Err(fault("a value is empty; what the base has is tried anyway".to_owned()));
    }
    Ok(KnobValue::Words(settings.text))
}
