//! "rt-class 5.3", "P4", "seed 002": what sources, machine files, experiments and documents name of the
//! specification has to be there.

use std::ops::Range;

use regex_lite::{Captures, Regex};
use suggest::suggest;

use crate::spec::{self, Spec};
use crate::tree::{Finding, Texts, expect_none, planted, texts};

/// A text whose lines are joined, so that a reference may be broken where a comment is.
struct Joined {
    text: String,
    /// Where each line begins in `text`.
    starts: Vec<usize>,
}

impl Joined {
    fn new(text: &str) -> Self {
        let mut joined = Joined { text: String::new(), starts: Vec::new() };
        for line in text.lines() {
            joined.starts.push(joined.text.len());
            let text = line.trim().trim_start_matches(['/', '!', '#']).trim_start();
            // A literal goes on behind a backslash.
            joined.text.push_str(text.trim_end_matches('\\').trim_end());
            joined.text.push(' ');
        }
        joined
    }

    /// From 1 on.
    fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }
}

/// A section, item or seed that a text names.
struct Reference<'t> {
    /// Name of a document, [`SEED`] or [`NAMELESS`].
    of: String,
    number: &'t str,
    at: usize,
}

const SEED: &str = "seed";
const NAMELESS: &str = "";

/// What tells references apart from other text.
struct Patterns<'s> {
    spec: &'s Spec,
    document: Regex,
    /// A number behind a document's name, or behind another one.
    number: Regex,
    between: Regex,
    bare: Regex,
    seeds: Regex,
    /// How the documents name each other: "fair 2.6".
    short: Regex,
    /// What looks like a document with a section.
    other: Regex,
}

impl<'s> Patterns<'s> {
    fn new(spec: &'s Spec) -> Self {
        let pattern = |text: &str| Regex::new(text).expect("a pattern");
        // "machine" is a word of every day: as a document it is "machine.md".
        let names: Vec<&str> = spec.names().filter(|name| *name != "machine").collect();
        Patterns {
            spec,
            document: pattern(&format!(r"\b(?i:({})(?:\.md)?|(machine)\.md)(?:'s)?[ (]*", names.join("|"))),
            number: pattern(r"^([A-Z]{1,3}[0-9]{1,2}|[A-Z]\b|[0-9]{1,2}(?:\.[0-9]{1,2})*[a-z]?)"),
            between: pattern(r"^(?:, and |, |; | and | to )"),
            bare: pattern(r"\b[A-Z]{1,2}[0-9]{1,2}\b"),
            seeds: pattern(r"\b[Ss]eeds? ([0-9]{3}\b(?:(?:, | and | to )[0-9]{3}\b)*)"),
            short: pattern(r"\b(rt|fair) ([0-9]{1,2}\.[0-9]{1,2})\b"),
            other: pattern(r"\b([a-z]+-[a-z]+)(?:\.md)? (?:[0-9]{1,2}\.[0-9]{1,2}|[A-Z]{1,2}[0-9]{1,2})\b"),
        }
    }

    /// The section or item at the beginning of `rest`. Years, units and "40-way" are none.
    fn number_at<'t>(&self, rest: &'t str, first: bool) -> Option<&'t str> {
        let found = self.number.find(rest)?;
        let after = &rest[found.end()..];
        let goes_on = after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-' || c == '%');
        let fraction = after.starts_with('.') && after[1..].starts_with(|c: char| c.is_ascii_digit());
        // "2 us": what follows a comma is a section only if nothing is counted with it.
        let counts = !first
            && found.as_str().bytes().all(|b| b.is_ascii_digit())
            && after.starts_with(' ')
            && self.between.find(after).is_none();
        (!goes_on && !fraction && !counts).then(|| found.as_str())
    }

    /// What stands behind the names of documents, and where that is.
    fn named<'t>(&self, text: &'t str) -> (Vec<Reference<'t>>, Vec<Range<usize>>) {
        let (mut references, mut taken) = (Vec::new(), Vec::new());
        for found in self.document.captures_iter(text) {
            let whole = found.get(0).expect("a match");
            let of = found.get(1).or(found.get(2)).expect("one of them").as_str().to_ascii_lowercase();
            let mut at = whole.end();
            while let Some(number) = self.number_at(&text[at..], at == whole.end()) {
                references.push(Reference { of: of.clone(), number, at });
                at += number.len();
                match self.between.find(&text[at..]) {
                    Some(between) => at += between.end(),
                    None => break,
                }
            }
            taken.push(whole.start()..at);
        }
        (references, taken)
    }

    /// Codes that stand without a document. Uncertain items (`U7`) may not: every document has some.
    fn bare<'t>(&self, text: &'t str, taken: &[Range<usize>]) -> Vec<Reference<'t>> {
        let free = |at: usize| !taken.iter().any(|range| range.contains(&at));
        let codes = self.bare.find_iter(text).filter(|found| free(found.start()));
        codes
            .filter_map(|found| {
                let code = found.as_str();
                let uncertain =
                    code.strip_prefix('U').and_then(|n| n.parse::<u8>().ok()).is_some_and(|n| n < 30);
                let of = self.spec.document_of(code).or(uncertain.then_some(NAMELESS))?.to_owned();
                Some(Reference { of, number: code, at: found.start() })
            })
            .collect()
    }

    /// Sections by the documents' short names.
    fn short<'t>(&self, text: &'t str) -> Vec<Reference<'t>> {
        let reference = |found: Captures<'t>| {
            let number = found.get(2).expect("a match");
            Reference { of: format!("{}-class", &found[1]), number: number.as_str(), at: number.start() }
        };
        self.short.captures_iter(text).map(reference).collect()
    }

    fn seeds<'t>(&self, text: &'t str) -> Vec<Reference<'t>> {
        let lists = self.seeds.captures_iter(text).map(|found| found.get(1).expect("a match"));
        lists
            .flat_map(|list| {
                let numbers = list.as_str().split(|c: char| !c.is_ascii_digit());
                let numbers = numbers.filter(|number| !number.is_empty());
                numbers.map(move |number| Reference { of: SEED.to_owned(), number, at: list.start() })
            })
            .collect()
    }
}

/// Names that are nearly that of a document.
fn misspelt<'t>(patterns: &Patterns<'_>, text: &'t str) -> Vec<(usize, &'t str, String)> {
    let others = patterns.other.captures_iter(text).filter_map(|found| found.get(1));
    let unknown = others.filter(|name| patterns.spec.document(name.as_str()).is_none());
    unknown
        .filter_map(|name| {
            let meant = suggest(name.as_str(), patterns.spec.names())?;
            Some((name.start(), name.as_str(), meant.to_owned()))
        })
        .collect()
}

/// References that lead nowhere.
fn dangling(spec: &Spec, files: &Texts) -> Vec<Finding> {
    let patterns = Patterns::new(spec);
    let mut findings = Vec::new();
    for (path, text) in files {
        let joined = Joined::new(text);
        let (mut references, taken) = patterns.named(&joined.text);
        // What stands behind a document's name is that document's; what is left belongs by its letters. The
        // documents themselves number their own items, and write of processors and kernels.
        references.extend(match path.starts_with(spec::FOLDER) {
            true => patterns.short(&joined.text),
            false => patterns.bare(&joined.text, &taken),
        });
        references.extend(patterns.seeds(&joined.text));
        findings.extend(misspelt(&patterns, &joined.text).into_iter().map(|(at, name, meant)| {
            let what = format!("{name} is no document: did you mean {meant}?");
            Finding { path: path.clone(), line: joined.line(at), what }
        }));
        for Reference { of, number, at } in references {
            let what = match spec.document(&of) {
                Some(document) if document.has(number) => continue,
                Some(_) => format!("{of} has no {number}"),
                None if of == SEED && spec.has_seed(number) => continue,
                None if of == SEED => format!("there is no seed {number}"),
                None => format!("{number} of which document?"),
            };
            findings.push(Finding { path: path.clone(), line: joined.line(at), what });
        }
    }
    findings
}

fn spec() -> Spec {
    Spec::read(&texts(&[spec::FOLDER], &["md"]))
}

#[test]
fn references_to_the_specification_lead_somewhere() {
    let roots = [
        "crates",
        "tests",
        "machines",
        "experiments",
        "demo",
        "fuzz",
        "validation",
        "docs",
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
    ];
    let mut files = texts(&roots, &["rs", "toml", "md", "py"]);
    // This file is full of examples.
    files.remove("tests/tidy/references.rs").expect("this file");
    expect_none(&dangling(&spec(), &files));
}

/// The canary: of good and bad references the bad ones are found, each at its line.
#[test]
fn a_reference_that_leads_nowhere_is_found() {
    let found = |path: &str, text: &str| -> Vec<String> {
        dangling(&spec(), &planted(&[(path, text)])).iter().map(ToString::to_string).collect()
    };
    let good = "//! rt-class 3.2 to 3.5 and 3.7, 2.3, E3, E4; P18 (fair-class A1, I12), machine.md 8.2, MI4, M36. D17\n\
                // rt-class 10.5, 40-way 2015; rt-class 5.5c, U22; deadline-groups A11, B; rt-class\n// 13.3: 99.9 us\n\
                // fair-class 12.1's 300; seeds 001 and 002, seed 1234; Linux 99.9, V61";
    assert_eq!(found("crates/a.rs", good), Vec::<String>::new());
    for (bad, expected) in [
        ("fine\n// rt-class 5.99 says", "crates/a.rs:2: rt-class has no 5.99"),
        ("// rt-class 5.2 to 5.77", "crates/a.rs:1: rt-class has no 5.77"),
        ("// fair-class 7, 99.", "crates/a.rs:1: fair-class has no 99"),
        ("\"rt-class \\\n  78\"", "crates/a.rs:2: rt-class has no 78"),
        ("// (rt-class\n/// 77)", "crates/a.rs:2: rt-class has no 77"),
        ("// rt-class 5.5z", "crates/a.rs:1: rt-class has no 5.5z"),
        ("// rt-class U99", "crates/a.rs:1: rt-class has no U99"),
        ("// machine.md 3.99", "crates/a.rs:1: machine has no 3.99"),
        ("found.expect(\"P77\", right)", "crates/a.rs:1: rt-class has no P77"),
        ("// I13.", "crates/a.rs:1: fair-class has no I13"),
        ("// as U7 says", "crates/a.rs:1: U7 of which document?"),
        ("// MI99", "crates/a.rs:1: machine has no MI99"),
        ("// rt-clas 5.3", "crates/a.rs:1: rt-clas is no document: did you mean rt-class?"),
        ("// fair-classs E5", "crates/a.rs:1: fair-classs is no document: did you mean fair-class?"),
        ("// seeds 000 to 009", "crates/a.rs:1: there is no seed 009"),
    ] {
        assert_eq!(found("crates/a.rs", bad), [expected], "{bad}");
    }
    assert_eq!(found("docs/spec/x.md", "as fair 2.77"), ["docs/spec/x.md:1: fair-class has no 2.77"]);
}
