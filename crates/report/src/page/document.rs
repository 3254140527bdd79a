//! The HTML around the data.

use super::Page;
use super::content::Content;
use super::timeline::{Detail, Head, Packed, Timeline, pack};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use std::io::Write;

const SCRIPT: &str = include_str!("bundle/page.js");
const STYLE: &str = include_str!("bundle/page.css");
/// Of the script, as a policy of content names it: no other script may run in the page.
const SCRIPT_HASH: &str = include_str!("bundle/page.sha256");

/// Of the packed data. In base64 it is a third more, and with the script the page stays below 5 MB.
const MOST_BYTES: usize = 3_600_000;

/// So many switches, wakeups and migrations have room at any rate: each takes three or four bytes.
const SURELY_FIT: usize = 900_000;

impl Timeline {
    /// Whether a page surely has room for what happens to its tasks.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.events.len() <= SURELY_FIT
    }
}

/// Begins the data, before its length of JSON.
#[derive(Serialize)]
struct Data<'p> {
    schema: &'static str,
    #[serde(flatten)]
    content: &'p Content,
    timelines: Vec<&'p Head<'p>>,
}

pub(super) fn html(page: &Page) -> String {
    let data = STANDARD.encode(fitting(page, MOST_BYTES));
    let title = escaped(&page.content.title);
    let hash = SCRIPT_HASH.trim_ascii();
    let mut html = String::with_capacity(data.len() + SCRIPT.len() + STYLE.len() + 1_000);
    html += "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    html += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    html += &format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src '{hash}'; \
         style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
    );
    html += &format!("<title>{title}</title>\n<style>\n");
    html += STYLE;
    html += "</style>\n</head>\n<body>\n<noscript>This page needs JavaScript: its tables and pictures are \
             made of the data in it.</noscript>\n<script type=\"application/octet-stream\" id=\"data\">";
    html += &data;
    html += "</script>\n<script>";
    html += SCRIPT;
    html += "</script>\n</body>\n</html>\n";
    html
}

/// The data with as much of the timelines as fits into so many bytes: all of them with less detail, then the
/// least detail of a part of their time.
pub(super) fn fitting(page: &Page, most: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for detail in [Detail::All, Detail::NoDecisions, Detail::Tasks] {
        bytes = packed(page, detail, 1.0);
        if bytes.len() <= most || page.timelines.is_empty() {
            return bytes;
        }
    }
    let mut share = 1.0;
    // What is said beside the timelines is never left out.
    while bytes.len() > most && share > 1e-6 {
        // Not all events take the same room.
        share *= 0.9 * most as f64 / bytes.len() as f64;
        bytes = packed(page, Detail::Tasks, share);
    }
    bytes
}

/// JSON with its length before it (four bytes, the lowest first), then the columns of each timeline; all of
/// it packed with gzip.
fn packed(page: &Page, detail: Detail, share: f64) -> Vec<u8> {
    let until = |timeline: &Timeline| (timeline.length_ns as f64 * share).ceil() as u64;
    let timelines: Vec<Packed<'_>> =
        page.timelines.iter().map(|timeline| pack(timeline, detail, until(timeline))).collect();
    let data = Data {
        schema: "schedlab-page/1",
        content: &page.content,
        timelines: timelines.iter().map(|timeline| &timeline.head).collect(),
    };
    let json = serde_json::to_vec(&data).expect("always representable as JSON");
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    let length = (json.len() as u32).to_le_bytes();
    let parts = [&length[..], &json].into_iter().chain(timelines.iter().map(|timeline| &timeline.bytes[..]));
    for part in parts {
        gzip.write_all(part).expect("memory takes it");
    }
    gzip.finish().expect("memory takes it")
}

pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            // No XML may hold these, not even escaped.
            '\t' | '\n' => out.push(character),
            _ if character.is_control() => out.push('\u{fffd}'),
            _ => out.push(character),
        }
    }
    out
}
