//! Words for errors: "Did you mean …?", which known name was meant by one that is not, and what is wrong with
//! a number. All parts ask here, so that a typing error counts as one everywhere by the same rule.

mod fields;
mod numbers;

pub use numbers::{in_words, number_in_words};

/// The one of `known` that was probably meant by `name`: the most similar by its spelling, capitals aside, if
/// at most about a quarter of the longer one is wrong, or one letter of short ones. Two letters in the wrong
/// order count once. Of several that are equally similar, the first.
///
/// ```
/// assert_eq!(suggest::suggest("cyclictets", ["hackbench", "cyclictest"]), Some("cyclictest"));
/// assert_eq!(suggest::suggest("sysbench", ["hackbench", "cyclictest"]), None);
/// ```
pub fn suggest<K: AsRef<str>>(name: &str, known: impl IntoIterator<Item = K>) -> Option<K> {
    let name = name.to_lowercase();
    let measured = known.into_iter().map(|known| {
        let spelled = known.as_ref().to_lowercase();
        let longer = name.chars().count().max(spelled.chars().count());
        let distance = strsim::damerau_levenshtein(&name, &spelled);
        (distance, longer, known)
    });
    let (distance, longer, nearest) = measured.min_by_key(|(distance, ..)| *distance)?;
    (distance <= ((longer + 1) / 4).max(1)).then_some(nearest)
}

/// So many of some names, and how many more there are.
///
/// ```
/// assert_eq!(suggest::listed(&["a", "b", "c"], 2), "a, b and 1 more");
/// assert_eq!(suggest::listed(&["a", "b"], 2), "a, b");
/// ```
pub fn listed<N: AsRef<str>>(names: &[N], most: usize) -> String {
    let (named, rest) = names.split_at(names.len().min(most));
    let named: Vec<&str> = named.iter().map(AsRef::as_ref).collect();
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    named.join(", ") + &more
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 5] = ["ns", "cpus", "RT_PUSH_IPI", "sleep", "ubuntu24.04"];

    #[test]
    fn typing_errors_are_seen() {
        for (wrong, meant) in [
            ("us", "ns"),
            ("cpu", "cpus"),
            ("rt_push_ipy", "RT_PUSH_IPI"),
            ("slepe", "sleep"),
            ("ubuntu2404", "ubuntu24.04"),
            ("SLEEP", "sleep"),
        ] {
            assert_eq!(suggest(wrong, KNOWN), Some(meant), "{wrong}");
        }
    }

    #[test]
    fn other_words_are_not() {
        for other in ["", "x", "quicksilver", "RT_PUSH", "sheets", "//"] {
            assert_eq!(suggest(other, KNOWN), None, "{other}");
        }
        assert_eq!(suggest("x", [""; 0]), None);
    }

    #[test]
    fn the_nearest_counts_then_the_first() {
        assert_eq!(suggest("2.6.63", ["2.6.23", "2.6.36"]), Some("2.6.23"));
        assert_eq!(suggest("2.6.63", ["2.6.31", "2.6.36"]), Some("2.6.36"));
    }
}
