//! In which order the fields of each type stand in the JSON: a schema does not know, the examples show it.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// The fields of each type that the examples hold, in the order of the JSON.
#[derive(Default)]
pub struct Fields(BTreeMap<String, Vec<String>>);

impl Fields {
    /// Of a schema's definition by name, or of one kind of it, `Definition/kind`.
    pub fn of(&self, definition: &str) -> &[String] {
        self.0.get(definition).map_or(&[], Vec::as_slice)
    }

    /// Looks at an example of a definition.
    pub fn see(&mut self, schema: &Value, definition: &str, example: &impl Serialize) {
        let text = serde_json::to_string(example).expect("an example is representable as JSON");
        let example = serde_json::from_str(&text).expect("our own JSON");
        self.walk(schema, definition, &schema["$defs"][definition], &example);
    }

    fn walk(&mut self, all: &Value, name: &str, schema: &Value, example: &Ordered) {
        if let Some(name) = referenced(schema) {
            return self.walk(all, name, &all["$defs"][name], example);
        }
        match example {
            Ordered::Object(fields) => {
                if let Some(kinds) = schema["oneOf"].as_array() {
                    let kind = tag(fields).expect("a kind");
                    let of_kind = |schema: &&Value| schema["properties"]["kind"]["const"] == kind;
                    let schema = kinds.iter().find(of_kind).expect("a kind of the schema");
                    return self.walk(all, &format!("{name}/{kind}"), schema, example);
                }
                if schema["properties"].is_object() {
                    self.order(name, fields);
                }
                for (field, value) in fields {
                    let of_field = &schema["properties"][field];
                    let of_field =
                        if of_field.is_object() { of_field } else { &schema["additionalProperties"] };
                    self.walk(all, name, of_field, value);
                }
            }
            Ordered::List(items) => {
                items.iter().for_each(|item| self.walk(all, name, &schema["items"], item))
            }
            Ordered::Text(_) | Ordered::Other => (),
        }
    }

    /// A field that was not seen before comes behind the one that it follows.
    fn order(&mut self, name: &str, fields: &[(String, Ordered)]) {
        let known = self.0.entry(name.to_owned()).or_default();
        let mut next = 0;
        for (field, _) in fields {
            match known.iter().position(|known| known == field) {
                Some(position) => next = position + 1,
                None => {
                    known.insert(next, field.clone());
                    next += 1;
                }
            }
        }
    }
}

/// The definition that a schema stands for.
pub fn referenced(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix("#/$defs/")
}

fn tag(fields: &[(String, Ordered)]) -> Option<&str> {
    fields.iter().find_map(|(field, value)| match value {
        Ordered::Text(kind) if field == "kind" => Some(kind.as_str()),
        _ => None,
    })
}

/// JSON with its fields in their order.
enum Ordered {
    Object(Vec<(String, Ordered)>),
    List(Vec<Ordered>),
    /// A string that may tell kinds apart.
    Text(String),
    Other,
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Ordered;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Ordered::Object(fields))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Ordered, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Ordered::List(items))
    }

    fn visit_str<E>(self, text: &str) -> Result<Ordered, E> {
        Ok(Ordered::Text(text.to_owned()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Ordered, E> {
        Ok(Ordered::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Ordered, E> {
        Ok(Ordered::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Ordered, E> {
        Ok(Ordered::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Ordered, E> {
        Ok(Ordered::Other)
    }
}

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}
