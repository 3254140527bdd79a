//! What serde says of fields, in words: the one that was meant in place of all that there are.

use crate::suggest;

/// Of an unknown field: "unknown field `kernell`, expected one of `cpus`, `kernel` at line 1 column 9". Where
/// one that there is is like it, the others are left out.
pub(crate) fn unknown(problem: &str) -> Option<String> {
    let (name, behind) = problem.strip_prefix("unknown field `")?.split_once("`, expected ")?;
    // Behind the last name stands where it is, if anything.
    let (names, place) = behind.split_at(behind.rfind('`')? + 1);
    let known = names.split('`').skip(1).step_by(2);
    let nearest = suggest(name, known)?;
    Some(format!("unknown field `{name}`; did you mean `{nearest}`?{place}"))
}

/// Of something else in place of several fields, which serde calls by the name of a type: "invalid type:
/// integer `3`, expected struct LoadText at line 1 column 12".
pub(crate) fn no_object(problem: &str) -> Option<String> {
    let (value, behind) = problem.split_once(", expected struct ")?;
    let place = behind.find(' ').map_or("", |end| &behind[end..]);
    Some(format!("{value}, expected fields with their values{place}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_that_was_meant_is_named() {
        assert_eq!(
            unknown("unknown field `kernell`, expected one of `cpus`, `kernel` at line 1 column 9")
                .as_deref(),
            Some("unknown field `kernell`; did you mean `kernel`? at line 1 column 9")
        );
        assert_eq!(
            unknown("unknown field `titel`, expected `title` or `text`").as_deref(),
            Some("unknown field `titel`; did you mean `title`?")
        );
        for other in
            ["unknown field `x`, expected `title`", "unknown field `x`, there are no fields", "missing"]
        {
            assert_eq!(unknown(other), None, "{other}");
        }
    }

    #[test]
    fn names_of_types_are_not_shown() {
        assert_eq!(
            no_object("invalid type: string \"hog\", expected struct LoadText at line 1 column 21")
                .as_deref(),
            Some("invalid type: string \"hog\", expected fields with their values at line 1 column 21")
        );
        assert_eq!(no_object("invalid type: map, expected a string"), None);
    }
}
