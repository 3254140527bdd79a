//! docs/schema.md: the JSON for people, from the same comments as the JSON Schema.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::Value;

use super::fields::{Fields, referenced};

/// A document: what it is, in a heading, and the definition of its schema.
pub struct Document {
    pub title: &'static str,
    pub definition: &'static str,
    /// The definition of further lines, of a document that has some.
    pub lines: Option<&'static str>,
}

/// The whole page.
pub fn page(schema: &Value, documents: &[Document], fields: &Fields) -> String {
    let mut page = Page { schema, fields, told: BTreeSet::new(), text: include_str!("intro.md").to_owned() };
    for document in documents {
        let root = &schema["$defs"][document.definition];
        let name = root["properties"]["schema"]["const"].as_str().expect("the name of a schema");
        page.told.insert(document.definition.to_owned());
        write!(page.text, "\n## {}: `{name}`\n", document.title).expect("a String takes all");
        page.object(document.definition, root);
        if let Some(lines) = document.lines {
            page.definition(lines);
        }
    }
    page.text
}

struct Page<'s> {
    schema: &'s Value,
    fields: &'s Fields,
    /// Definitions that have a place on the page.
    told: BTreeSet<String>,
    text: String,
}

impl<'s> Page<'s> {
    /// A definition under its name, unless it is there already.
    fn definition(&mut self, name: &str) {
        if !self.told.insert(name.to_owned()) {
            return;
        }
        let definition = &self.schema["$defs"][name];
        write!(self.text, "\n### {name}\n").expect("a String takes all");
        match definition["oneOf"].as_array() {
            Some(kinds) if kinds.iter().all(|kind| kind["const"].is_string()) => {
                self.choice(definition, kinds)
            }
            Some(kinds) => self.kinds(name, definition, kinds),
            None => self.object(name, definition),
        }
    }

    /// A string with a few values.
    fn choice(&mut self, definition: &Value, kinds: &[Value]) {
        self.text += &format!("\n{}\n\n| value | meaning |\n|---|---|\n", meaning(definition));
        for kind in kinds {
            let value = kind["const"].as_str().expect("a string");
            self.text += &format!("| `{value}` | {} |\n", cell(meaning(kind)));
        }
    }

    /// An object of several kinds.
    fn kinds(&mut self, name: &str, definition: &'s Value, kinds: &'s [Value]) {
        self.text += &format!("\n{}\n", meaning(definition));
        for kind in kinds {
            let tag = kind["properties"]["kind"]["const"].as_str().expect("a kind");
            write!(self.text, "\n### {name}: {tag}\n").expect("a String takes all");
            self.object(&format!("{name}/{tag}"), kind);
        }
    }

    /// What an object is, its fields, and then whatever these refer to for the first time.
    fn object(&mut self, name: &str, object: &'s Value) {
        let Some(properties) = object["properties"].as_object() else {
            self.text += &format!("\n{} A {}.\n", meaning(object), kind_of(object));
            return;
        };
        let order = self.fields.of(name);
        let unseen: Vec<&String> = properties.keys().filter(|field| !order.contains(field)).collect();
        assert!(unseen.is_empty(), "no example of {name} has {unseen:?}");
        let required = object["required"].as_array().map_or(&[][..], Vec::as_slice);
        self.text += &format!("\n{}\n\n| field | type | meaning |\n|---|---|---|\n", meaning(object));
        for field in order {
            let schema = &properties[field];
            let optional = if required.iter().any(|name| name == field) { "" } else { ", optional" };
            let meaning = match schema["const"].as_str() {
                Some(only) => format!("always `\"{only}\"`"),
                None => cell(meaning(schema)),
            };
            self.text += &format!("| `{field}` | {}{optional} | {meaning} |\n", kind_of(schema));
        }
        for field in order {
            let mut schema = &properties[field];
            while let Some(part) =
                ["items", "additionalProperties"].iter().find(|part| schema[**part].is_object())
            {
                schema = &schema[*part];
            }
            if let Some(name) = referenced(schema) {
                self.definition(name);
            }
        }
    }
}

fn meaning(schema: &Value) -> &str {
    schema["description"].as_str().unwrap_or_default()
}

/// In one line of a table.
fn cell(text: &str) -> String {
    text.replace("\n\n", " ").replace('|', "\\|")
}

/// What a value is.
fn kind_of(schema: &Value) -> String {
    if let Some(name) = referenced(schema) {
        return format!("[{name}](#{})", name.to_lowercase());
    }
    match schema["type"].as_str() {
        Some("integer") => "number".to_owned(),
        Some("number") => "decimal".to_owned(),
        Some("array") => format!("list of {}", several(&schema["items"])),
        Some("object") => {
            let pattern = schema["patternProperties"].as_object().and_then(|of| of.values().next());
            format!("map to {}", several(pattern.unwrap_or(&schema["additionalProperties"])))
        }
        Some(kind) => kind.to_owned(),
        None => panic!("no type: {schema}"),
    }
}

fn several(schema: &Value) -> String {
    let one = kind_of(schema);
    if referenced(schema).is_some() || one.contains(' ') { one } else { format!("{one}s") }
}
