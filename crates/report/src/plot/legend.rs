//! What stands beside a chart: samples of its lines, and what its symbols mean.

use super::FONT;
use plotters::coord::Shift;
use plotters::prelude::*;
use schema::reproduction::RowSpan;

/// In pixels.
pub(super) struct Legend {
    /// Height of the first line's sample, and from one to the next.
    pub top: i32,
    pub row: i32,
    /// Length of a sample, and what is free on its left and behind the names.
    pub sample: u32,
    pub gap: u32,
    /// Width of a letter, on average.
    pub character: u32,
}
/// As charts have it.
pub(super) const LEGEND: Legend = Legend { top: 52, row: 18, sample: 18, gap: 12, character: 6 };

/// What a symbol of a chart stands for.
#[derive(Clone, Copy)]
pub(super) enum Symbol {
    /// What was simulated.
    Simulated,
    /// What the document says.
    Published,
    /// The same, of a dashed line.
    PublishedOfDashed,
    /// From the low to the high end of what a row's figures span.
    Bar(RowSpan),
}

impl Symbol {
    pub fn words(self) -> &'static str {
        match self {
            Symbol::Simulated => "simulated",
            Symbol::Published => "published",
            Symbol::PublishedOfDashed => "published, dashed line",
            Symbol::Bar(RowSpan::Seeds) => "least to most of seeds",
            Symbol::Bar(RowSpan::Interval) => "95 % interval",
        }
    }

    /// In a row of the legend.
    pub fn draw<D: DrawingBackend>(
        self,
        legend: &DrawingArea<D, Shift>,
        row: usize,
    ) -> Result<(), DrawingAreaErrorKind<D::ErrorType>> {
        let (left, height) = (LEGEND.gap as i32, LEGEND.top + row as i32 * LEGEND.row);
        let at = (left + LEGEND.sample as i32 / 2, height);
        match self {
            Symbol::Simulated => legend.draw(&Circle::new(at, 3, BLACK.filled()))?,
            Symbol::Published => legend.draw(&Cross::new(at, 6, BLACK.stroke_width(2)))?,
            Symbol::PublishedOfDashed => legend.draw(&TriangleMarker::new(at, 6, BLACK))?,
            Symbol::Bar(_) => {
                let bar = [(at.0, height - 6), (at.0, height + 6)];
                legend.draw(&PathElement::new(bar, BLACK.stroke_width(1)))?;
            }
        }
        let words = (left + (LEGEND.sample + LEGEND.gap / 2) as i32, height - LEGEND.row / 3);
        legend.draw(&Text::new(self.words(), words, (FONT, 12)))
    }
}
