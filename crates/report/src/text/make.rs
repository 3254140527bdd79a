//! What a build did.

use super::paragraph::wrap;
use crate::numbers::many;
use schema::MakeResult;

/// Objects, jobs and time.
#[must_use]
pub fn make(result: &MakeResult) -> String {
    let seconds = result.seconds.map_or("not finished".to_owned(), |s| format!("in {:.3} s", s.as_f64()));
    let (objects, jobs) = (many(result.objects, "object"), many(result.jobs.into(), "job"));
    wrap(&format!("{objects}, {jobs}: {seconds}"), "", "  ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::Seconds;

    #[test]
    fn a_build_says_how_long_it_took_or_that_it_did_not_finish() {
        let done =
            |objects, seconds| make(&MakeResult { load: "make".to_owned(), jobs: 10, objects, seconds });
        assert_eq!(done(343, Some(Seconds::from_ns(8_036_175_000))), "343 objects, 10 jobs: in 8.036 s\n");
        assert_eq!(done(1, None), "1 object, 10 jobs: not finished\n");
    }
}
