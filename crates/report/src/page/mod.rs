//! A result as one page for a browser, made for looking: no network, no other file.
//!
//! The page is a script and a style (`bundle/`, built from `web/` of the repository) and its data: what is
//! said ([`content`]) and what happened ([`timeline`]), packed. Names of tasks and files stand in the data
//! only, which is no markup; the script shows them as text.

pub mod content;
mod document;
pub mod timeline;

pub use content::Content;
pub use timeline::Timeline;

/// A page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// What it says.
    pub content: Content,
    /// What happened, in one run, or in one run of each configuration of a comparison.
    pub timelines: Vec<Timeline>,
}

impl Page {
    /// A page without a timeline.
    #[must_use]
    pub fn of(content: Content) -> Page {
        Page { content, timelines: Vec::new() }
    }

    /// The page as HTML: the same bytes for the same page. At most some 5 MB: where the timelines hold more,
    /// the page says what is left out.
    #[must_use]
    pub fn html(&self) -> String {
        document::html(self)
    }
}

#[cfg(test)]
mod tests;
