//! The documents of docs/spec: which sections and which numbered items each has.

use std::collections::{BTreeMap, BTreeSet};

use regex_lite::Regex;

use crate::tree::Texts;

/// Where the documents are.
pub const FOLDER: &str = "docs/spec";

/// One document.
#[derive(Default)]
pub struct Document {
    /// `5.3`, `A` of an appendix: headings, by their number.
    sections: BTreeSet<String>,
    /// `P4`, `E5`: rows of tables and bold words at the beginning of a line.
    items: BTreeSet<String>,
    /// `5.5a`: steps of a section that have letters.
    steps: BTreeSet<String>,
}

impl Document {
    fn read(text: &str) -> Self {
        let heading =
            Regex::new(r"^#{1,6} (?:Appendix )?([A-Z]?[0-9]*(?:\.[0-9]+)*)[. ]").expect("a pattern");
        let item = Regex::new(r"^(?:\| *\**|\*\*)([A-Z]{1,3}[0-9]+)\b").expect("a pattern");
        let step = Regex::new(r"^ *([a-z])\. ").expect("a pattern");
        let mut document = Document::default();
        let mut section = String::new();
        for line in text.lines() {
            if let Some(found) = heading.captures(line) {
                section = found[1].to_owned();
                document.sections.insert(section.clone());
            } else if let Some(found) = item.captures(line) {
                document.items.insert(found[1].to_owned());
            } else if let Some(found) = step.captures(line) {
                document.steps.insert(format!("{section}{}", &found[1]));
            }
        }
        document
    }

    /// Whether there is a section, a lettered step or an item of this number.
    pub fn has(&self, number: &str) -> bool {
        [&self.sections, &self.items, &self.steps].iter().any(|known| known.contains(number))
    }
}

/// All documents.
pub struct Spec {
    documents: BTreeMap<String, Document>,
    /// Document of the codes that the sources write without one, by the letters of the code.
    bare: BTreeMap<String, String>,
    /// `000`: the seeds that README.md describes.
    seeds: BTreeSet<String>,
}

impl Spec {
    /// From the texts of docs/spec, README.md among them.
    pub fn read(texts: &Texts) -> Self {
        let name =
            |path: &str| path.strip_prefix(FOLDER)?.strip_prefix('/')?.strip_suffix(".md").map(str::to_owned);
        let readme = &texts[&format!("{FOLDER}/README.md")];
        let documents = texts.iter().filter_map(|(path, text)| Some((name(path)?, Document::read(text))));
        let code =
            Regex::new(r"^\| ([A-Z]{1,2})[0-9]+ to [A-Z]{1,2}[0-9]+ \| ([a-z-]+) ").expect("a pattern");
        let seed = Regex::new(r"^\| ([0-9]{3}) \|").expect("a pattern");
        let rows = |pattern: &Regex| -> Vec<Vec<String>> {
            let cells =
                |row: regex_lite::Captures| row.iter().flatten().map(|c| c.as_str().to_owned()).collect();
            readme.lines().filter_map(|line| pattern.captures(line).map(cells)).collect()
        };
        Spec {
            documents: documents.filter(|(name, _)| name != "README").collect(),
            bare: rows(&code).into_iter().map(|row| (row[1].clone(), row[2].clone())).collect(),
            seeds: rows(&seed).into_iter().map(|row| row[1].clone()).collect(),
        }
    }

    pub fn document(&self, name: &str) -> Option<&Document> {
        self.documents.get(name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.documents.keys().map(String::as_str)
    }

    /// Which document a code belongs to that stands without one.
    pub fn document_of(&self, code: &str) -> Option<&str> {
        self.bare.get(code.trim_end_matches(|c: char| c.is_ascii_digit())).map(String::as_str)
    }

    pub fn has_seed(&self, number: &str) -> bool {
        self.seeds.contains(number)
    }
}
