//! What the documents of docs/spec number: sections, and rows and paragraphs such as invariants and examples.

use super::{Entry, Explanation, Kind, Section};
use std::sync::LazyLock;

macro_rules! documents {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../../../../docs/spec/", $name, ".md"))),)*]
    };
}

const DOCUMENTS: [(&str, &str); 6] =
    documents!("rt-class" "fair-class" "machine" "fair-placement" "eevdf-class" "deadline-groups");

/// A section or an item.
struct Passage {
    document: &'static str,
    /// `5.3`, `E10`.
    number: &'static str,
    /// Of a section its title.
    text: String,
    /// The heading above it; its own, if it is a section.
    heading: &'static str,
    /// From 1 on.
    line: usize,
}

impl Passage {
    fn name(&self) -> String {
        format!("{} {}", self.document, self.number)
    }
}

static PASSAGES: LazyLock<Vec<Passage>> = LazyLock::new(|| {
    let mut passages: Vec<Passage> = Vec::new();
    for (document, text) in DOCUMENTS {
        let mut heading = "";
        let first = passages.len();
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let found = if let Some(title) = line.strip_prefix('#') {
                heading = title.trim_start_matches('#').trim();
                section(heading)
            } else if let Some(row) = line.strip_prefix('|') {
                row_of_table(row)
            } else {
                paragraph(&lines[at..])
            };
            let Some((number, text)) = found else { continue };
            // Where a number stands a second time, it refers to the first.
            if !passages[first..].iter().any(|known| known.number == number) {
                passages.push(Passage { document, number, text, heading, line: at + 1 });
            }
        }
    }
    passages
});

/// `5.3 Title`, `Appendix A. Title`, `14. Title`.
fn section(heading: &'static str) -> Option<(&'static str, String)> {
    let (number, title) = heading.strip_prefix("Appendix ").unwrap_or(heading).split_once(' ')?;
    let number = number.trim_end_matches('.');
    let letters = number.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let is_number =
        number.len() - letters.len() < 2 && letters.chars().all(|c| c == '.' || c.is_ascii_digit());
    is_number.then(|| (number, plain(title)))
}

/// `P4`, `MI10`.
fn is_item(number: &str) -> bool {
    let digits = number.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let letters = number.len() - digits.len();
    (1..=3).contains(&letters) && !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
}

/// ` E6 | what happens | what comes of it |`
fn row_of_table(row: &'static str) -> Option<(&'static str, String)> {
    let (number, cells) = row.split_once(" | ")?;
    let number = number.trim().trim_matches('*');
    let cells = cells.trim_end().trim_end_matches('|').trim_end();
    is_item(number).then(|| (number, plain(&cells.replace(" | ", "; "))))
}

/// `**A1 — placement.** What is meant,` up to an empty line.
fn paragraph(lines: &[&'static str]) -> Option<(&'static str, String)> {
    let first = lines.first()?.strip_prefix("**")?;
    let number = first.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    let until_empty: Vec<&str> = lines.iter().copied().take_while(|line| !line.trim().is_empty()).collect();
    let text = until_empty.join(" ");
    let text = plain(&text);
    let text = text[number.len()..].trim_start_matches([' ', '—', '–', '.', ':']).to_owned();
    is_item(number).then_some((number, text))
}

/// Without Markdown's emphasis.
fn plain(text: &str) -> String {
    text.replace("**", "").replace("\\|", "|")
}

/// All of them, document by document.
pub fn entries() -> Vec<Entry> {
    PASSAGES.iter().map(|passage| Entry::new(passage.name(), &*passage.text)).collect()
}

/// Where one stands.
pub fn source(name: &str) -> Option<String> {
    let Passage { document, heading, line, .. } = PASSAGES.iter().find(|passage| passage.name() == name)?;
    Some(format!("docs/spec/{document}.md, line {line}: {heading}"))
}

/// By a number without a document (`E10`), or with the name of its file (`machine.md MI4`).
pub fn numbered(name: &str) -> Option<Explanation> {
    let (document, number) = match name.split_once(' ') {
        Some((file, number)) => (Some(file.strip_suffix(".md").unwrap_or(file)), number.trim_start()),
        None => (None, name),
    };
    let is_meant = |passage: &&Passage| {
        passage.number.eq_ignore_ascii_case(number)
            && document.is_none_or(|document| passage.document.eq_ignore_ascii_case(document))
            && (document.is_some() || is_item(passage.number))
    };
    let found: Vec<&Passage> = PASSAGES.iter().filter(is_meant).collect();
    let kind = Kind::Specification;
    match found.as_slice() {
        [] => None,
        [one] => {
            let source = source(&one.name());
            let (name, meaning) = (one.name(), one.text.clone());
            Some(Explanation { kind, name, meaning, source, sections: Vec::new() })
        }
        [first, ..] => {
            let entries = found.iter().map(|passage| Entry::new(passage.name(), &*passage.text)).collect();
            let title = "with the document (`schedlab explain \"DOCUMENT NUMBER\"` says where it stands)";
            Some(Explanation {
                kind,
                name: first.number.to_owned(),
                meaning: format!("{} documents have one of this number.", found.len()),
                source: None,
                sections: vec![Section { title: title.to_owned(), entries }],
            })
        }
    }
}

/// A whole document, by its name or that of its file.
pub fn document(name: &str) -> Option<Explanation> {
    let name = name.strip_suffix(".md").unwrap_or(name);
    let (document, text) = DOCUMENTS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    let title = text.lines().next()?.trim_start_matches('#').trim();
    let sections = PASSAGES.iter().filter(|p| p.document == *document && !is_item(p.number));
    Some(Explanation {
        kind: Kind::Specification,
        name: (*document).to_owned(),
        meaning: title.to_owned(),
        source: Some(format!("docs/spec/{document}.md")),
        sections: vec![Section {
            title: "its sections (`schedlab list specification` has its examples and invariants, too)"
                .to_owned(),
            entries: sections.map(|passage| Entry::new(passage.name(), &*passage.text)).collect(),
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::super::explain;
    use super::*;

    #[test]
    fn a_row_a_paragraph_and_a_section_are_found_by_document_and_number() {
        for (name, begins) in [
            ("eevdf-class E10", "`vprot ≤ d` at set time"),
            ("rt-class E6", "target raised between search and lock; retry ≤ 3"),
            ("fair-class A1", "placement."),
            ("rt-class 12", "Edge cases and property tests"),
            ("machine MI10", "polling or mwait idle"),
        ] {
            let found = explain(name).expect(name);
            assert_eq!((found.kind, found.name.as_str()), (Kind::Specification, name));
            assert!(found.meaning.starts_with(begins), "{name}: {}", found.meaning);
            assert!(found.source.is_some_and(|source| source.starts_with("docs/spec/")));
        }
        assert_eq!(explain("machine.md MI10").map(|found| found.name).ok().as_deref(), Some("machine MI10"));
    }

    #[test]
    fn a_number_that_several_documents_have_lists_them() {
        let found = explain("e10").expect("several");
        let names: Vec<&str> = found.sections[0].entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["rt-class E10", "fair-placement E10", "eevdf-class E10"]);
        let only = explain("DA2").expect("one document has it");
        assert_eq!(only.name, "deadline-groups DA2");
    }

    /// Whatever a run may find broken can be looked up: as the checks name it.
    #[test]
    fn every_item_of_every_table_has_a_text() {
        for Passage { document, number, text, .. } in PASSAGES.iter() {
            assert!(!text.trim().is_empty(), "{document} {number}");
        }
        // A check of this repository resolves what is written out in one piece.
        let nowhere = ["eevdf-class", "Z99"].join(" ");
        assert!(explain(&nowhere).is_err());
    }
}
