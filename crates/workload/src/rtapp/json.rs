//! The file as a tree with byte ranges, after the rules of the dialect about repeated keys.

use super::RtAppDialect;
use super::error::{Fault, RtAppError};
use super::lexical::{Prepared, prepare};
use super::note::{NoteKind, Notes};
use super::source::Source;
use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions};
use std::collections::BTreeMap;
use std::ops::Range;

/// A value and where it stands.
#[derive(Debug)]
pub(super) struct Node {
    pub span: Range<usize>,
    pub value: Value,
}

#[derive(Debug)]
pub(super) enum Value {
    Integer(i64),
    /// A number that is no integer of 64 bits.
    Number,
    Text(String),
    Boolean(bool),
    Null,
    List(Vec<Node>),
    Object(Vec<Member>),
    /// A key without value.
    Nothing,
}

impl Value {
    /// For messages.
    pub fn what(&self) -> &'static str {
        match self {
            Value::Integer(_) => "an integer",
            Value::Number => "a number that is no integer of 64 bits",
            Value::Text(_) => "a string",
            Value::Boolean(_) => "true or false",
            Value::Null => "null",
            Value::List(_) => "an array",
            Value::Object(_) => "an object",
            Value::Nothing => "nothing",
        }
    }
}

/// A member of an object.
#[derive(Debug)]
pub(super) struct Member {
    /// As it stands in the file.
    pub key: String,
    /// workgen's name for a repeated key: the key with a number behind it.
    pub renamed: Option<String>,
    pub key_span: Range<usize>,
    pub value: Node,
}

impl Member {
    /// The key, or workgen's name for it.
    pub fn name(&self) -> &str {
        self.renamed.as_deref().unwrap_or(&self.key)
    }
}

/// Reads a file.
pub(super) fn read(
    text: &str,
    source: &Source,
    dialect: RtAppDialect,
    notes: &mut Notes,
) -> Result<Node, RtAppError> {
    let prepared = prepare(text);
    if let Some(trailing) = &prepared.trailing {
        notes.add(NoteKind::Trailing, "", source.place(trailing));
    }
    let options = ParseOptions {
        allow_comments: true,
        allow_loose_object_property_names: false,
        allow_trailing_commas: true,
        allow_missing_commas: false,
        allow_single_quoted_strings: true,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: true,
        allow_extended_string_escapes: false,
    };
    let parsed = jsonc_parser::parse_to_ast(&prepared.text, &CollectOptions::default(), &options);
    let syntax =
        |span: Range<usize>, problem: String| RtAppError::new(source, &span, Fault::Syntax { problem });
    match parsed {
        Ok(result) => match &result.value {
            Some(value) => Tree { prepared: &prepared, source, dialect, notes }.node(value),
            None => Err(syntax(0..text.len(), "the file is empty".into())),
        },
        Err(error) => {
            let range = error.range();
            let mut problem = error.kind().to_string();
            if let Some(first) = problem.get_mut(..1) {
                first.make_ascii_lowercase();
            }
            Err(syntax(prepared.original(range.start..range.end), problem))
        }
    }
}

struct Tree<'a> {
    prepared: &'a Prepared,
    source: &'a Source,
    dialect: RtAppDialect,
    notes: &'a mut Notes,
}

impl Tree<'_> {
    fn node(&mut self, value: &ast::Value<'_>) -> Result<Node, RtAppError> {
        let range = value.range();
        let span = self.prepared.original(range.start..range.end);
        let value = match value {
            ast::Value::NumberLit(n) => n.value.parse().map_or(Value::Number, Value::Integer),
            ast::Value::StringLit(s) => Value::Text(s.value.to_string()),
            ast::Value::BooleanLit(b) => Value::Boolean(b.value),
            ast::Value::NullKeyword(_) if self.prepared.is_added(range.start) => Value::Nothing,
            ast::Value::NullKeyword(_) => Value::Null,
            ast::Value::Array(a) => {
                Value::List(a.elements.iter().map(|e| self.node(e)).collect::<Result<_, _>>()?)
            }
            ast::Value::Object(o) => Value::Object(self.members(o)?),
        };
        Ok(Node { span, value })
    }

    fn members(&mut self, object: &ast::Object<'_>) -> Result<Vec<Member>, RtAppError> {
        let mut members: Vec<Member> = Vec::with_capacity(object.properties.len());
        let mut names = Names::default();
        for property in &object.properties {
            let range = property.name.range();
            let key_span = self.prepared.original(range.start..range.end);
            let key = property.name.as_str().to_owned();
            let mut value = self.node(&property.value)?;
            if matches!(value.value, Value::Nothing) {
                if self.dialect == RtAppDialect::RtApp {
                    return Err(RtAppError::new(self.source, &key_span, Fault::NoValue { key }));
                }
                value.span = key_span.clone();
            }
            let mut member = Member { key, renamed: None, key_span, value };
            let Some(earlier) = names.first(&member.key) else {
                names.add(&member.key, members.len());
                members.push(member);
                continue;
            };
            let place = self.source.place(&member.key_span);
            match self.dialect {
                RtAppDialect::RtApp => {
                    self.notes.add(NoteKind::RepeatsDropped, &member.key, place);
                    members[earlier].value = member.value;
                }
                RtAppDialect::Workgen => {
                    self.notes.add(NoteKind::RepeatsKept, &member.key, place);
                    member.renamed = Some(names.rename(&member.key, members.len()));
                    members.push(member);
                }
            }
        }
        Ok(members)
    }
}

/// The keys of one object.
#[derive(Default)]
struct Names {
    /// Index of the member with this name.
    taken: BTreeMap<String, usize>,
    /// Number to try next behind a repeated key.
    next: BTreeMap<String, u64>,
}

impl Names {
    fn first(&self, key: &str) -> Option<usize> {
        self.taken.get(key).copied()
    }

    fn add(&mut self, name: &str, member: usize) {
        self.taken.insert(name.to_owned(), member);
    }

    /// workgen puts the first number behind the key that makes it unique in its object.
    fn rename(&mut self, key: &str, member: usize) -> String {
        let number = self.next.entry(key.to_owned()).or_insert(1);
        loop {
            let name = format!("{key}{number}");
            *number += 1;
            if !self.taken.contains_key(&name) {
                self.taken.insert(name.clone(), member);
                return name;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str, dialect: RtAppDialect) -> Vec<String> {
        let source = Source::new("t.json", text);
        let Value::Object(members) = read(text, &source, dialect, &mut Notes::default()).unwrap().value
        else {
            panic!("no object");
        };
        members.iter().map(|m| format!("{}={:?}", m.name(), m.value.value)).collect()
    }

    #[test]
    fn repeated_keys_by_dialect() {
        let text = r#"{"run": 1, "sleep": 2, "run": 3, "run": 4}"#;
        assert_eq!(keys(text, RtAppDialect::RtApp), ["run=Integer(4)", "sleep=Integer(2)"]);
        assert_eq!(
            keys(text, RtAppDialect::Workgen),
            ["run=Integer(1)", "sleep=Integer(2)", "run1=Integer(3)", "run2=Integer(4)"]
        );
        let taken = r#"{"run1": 1, "run": 2, "run": 3}"#;
        assert_eq!(
            keys(taken, RtAppDialect::Workgen),
            ["run1=Integer(1)", "run=Integer(2)", "run2=Integer(3)"]
        );
    }

    #[test]
    fn values_of_all_types() {
        let text = r#"{"a": -1, "b": 1.5, "c": "x", "d": true, "e": null, "f": [1], "g"}"#;
        assert_eq!(
            keys(text, RtAppDialect::Workgen)[..5],
            ["a=Integer(-1)", "b=Number", "c=Text(\"x\")", "d=Boolean(true)", "e=Null"]
        );
        assert_eq!(keys(text, RtAppDialect::Workgen)[6], "g=Nothing");
    }
}
