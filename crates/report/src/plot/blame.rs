//! What latencies are due to, as flames: below each victim the kinds of causes, below each kind the causes
//! with their culprits. Everything is as wide as the time that it takes.

use super::{COLOURS, FONT, Plot};
use crate::numbers::duration_ns;
use crate::why::CauseKind;
use plotters::prelude::*;
use schema::why::{Blame, BlameRow};

/// Of the picture, without its caption.
const WIDTH: i32 = 1_200;
const ROW: i32 = 26;
const MARGIN: i32 = 12;
const CAPTION: i32 = 30;
/// What a character takes at most.
const CHARACTER: i32 = 7;
/// Names shorter than this say nothing.
const SHORTEST: usize = 4;

/// One picture of all victims; none of no lateness.
#[must_use]
pub fn blame(all: &[Blame]) -> Option<Plot> {
    let total: u64 = all.iter().map(|blame| blame.total.0).sum();
    if total == 0 {
        return None;
    }
    let mut svg = String::new();
    Flames { total }.draw(all, &mut svg).expect("a string takes everything that is written to it");
    Some(Plot { name: "blame".to_owned(), svg })
}

struct Flames {
    total: u64,
}

type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// A box of a picture: from a time on, for so long.
struct Flame<'f> {
    level: i32,
    from: u64,
    length: u64,
    name: &'f str,
    colour: RGBColor,
}

impl Flames {
    fn draw(&self, all: &[Blame], svg: &mut String) -> Drawn {
        let size = ((WIDTH + 2 * MARGIN) as u32, (CAPTION + 3 * ROW + 2 * MARGIN) as u32);
        let area = SVGBackend::with_string(svg, size).into_drawing_area();
        area.fill(&WHITE)?;
        let caption = format!("late in all: {}", duration_ns(self.total));
        area.draw(&Text::new(caption, (MARGIN, MARGIN), (FONT, 16)))?;
        let mut from = 0;
        for blame in all {
            let (name, length) = (&*blame.victim, blame.total.0);
            self.flame(&area, &Flame { level: 0, from, length, name, colour: RGBColor(200, 200, 200) })?;
            self.kinds(&area, from, &blame.rows)?;
            from += length;
        }
        area.present()
    }

    fn kinds(
        &self,
        area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
        from: u64,
        rows: &[BlameRow],
    ) -> Drawn {
        let mut from = from;
        for (number, kind) in CauseKind::ALL.into_iter().enumerate() {
            let of_kind = || rows.iter().filter(|row| CauseKind::of(&row.example) == kind);
            let length = of_kind().map(|row| row.all.0).sum();
            let colour = COLOURS[number % (COLOURS.len() - 1)];
            self.flame(area, &Flame { level: 1, from, length, name: kind.words(), colour })?;
            for row in of_kind() {
                self.flame(area, &Flame { level: 2, from, length: row.all.0, name: &row.due_to, colour })?;
                from += row.all.0;
            }
        }
        Ok(())
    }

    fn flame(&self, area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>, flame: &Flame<'_>) -> Drawn {
        let place = |time: u64| MARGIN + (u128::from(time) * WIDTH as u128 / u128::from(self.total)) as i32;
        let (left, right) = (place(flame.from), place(flame.from + flame.length));
        if left >= right {
            return Ok(());
        }
        let top = MARGIN + CAPTION + flame.level * ROW;
        let corners = [(left, top), (right, top + ROW - 2)];
        area.draw(&Rectangle::new(corners, flame.colour.mix(0.45).filled()))?;
        area.draw(&Rectangle::new(corners, WHITE.stroke_width(1)))?;
        let room = ((right - left - 6) / CHARACTER).max(0) as usize;
        let share = 100.0 * flame.length as f64 / self.total as f64;
        let whole = format!("{} {share:.1}%", flame.name);
        let short = if whole.chars().count() <= room {
            whole
        } else {
            // Some part of it is better than none.
            whole.chars().take(room - 1.min(room)).chain(['…']).collect()
        };
        if room >= SHORTEST {
            area.draw(&Text::new(short, (left + 4, top + 7), (FONT, 12)))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::why::Cause;

    #[test]
    fn each_victim_kind_and_cause_is_a_box_as_wide_as_its_time() {
        let mut why = schema::example::why().blame;
        let rows = &mut why[0].rows;
        rows.retain(|row| matches!(row.example, Cause::TimerLate {} | Cause::Switch {}));
        (rows[0].all.0, rows[1].all.0, why[0].total.0) = (300, 900, 1_200);
        let svg = blame(&why).expect("somebody is late").svg;
        let boxes: Vec<&str> =
            svg.lines().filter(|line| line.contains("<rect") && line.contains("opacity=\"0.45\"")).collect();
        let width =
            |wanted: u32| boxes.iter().filter(|line| line.contains(&format!(" width=\"{wanted}\""))).count();
        // The victim, then each of both as its kind and as itself.
        assert_eq!((boxes.len(), width(1_200), width(300), width(900)), (5, 1, 2, 2), "{svg}");
        assert!(svg.contains("cyclictest 100.0%") && svg.contains("timer 25.0%"), "{svg}");
        assert!(blame(&[]).is_none());
    }
}
