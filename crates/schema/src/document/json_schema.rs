//! The JSON Schema of all documents.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use crate::calibration::Calibration;
use crate::comparison::Comparison;
use crate::machine_check::MachineCheck;
use crate::recordings::RecordingsComparison;
use crate::reproduction::Reproduction;
use crate::validation::Validation;
use crate::why::WhyResult;
use crate::{
    ExplainResult, InspectResult, ListResult, LogHead, LogRecord, RunResult, SearchResult, SweepResult,
    TuneResult,
};

/// Every document that a command writes, with all that it is made of.
pub fn all() -> Value {
    fn root<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
        generator.subschema_for::<T>().to_value()
    }
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let documents = [
        root::<RunResult>(&mut generator),
        root::<Comparison>(&mut generator),
        root::<Reproduction>(&mut generator),
        root::<Validation>(&mut generator),
        root::<Calibration>(&mut generator),
        root::<MachineCheck>(&mut generator),
        root::<SweepResult>(&mut generator),
        root::<TuneResult>(&mut generator),
        root::<SearchResult>(&mut generator),
        root::<InspectResult>(&mut generator),
        root::<RecordingsComparison>(&mut generator),
        root::<ListResult>(&mut generator),
        root::<ExplainResult>(&mut generator),
        root::<WhyResult>(&mut generator),
        root::<LogHead>(&mut generator),
        root::<LogRecord>(&mut generator),
    ];
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The JSON that schedlab writes",
        "oneOf": documents,
        "$defs": generator.take_definitions(true),
    });
    tighten(&mut schema);
    schema
}

/// What holds of all documents, and schemars does not know: no field is ever `null`, there are no fields but
/// those of the schema, and comments have no line ends and no links into the source.
fn tighten(schema: &mut Value) {
    let Value::Object(keywords) = schema else { return };
    if let Some(Value::Array(types)) = keywords.get("type") {
        let kind = types.iter().find(|kind| *kind != "null").expect("an Option's value").clone();
        keywords.insert("type".to_owned(), kind);
    }
    if let Some(Value::Array(any)) = keywords.remove("anyOf") {
        let some = any.into_iter().find(|schema| schema["type"] != "null").expect("an Option's value");
        keywords.extend(some.as_object().expect("a schema").clone());
    }
    if let Some(Value::String(text)) = keywords.get_mut("description") {
        *text = plain(text);
    }
    // The width of our integers is nobody else's business.
    keywords.remove("format");
    if keywords.contains_key("properties") {
        keywords.insert("additionalProperties".to_owned(), false.into());
    }
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties" | "$defs", Value::Object(schemas)) => {
                schemas.values_mut().for_each(tighten);
            }
            ("oneOf", Value::Array(schemas)) => schemas.iter_mut().for_each(tighten),
            ("items" | "additionalProperties", schema) => tighten(schema),
            _ => (),
        }
    }
}

/// A comment as running text; paragraphs stay.
fn plain(comment: &str) -> String {
    let paragraphs: Vec<String> = comment.split("\n\n").map(|lines| lines.replace('\n', " ")).collect();
    let text = paragraphs.join("\n\n");
    // "[`Name`](crate::Name)" and "[`crate::Name`]" become "`Name`".
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("[`") {
        let (link, after) = after.split_once("`]").expect("the end of a link");
        plain += before;
        plain += &format!("`{}`", link.rsplit("::").next().unwrap_or(link));
        rest = match after.strip_prefix('(') {
            Some(target) => target.split_once(')').expect("the end of a target").1,
            None => after,
        };
    }
    plain + rest
}

#[test]
fn comments_lose_their_links_into_the_source() {
    assert_eq!(plain("One [`A`] and\n[`crate::b::C`], or [`D`](crate::D)."), "One `A` and `C`, or `D`.");
}
