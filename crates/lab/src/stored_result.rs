//! Results that were stored, and experiments as data, to be run again.

use crate::error::Error;
use crate::experiment::Experiment;
use crate::loads::{HEAD, LoadSource};
use crate::sources::{Input, STANDARD_STREAM, Sources, text_of};
use schema::{ExperimentText, LogSchema, RunResult, RunSchema};

/// The result of a run, as far as it says how to repeat that; or just that, an [`ExperimentText`] in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredResult {
    /// Name of the file, for errors.
    path: String,
    /// The command line that made it, where there was one.
    pub command: Option<String>,
    /// What ran.
    pub experiment: ExperimentText,
    /// The version of schedlab whose result it is.
    version: Option<String>,
}

impl StoredResult {
    /// Reads the result of a run, or an experiment's text; `None` for a word that means something else, and
    /// for standard input and pipes, which can be looked at only once.
    ///
    /// # Errors
    /// A file that cannot be read; a result of another schema, one that is damaged, one without what ran;
    /// a text that is none.
    pub fn open(word: &str, files: &dyn Sources) -> Result<Option<StoredResult>, Error> {
        if word == STANDARD_STREAM || LoadSource::of(word, files) == LoadSource::CommandLine {
            return Ok(None);
        }
        let mut input = Input::open(word, files)?;
        if !input.is_seekable() {
            return Ok(None);
        }
        let head = input.head(HEAD)?;
        if is_experiment(head) {
            let text = text_of(word, input.into_bytes()?)?;
            let experiment = ExperimentText::from_json(&text)
                .map_err(|source| Error::Experiment { path: word.to_owned(), source })?;
            let path = word.to_owned();
            return Ok(Some(StoredResult { path, command: None, experiment, version: None }));
        }
        let Some(schema) = schema(head) else { return Ok(None) };
        if schema != RunSchema::NAME {
            return Err(Error::OtherResult { path: word.to_owned(), schema });
        }
        let text = text_of(word, input.into_bytes()?)?;
        let result =
            RunResult::from_json(&text).map_err(|source| Error::Result { path: word.to_owned(), source })?;
        match result.experiment {
            Some(experiment) => {
                let (path, version) = (word.to_owned(), Some(result.engine.version));
                Ok(Some(StoredResult { path, command: result.command, experiment, version }))
            }
            None => Err(Error::ResultWithoutText { path: word.to_owned(), command: result.command }),
        }
    }

    /// The experiment, with the files that it names.
    ///
    /// # Errors
    /// As [`Experiment::open`], with the name of the result.
    pub fn repeat(&self, files: &dyn Sources) -> Result<Experiment, Error> {
        let opened = match self.experiment.loads.is_empty() {
            true => Err(Error::NoLoad),
            false => Experiment::open(&self.experiment, files),
        };
        opened.map_err(|source| Error::OfResult { path: self.path.clone(), source: Box::new(source) })
    }

    /// A sentence on a result of another version of schedlab, whose figures this one may not repeat.
    pub fn other_version(&self) -> Option<String> {
        let (then, now) = (self.version.as_ref()?, env!("CARGO_PKG_VERSION"));
        let path = &self.path;
        (then != now).then(|| {
            format!(
                "{path} was made by schedlab {then}, and this is {now}: its figures may come out otherwise"
            )
        })
    }
}

/// The schema of a result of ours that begins so. The log of a run is none: it is a trace, and who reads
/// traces says what to write instead.
pub(crate) fn schema(head: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(head);
    let value = after(&text, &["{", "\"schema\"", ":", "\""])?;
    let (name, _) = value.split_once('"')?;
    (name.starts_with("schedlab") && name != LogSchema::NAME).then(|| name.to_owned())
}

/// Whether an experiment's text begins so. An rt-app file has none of these members.
pub(crate) fn is_experiment(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let begins = |member: &str| after(&text, &["{", &format!("\"{member}\""), ":"]).is_some();
    ExperimentText::FIRST.into_iter().any(begins)
}

/// What follows these words, with white space before any of them.
fn after<'t>(text: &'t str, words: &[&str]) -> Option<&'t str> {
    words.iter().try_fold(text, |text, word| text.trim_start().strip_prefix(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::Files;

    const LOG: &str = "{\"schema\":\"schedlab-log/1\"";

    #[test]
    fn a_result_is_known_by_its_beginning() {
        let schema = |text: &str| schema(text.as_bytes());
        assert_eq!(schema("{\n  \"schema\": \"schedlab/1\",\n").as_deref(), Some("schedlab/1"));
        assert_eq!(schema("{\"schema\":\"schedlab-compare/1\"").as_deref(), Some("schedlab-compare/1"));
        for other in
            ["{ \"tasks\": {} }", "{\"schema\": \"other/1\"}", "{\"schema\": 1}", "", "schedlab/1", LOG]
        {
            assert_eq!(schema(other), None, "{other}");
        }
    }

    #[test]
    fn what_cannot_be_repeated_says_why() {
        let run = |members: &str| format!("{{\"schema\": \"schedlab/1\"{members}}}").into_bytes();
        let files = Files::from([
            ("damaged.json".to_owned(), run(", \"x\": 1")),
            ("cut.json".to_owned(), b"{\"schema\": \"schedlab/1\", \"comm".to_vec()),
            ("compared.json".to_owned(), b"{\"schema\": \"schedlab-compare/1\"}".to_vec()),
            ("experiment.json".to_owned(), b"{\"loads\": [{\"load\": \"hog\"}]}".to_vec()),
            ("empty.json".to_owned(), b"{\"loads\": []}".to_vec()),
            ("misspelt.json".to_owned(), b"{\"loads\": [], \"kernels\": 1}".to_vec()),
            ("wrapped.json".to_owned(), b"{\"experiment\": {\"seed\": 2, \"loads\": []}}".to_vec()),
            ("strings.json".to_owned(), b"{\"kernel\": \"6.1\", \"loads\": [\"hog\"]}".to_vec()),
            ("pipeline.json".to_owned(), b"{ \"tasks\": {} }".to_vec()),
        ]);
        let open = |name| StoredResult::open(name, &files);
        let error = |name| open(name).expect_err("no result").to_string();
        assert!(error("damaged.json").starts_with("damaged.json: not a result of schema schedlab/1: "));
        assert!(error("cut.json").ends_with("; the file was cut off, make it anew"), "{}", error("cut.json"));
        assert!(error("compared.json").contains("schedlab-compare/1"), "{}", error("compared.json"));
        assert!(error("missing.json").starts_with("missing.json: "));
        assert_eq!(
            error("misspelt.json"),
            "misspelt.json: not an experiment: unknown field `kernels`; did you mean `kernel`? at line 1 \
             column 23"
        );
        assert!(error("strings.json").contains("expected fields with their values at line 1"));
        let wrapped = open("wrapped.json").expect("readable").expect("an experiment");
        assert_eq!(wrapped.experiment.seed, 2);
        let found = open("experiment.json").expect("readable").expect("an experiment");
        assert_eq!(found.experiment.loads[0].load, "hog");
        assert_eq!(open("pipeline.json").expect("readable"), None, "an rt-app file");
        assert_eq!(open("hackbench -g1").expect("no file"), None);
        let empty = open("empty.json").expect("readable").expect("an experiment").repeat(&files);
        let error = empty.expect_err("nothing to run").to_string();
        assert!(error.starts_with("empty.json cannot be run again: no load"), "{error}");
    }

    #[test]
    fn a_result_of_another_version_says_so() {
        let experiment = ExperimentText::from_json("{\"loads\": [{\"load\": \"hog\"}]}").expect("a text");
        let stored = |version: &str| {
            let (path, version) = ("r.json".to_owned(), Some(version.to_owned()));
            StoredResult { path, command: None, experiment: experiment.clone(), version }
        };
        assert_eq!(stored(env!("CARGO_PKG_VERSION")).other_version(), None);
        let said = stored("0.0.9").other_version().expect("another one");
        assert!(said.starts_with("r.json was made by schedlab 0.0.9"), "{said}");
    }
}
