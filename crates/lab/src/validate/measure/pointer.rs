//! A number in JSON.

use serde::Deserialize;
use serde_json::Value as Json;

/// Where it stands, and what becomes of it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::validate) struct Value {
    /// JSON pointer (RFC 6901): `/loads/0/threads/2/min_us`.
    at: String,
    /// At `at` stands a histogram, how often by value: the least value that this share does not exceed.
    quantile: Option<f64>,
    /// It is divided by what stands here.
    per: Option<String>,
    /// And multiplied by this, for another unit.
    times: Option<f64>,
    /// What it is where nothing stands there: a load that did not end has no end.
    missing: Option<f64>,
}

impl Value {
    pub fn of(&self, json: &Json) -> Result<f64, String> {
        if let Some(missing) = self.missing.filter(|_| json.pointer(&self.at).is_none()) {
            return Ok(missing);
        }
        let value = match self.quantile {
            None => number(json, &self.at)?,
            Some(share) => histogram(json, &self.at, share)?,
        };
        let per = self.per.as_ref().map_or(Ok(1.0), |per| number(json, per))?;
        Ok(value / per * self.times.unwrap_or(1.0))
    }
}

pub(in crate::validate) fn number(json: &Json, at: &str) -> Result<f64, String> {
    match json.pointer(at) {
        Some(value) => value.as_f64().ok_or_else(|| format!("what stands at {at} is no number")),
        None => Err(format!("nothing stands at {at}; docs/schema.md says what a result holds")),
    }
}

fn histogram(json: &Json, at: &str, share: f64) -> Result<f64, String> {
    let no_histogram = || format!("no histogram stands at {at}: an object with how often by value");
    let object = json.pointer(at).and_then(Json::as_object).ok_or_else(no_histogram)?;
    let pair = |(value, count): (&String, &Json)| Some((value.parse::<u64>().ok()?, count.as_u64()?));
    let mut counts: Vec<(u64, u64)> =
        object.iter().map(pair).collect::<Option<_>>().ok_or_else(no_histogram)?;
    counts.sort_unstable();
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    let mut below = 0;
    let found = counts.iter().find(|(_, count)| {
        below += count;
        below as f64 >= share * all as f64
    });
    found.map(|(value, _)| *value as f64).ok_or_else(|| format!("the histogram at {at} is empty"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: &str, json: &str) -> Result<f64, String> {
        let value: Value = toml::from_str(value).expect("a place");
        value.of(&serde_json::from_str(json).expect("JSON"))
    }

    #[test]
    fn a_number_is_divided_and_scaled() {
        let json = r#"{"total": {"vol": 500}, "seconds": 2.5}"#;
        assert_eq!(of(r#"at = "/total/vol""#, json), Ok(500.0));
        assert_eq!(of("at = \"/total/vol\"\nper = \"/seconds\"\ntimes = 0.5", json), Ok(100.0));
        assert_eq!(of("at = \"/end\"\nmissing = 9", json), Ok(9.0));
        assert!(of(r#"at = "/total""#, json).is_err_and(|e| e.contains("no number")));
    }

    #[test]
    fn the_quantile_of_a_histogram_is_a_value_that_occurs() {
        let json = r#"{"h": {"9": 50, "10": 40, "120": 10}}"#;
        assert_eq!(of("at = \"/h\"\nquantile = 0.5", json), Ok(9.0));
        assert_eq!(of("at = \"/h\"\nquantile = 0.9", json), Ok(10.0), "10 is more than 9, as numbers");
        assert_eq!(of("at = \"/h\"\nquantile = 0.99", json), Ok(120.0));
        assert!(of("at = \"/h\"\nquantile = 0.5", r#"{"h": {}}"#).is_err());
    }
}
