//! Which name was meant by one that is not known.

/// The one of `known` that was probably meant by `name`: the most similar, by its spelling, if at most about a quarter of
/// it is wrong.
pub fn nearest_name<K>(
    name: &str,
    known: impl IntoIterator<Item = K>,
    spelled: impl Fn(&K) -> String,
) -> Option<K> {
    let distance = |known: &K| strsim::damerau_levenshtein(name, &spelled(known));
    let nearest = known.into_iter().min_by_key(distance)?;
    let is_near = 4 * distance(&nearest) <= name.len().max(spelled(&nearest).len()) + 1;
    is_near.then_some(nearest)
}
