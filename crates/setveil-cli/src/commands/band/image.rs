//! Rasters as pictures: grey pixels in a PNG, or an SVG around two of them.

use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use setveil::methods::cahd::band::{Band, Raster};

/// Pixels between the two matrices.
const GAP: usize = 24;

/// A grey picture, row by row; 255 is white.
struct Grey {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

/// Both matrices side by side.
pub fn png(band: &Band, side: usize) -> anyhow::Result<Vec<u8>> {
    let (left, right) = (shade(&band.before.raster, side), shade(&band.after.raster, side));
    let mut both =
        Grey { width: left.width + GAP + right.width, height: left.height, pixels: vec![] };
    for (a, b) in left.pixels.chunks(left.width).zip(right.pixels.chunks(right.width)) {
        both.pixels.extend_from_slice(a);
        both.pixels.extend_from_slice(&[255; GAP]);
        both.pixels.extend_from_slice(b);
    }
    encode(&both)
}

/// Both matrices with frames and captions.
pub fn svg(band: &Band, side: usize) -> anyhow::Result<Vec<u8>> {
    let mut parts = String::new();
    let (mut x, mut height) = (GAP, 0);
    for (picture, caption) in [(&band.before, "before"), (&band.after, "after")] {
        let grey = shade(&picture.raster, side);
        let (w, h) = (grey.width, grey.height);
        let data = STANDARD.encode(encode(&grey)?);
        parts += &format!(
            "<text x=\"{x}\" y=\"18\">{caption}: mean distance from the diagonal {:.3}</text>\n\
             <image x=\"{x}\" y=\"{GAP}\" width=\"{w}\" height=\"{h}\" \
             style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{data}\"/>\n\
             <rect x=\"{x}\" y=\"{GAP}\" width=\"{w}\" height=\"{h}\" fill=\"none\" stroke=\"#888\"/>\n",
            picture.mean_distance
        );
        (x, height) = (x + w + GAP, h + 2 * GAP);
    }
    let head = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{x}\" height=\"{height}\" \
         viewBox=\"0 0 {x} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    Ok(format!("{head}{parts}</svg>\n").into_bytes())
}

/// Darker where more ones fall on a pixel, on a logarithmic scale; small
/// matrices are enlarged to about `side` pixels.
fn shade(raster: &Raster, side: usize) -> Grey {
    let most = raster.counts.iter().copied().max().unwrap_or(0).max(1);
    let scale = f64::from(most).ln_1p();
    let grey = |count: u32| match count {
        0 => 255,
        _ => (190.0 * (1.0 - f64::from(count).ln_1p() / scale)) as u8,
    };
    let factor = (side / raster.width.max(raster.height)).max(1);
    let (width, height) = (raster.width * factor, raster.height * factor);
    let mut pixels = Vec::with_capacity(width * height);
    for row in raster.counts.chunks(raster.width) {
        let line: Vec<u8> =
            row.iter().flat_map(|&c| std::iter::repeat_n(grey(c), factor)).collect();
        (0..factor).for_each(|_| pixels.extend_from_slice(&line));
    }
    Grey { width, height, pixels }
}

fn encode(grey: &Grey) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, grey.width as u32, grey.height as u32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(&grey.pixels)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_ones_are_darker_and_small_matrices_are_enlarged() {
        let raster = Raster { width: 3, height: 1, counts: vec![0, 1, 9] };
        let grey = shade(&raster, 6);
        assert_eq!((grey.width, grey.height, grey.pixels.len()), (6, 2, 12));
        assert_eq!((grey.pixels[0], grey.pixels[4]), (255, 0));
        assert!(grey.pixels[2] > 0 && grey.pixels[2] < 200);
    }
}
