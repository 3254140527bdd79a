//! A search for the least loss over lists of values, in which no chance and no earlier value has a part.
//!
//! It begins in the middle of every list. It looks at the values a stride up and down of each parameter,
//! goes to the best of these if that is better, and halves all strides if none is. When strides are one
//! value, it also looks at steps of two parameters at a time, since what one gives another may take. Values
//! are told by their numbers in the lists, so that nothing is rounded on the way.

use std::collections::BTreeMap;

/// The number of a value in the list of each parameter.
pub(super) type Place = Vec<usize>;

/// Where a search went.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Path {
    /// Where it began, and each place that was better than the one before, with its loss. The last is the
    /// best.
    pub steps: Vec<Step>,
    /// Places that were looked at.
    pub tried: u64,
}

/// A place that was the best so far.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Step {
    pub place: Place,
    pub loss: f64,
}

/// Searches lists of these lengths, each at least 1. `losses` is asked for many places at a time, and for
/// each only once.
pub(super) fn search<E>(
    lengths: &[usize],
    mut losses: impl FnMut(&[Place]) -> Result<Vec<f64>, E>,
) -> Result<Path, E> {
    let mut known: BTreeMap<Place, f64> = BTreeMap::new();
    // The best of some places, of equal ones the first.
    let mut best_of = |places: &[Place]| -> Result<Option<Step>, E> {
        let mut asked: Vec<Place> = Vec::new();
        for place in places {
            if !known.contains_key(place) && !asked.contains(place) {
                asked.push(place.clone());
            }
        }
        let told = losses(&asked)?;
        known.extend(asked.into_iter().zip(told));
        let of = |place: &Place| Step { place: place.clone(), loss: known[place] };
        Ok(places.iter().map(of).min_by(|a, b| a.loss.total_cmp(&b.loss)))
    };
    let mut strides: Vec<usize> = lengths.iter().map(|length| (length / 4).max(1)).collect();
    let middle: Place = lengths.iter().map(|length| (length - 1) / 2).collect();
    let mut steps: Vec<Step> = best_of(&[middle])?.into_iter().collect();
    while let Some(here) = steps.last().cloned() {
        let is_better = |step: &Step| step.loss < here.loss;
        let single = moves(&here.place, &strides, lengths);
        let mut next = best_of(&single)?.filter(is_better);
        let finest = strides.iter().all(|stride| *stride == 1);
        if next.is_none() && finest {
            let second = |place: &Place| moves(place, &strides, lengths);
            let pairs: Vec<Place> = single.iter().flat_map(second).collect();
            next = best_of(&pairs)?.filter(is_better);
        }
        match next {
            Some(next) => steps.push(next),
            None if finest => break,
            None => strides.iter_mut().for_each(|stride| *stride = (*stride / 2).max(1)),
        }
    }
    Ok(Path { steps, tried: known.len() as u64 })
}

/// The places a stride up and down of each parameter.
fn moves(from: &Place, strides: &[usize], lengths: &[usize]) -> Vec<Place> {
    let mut out = Vec::new();
    for (parameter, (stride, length)) in strides.iter().zip(lengths).enumerate() {
        let down = from[parameter].checked_sub(*stride);
        let up = Some(from[parameter] + stride).filter(|up| up < length);
        for value in [down, up].into_iter().flatten() {
            let mut place = from.clone();
            place[parameter] = value;
            out.push(place);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn found(lengths: &[usize], loss: impl Fn(&Place) -> f64) -> Path {
        let losses = |places: &[Place]| Ok::<_, Infallible>(places.iter().map(&loss).collect());
        let Ok(path) = search(lengths, losses);
        path
    }

    fn off(place: &Place, target: &[i64]) -> f64 {
        place.iter().zip(target).map(|(at, to)| (*at as i64 - to).pow(2) as f64).sum()
    }

    /// Wherever the least loss lies, also in a corner.
    #[test]
    fn it_finds_the_least_of_a_bowl() {
        for target in [[0, 0, 0], [16, 0, 3], [5, 11, 2], [8, 8, 1]] {
            let path = found(&[17, 17, 4], |place| off(place, &target));
            let last = path.steps.last().expect("a beginning");
            assert_eq!(last.loss, 0.0, "{target:?}: {path:?}");
            assert_eq!(path.steps[0].place, [8, 8, 1], "it begins in the middle");
            assert!(path.steps.is_sorted_by(|a, b| a.loss > b.loss));
            assert!(path.tried < 17 * 17, "{} of {} places", path.tried, 17 * 17 * 4);
        }
    }

    /// Along a ridge no step of one parameter helps: down one, up the other.
    #[test]
    fn it_goes_along_a_ridge() {
        let ridge = |place: &Place| {
            let (x, y) = (place[0] as f64, place[1] as f64);
            10.0 * (x + y - 8.0).abs() + (x - 1.0).abs()
        };
        let path = found(&[9, 9], ridge);
        assert_eq!(path.steps.last().map(|step| step.place.clone()), Some(vec![1, 7]), "{path:?}");
    }

    #[test]
    fn each_place_is_asked_for_once() {
        let mut asked: Vec<Place> = Vec::new();
        let Ok(path) = search(&[9, 9], |places: &[Place]| {
            asked.extend(places.iter().cloned());
            Ok::<_, Infallible>(places.iter().map(|place| off(place, &[1, 7])).collect())
        });
        let all = asked.len();
        asked.sort();
        asked.dedup();
        assert_eq!((asked.len(), asked.len() as u64), (all, path.tried));
    }

    #[test]
    fn a_parameter_of_one_value_stays() {
        assert_eq!(found(&[1], |_| 3.0).steps, [Step { place: vec![0], loss: 3.0 }]);
    }

    #[test]
    fn an_error_ends_it() {
        assert_eq!(search(&[3], |_| Err::<Vec<f64>, _>("no machine")), Err("no machine"));
    }
}
