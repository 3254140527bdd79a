//! Pictures as PNG: the SVG, drawn with a font that comes with the program, so that the picture does not
//! depend on the fonts of the computer. Letters that the font lacks are boxes.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use std::sync::Arc;

/// Letters of Latin, Greek and Cyrillic of Roboto (`font/README.md`).
const FONT: &[u8] = include_bytes!("font/Roboto-Regular.ttf");
const FAMILY: &str = "Roboto";
/// Pixels for each of the SVG's, so that small letters can be read.
const SCALE: f32 = 2.0;

/// A picture that cannot be drawn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the picture cannot be drawn as PNG: {0}")]
pub struct PngError(String);

/// Draws a picture of ours, SVG, as PNG, twice as wide and as high in pixels: the same bytes for the same
/// picture.
///
/// # Errors
/// What is no SVG, or too large for memory.
pub fn png(svg: &str) -> Result<Vec<u8>, PngError> {
    let mut options = Options { font_family: FAMILY.to_owned(), ..Options::default() };
    let fonts = Arc::make_mut(&mut options.fontdb);
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family(FAMILY);
    let tree = Tree::from_str(svg, &options).map_err(|error| PngError(error.to_string()))?;
    let size = tree.size().to_int_size().scale_by(SCALE).ok_or_else(too_large)?;
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or_else(too_large)?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| PngError(error.to_string()))
}

fn too_large() -> PngError {
    PngError("it is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixels(svg: &str) -> Pixmap {
        Pixmap::decode_png(&png(svg).expect("a picture")).expect("PNG")
    }

    fn picture(content: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"60\" height=\"20\" \
             font-family=\"sans-serif\">{content}</svg>"
        )
    }

    #[test]
    fn a_rectangle_is_where_the_svg_has_it_at_twice_the_size() {
        let drawn = pixels(&picture("<rect x=\"10\" y=\"5\" width=\"20\" height=\"10\" fill=\"#f00\"/>"));
        assert_eq!((drawn.width(), drawn.height()), (120, 40));
        let is_red = |x, y| drawn.pixel(x, y).is_some_and(|pixel| pixel.red() == 255 && pixel.alpha() == 255);
        assert!(is_red(20, 10) && is_red(59, 29) && !is_red(19, 10) && !is_red(60, 29) && !is_red(30, 30));
    }

    /// Without any font of the computer.
    #[test]
    fn text_is_drawn_and_its_letters_differ() {
        let text = |words: &str| {
            let drawn = pixels(&picture(&format!("<text x=\"2\" y=\"15\" font-size=\"14\">{words}</text>")));
            drawn.data().to_vec()
        };
        let ink = |data: &[u8]| data.chunks(4).filter(|pixel| pixel[3] > 0).count();
        assert!(ink(&text("12 µs")) > ink(&text("1")) && ink(&text("1")) > 5);
        assert_ne!(text("µs"), text("ms"));
        assert_eq!(text("12 µs"), text("12 µs"));
    }

    #[test]
    fn what_is_no_picture_is_an_error() {
        assert!(png("no picture").is_err());
    }
}
