//! A machine's file with what a fit found: figures and their origins change, comments and order stay.

use lab::{FittedFigure, FittedMachine};
use thiserror::Error;
use toml_edit::{DocumentMut, Item, TableLike, Value};

/// What stands before the words about an older fit in an origin.
const OLD_FIT: &str = "; fitted";

/// A file that cannot be changed.
#[derive(Debug, Error)]
pub enum FittedMachineError {
    /// It is no TOML.
    #[error("the machine's file: {0}")]
    Toml(#[from] toml_edit::TomlError),
    /// It has no number there.
    #[error("the machine's file has no number at {0}")]
    NoFigure(String),
}

/// The text of the file with what was found. `by` is the command that finds it again; each origin ends with
/// it.
///
/// # Errors
/// A text that is no TOML, or has no number at one of the places.
pub fn rewritten(machine: &FittedMachine, by: &str) -> Result<String, FittedMachineError> {
    let mut document: DocumentMut = machine.text.parse()?;
    for figure in &machine.figures {
        let keys: Vec<&str> = figure.place.split('.').collect();
        set(document.as_table_mut(), &keys, figure.number)
            .ok_or_else(|| FittedMachineError::NoFigure(figure.place.clone()))?;
        say_origin(document.as_table_mut(), &keys, figure, by);
    }
    Ok(document.to_string())
}

/// Puts a number in the place of another; whole ones stay whole.
fn set(table: &mut dyn TableLike, keys: &[&str], number: f64) -> Option<()> {
    let (key, rest) = keys.split_first()?;
    let item = table.get_mut(key)?;
    if !rest.is_empty() {
        let (table, rest) = inner(item, rest)?;
        return set(table, rest, number);
    }
    let value = item.as_value_mut()?;
    let new = match value {
        Value::Integer(_) => Value::from(number.round() as i64),
        Value::Float(_) => Value::from(number),
        _ => return None,
    };
    replace(value, new);
    Some(())
}

/// Says in the innermost table with an origin on the way to a figure that this was fitted.
fn say_origin(table: &mut dyn TableLike, keys: &[&str], figure: &FittedFigure, by: &str) -> bool {
    let Some((key, rest)) = keys.split_first() else { return false };
    let said_below = match table.get_mut(key).and_then(|item| inner(item, rest)) {
        Some((table, rest)) => say_origin(table, rest, figure, by),
        None => false,
    };
    if said_below {
        return true;
    }
    let Some(origin) = table.get_mut("origin").and_then(Item::as_value_mut) else { return false };
    let Some(old) = origin.as_str() else { return false };
    let ground = old.split(OLD_FIT).next().unwrap_or_default();
    let new = format!("{ground}{OLD_FIT} to {} by `{by}`", figure.to);
    replace(origin, Value::from(new));
    true
}

/// The table in an item, and the keys that are left; of a list of tables the first key is a number.
fn inner<'i, 'k>(item: &'i mut Item, keys: &'k [&'k str]) -> Option<(&'i mut dyn TableLike, &'k [&'k str])> {
    if item.is_array_of_tables() {
        let (number, rest) = keys.split_first()?;
        let table = item.as_array_of_tables_mut()?.get_mut(number.parse().ok()?)?;
        return Some((table, rest));
    }
    Some((item.as_table_like_mut()?, keys))
}

/// Spaces and comments around it stay.
fn replace(value: &mut Value, new: Value) {
    let decor = value.decor().clone();
    *value = new;
    *value.decor_mut() = decor;
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# Kept.
[costs]
tick = { ns = 2500, origin = \"published: somewhere\" } # Kept, too.
[costs.line]
near = { ns = 100, origin = \"assumed: a bus; fitted to something else\" }

[[noise.kthread]]
comm = \"a\"
run = { mean_ns = 7 }
origin = \"assumed: a\"

[[noise.kthread]]
comm = \"b\"
run = { mean_ns = 8.5 }
origin = \"assumed: b\"
";

    fn with(place: &str, number: f64) -> Result<String, FittedMachineError> {
        let figure = FittedFigure { place: place.to_owned(), number, to: "3 figures of \"x\"".to_owned() };
        rewritten(&FittedMachine { text: TEXT.to_owned(), figures: vec![figure] }, "again")
    }

    /// One line, or two, are other than before.
    #[test]
    fn a_figure_and_its_origin_change_and_nothing_else() {
        let by = "; fitted to 3 figures of \\\"x\\\" by `again`";
        let quoted = |ground: &str| format!("\"{ground}{by}\"").replace("\\\"x\\\"", "\"x\"");
        let cases = [
            ("costs.line.near.ns", 250.4, "near = { ns = 250, origin = ", "assumed: a bus"),
            ("costs.tick.ns", 9.0, "tick = { ns = 9, origin = ", "published: somewhere"),
            ("noise.kthread.1.run.mean_ns", 2.25, "run = { mean_ns = 2.25 }", "assumed: b"),
        ];
        for (place, number, line, ground) in cases {
            let text = with(place, number).expect(place);
            let changed: Vec<&str> =
                text.lines().zip(TEXT.lines()).filter(|(new, old)| new != old).map(|(new, _)| new).collect();
            assert_eq!(text.lines().count(), TEXT.lines().count());
            assert!(changed[0].starts_with(line), "{changed:?}");
            let origin = quoted(ground);
            let said = changed.iter().any(|line| line.replace('\'', "\"").contains(&origin));
            assert!(said, "{changed:?} has not {origin}");
            assert!(text.contains("# Kept, too."), "{text}");
        }
    }

    #[test]
    fn a_place_that_is_none_is_told() {
        for place in
            ["costs.tack.ns", "noise.kthread.2.run.mean_ns", "noise.kthread.0.comm", "costs", "costs.tick"]
        {
            let error = with(place, 1.0).expect_err(place).to_string();
            assert_eq!(error, format!("the machine's file has no number at {place}"));
        }
    }
}
