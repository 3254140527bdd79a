//! The lines that VolanoMark ends with.

use schema::VmarkResult;

/// Messages sent and received, time, throughput.
#[must_use]
pub fn vmark(result: &VmarkResult) -> String {
    let mut out = format!(
        "Messages sent      = {}\nMessages received  = {}\nTotal messages     = {}\n",
        result.sent,
        result.received,
        result.sent + result.received
    );
    match (result.seconds, result.messages_per_second()) {
        (Some(seconds), Some(rate)) => {
            out += &format!("Elapsed time       = {:.3} seconds\n", seconds.as_f64());
            out += &format!("Average throughput = {rate} messages per second\n");
        }
        _ => out += "Elapsed time       = not finished\n",
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::Seconds;

    #[test]
    fn the_lines_are_the_real_tools() {
        let mut result = VmarkResult {
            load: "vmark".to_owned(),
            rooms: 10,
            users: 20,
            sent: 20_000,
            received: 380_000,
            seconds: Some(Seconds::from_ns(3_687_791_000)),
        };
        insta::assert_snapshot!(vmark(&result), @r"
        Messages sent      = 20000
        Messages received  = 380000
        Total messages     = 400000
        Elapsed time       = 3.688 seconds
        Average throughput = 108466 messages per second
        ");
        result.seconds = None;
        assert!(vmark(&result).ends_with("Elapsed time       = not finished\n"));
    }
}
