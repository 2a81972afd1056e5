//! Complex numbers, as far as the sums need them, and the logarithm of the
//! gamma function.

use std::cell::OnceCell;
use std::f64::consts::{LN_2, PI};
use std::ops::{Add, Div, Mul, Sub};

/// A complex number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Complex {
    pub(super) re: f64,
    pub(super) im: f64,
}

impl Complex {
    pub(super) const fn new(re: f64, im: f64) -> Self {
        Self { re, im }
    }

    pub(super) fn abs(self) -> f64 {
        self.re.hypot(self.im)
    }

    /// Whether |z| < 12: too near to 0 for Stirling's series. The parts tell it of most numbers.
    fn is_small(self) -> bool {
        self.re.abs() < 12.0 && self.im.abs() < 12.0 && self.abs() < 12.0
    }

    pub(super) fn exp(self) -> Self {
        let (sin, cos) = self.im.sin_cos();
        Self::new(cos, sin) * self.re.exp()
    }

    pub(super) fn ln(self) -> Self {
        Self::new(self.abs().ln(), self.im.atan2(self.re))
    }

    /// ln(1 + z), exact for small z too.
    fn ln_1p(self) -> Self {
        let twice = 2.0 * self.re + self.re * self.re + self.im * self.im;
        Self::new(0.5 * twice.ln_1p(), self.im.atan2(1.0 + self.re))
    }

    fn recip(self) -> Self {
        Self::from(1.0) / self
    }
}

impl From<f64> for Complex {
    fn from(re: f64) -> Self {
        Self::new(re, 0.0)
    }
}

impl Add for Complex {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.re + other.re, self.im + other.im)
    }
}

impl Sub for Complex {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::new(self.re - other.re, self.im - other.im)
    }
}

impl Mul for Complex {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let (a, b) = (self, other);
        Self::new(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)
    }
}

impl Mul<f64> for Complex {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self::new(self.re * factor, self.im * factor)
    }
}

impl Div for Complex {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let (a, b) = (self, other);
        let scale = b.re * b.re + b.im * b.im;
        Self::new((a.re * b.re + a.im * b.im) / scale, (a.im * b.re - a.re * b.im) / scale)
    }
}

/// ln(z (z - 1) ... (z - n + 1)), up to a multiple of 2 pi i, for one z and several n: what
/// depends on z alone is found once.
pub(super) struct Falling {
    z: Complex,
    /// z + 1.
    above: Complex,
    ln: OnceCell<Complex>,
    stirling: OnceCell<Complex>,
    ln_gamma: OnceCell<Complex>,
}

impl Falling {
    pub(super) fn new(z: Complex) -> Self {
        let above = z + Complex::from(1.0);
        let (ln, stirling, ln_gamma) = Default::default();
        Self { z, above, ln, stirling, ln_gamma }
    }

    /// For this n. Where z is much larger, the difference of two logarithms of the gamma
    /// function would lose most of its digits.
    pub(super) fn ln(&self, n: f64) -> Complex {
        let Self { z, above, .. } = *self;
        let (half, below) = (Complex::from(0.5), above - Complex::from(n));
        // Stirling's series holds for arguments of up to three quarters of a half turn.
        if below.is_small() || below.re < 0.5 && below.im.abs() < -below.re {
            if z.re <= -0.5 {
                // Every factor times -1: the same product from its other end.
                let turns = Complex::new(0.0, PI * (n % 2.0));
                return Self::new(Complex::from(n - 1.0) - z).ln(n) + turns;
            }
            return *self.ln_gamma.get_or_init(|| ln_gamma(above)) - ln_gamma(below);
        }
        let shrink = (Complex::from(-n) / above).ln_1p();
        let (ln, series) =
            (*self.ln.get_or_init(|| above.ln()), *self.stirling.get_or_init(|| stirling(above)));
        ln * n - (below - half) * shrink - Complex::from(n) + series - stirling(below)
    }
}

/// ln Gamma(z), up to a multiple of 2 pi i. Relative error of a few rounding
/// errors: Stirling's series where it is good enough, the recurrence up to
/// there, the reflection for what lies to the left.
pub(super) fn ln_gamma(z: Complex) -> Complex {
    if z.re < 0.5 {
        let mirrored = ln_gamma(Complex::from(1.0) - z);
        return Complex::from(PI.ln()) - ln_sin_pi(z) - mirrored;
    }
    let (mut z, mut below) = (z, Complex::from(1.0));
    while z.is_small() {
        below = below * z;
        z = z + Complex::from(1.0);
    }
    let half_ln_two_pi = 0.5 * (LN_2 + PI.ln());
    (z - Complex::from(0.5)) * z.ln() - z + Complex::from(half_ln_two_pi) + stirling(z) - below.ln()
}

/// What Stirling's formula leaves over, for |z| of 12 and more.
fn stirling(z: Complex) -> Complex {
    const SERIES: [f64; 7] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
    ];
    let inverse = z.recip();
    let square = inverse * inverse;
    let mut series = Complex::from(0.0);
    for coefficient in SERIES.iter().rev() {
        series = series * square + Complex::from(*coefficient);
    }
    series * inverse
}

/// ln sin(pi z), up to a multiple of 2 pi i, for any size of the imaginary part.
fn ln_sin_pi(z: Complex) -> Complex {
    if z.im < 0.0 {
        let mirrored = ln_sin_pi(Complex::new(z.re, -z.im));
        return Complex::new(mirrored.re, -mirrored.im);
    }
    // sin(pi z) = i/2 e^(-i pi z) (1 - e^(2 i pi z)); only the part of z.re
    // behind its whole number matters.
    let turn = Complex::new(-2.0 * PI * z.im, 2.0 * PI * (z.re - z.re.round())).exp();
    Complex::new(PI * z.im, -PI * (z.re % 2.0))
        + (Complex::from(1.0) - turn).ln()
        + Complex::new(0.0, 0.5).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gamma_function_keeps_its_recurrence_and_its_values() {
        let mut ln_factorial = 0.0;
        for n in 1..=60 {
            ln_factorial += f64::from(n).ln();
            let found = ln_gamma(Complex::from(f64::from(n) + 1.0)).re;
            assert!((found - ln_factorial).abs() <= 1e-13 * ln_factorial.max(1.0), "{n}: {found}");
        }
        for (re, im) in [(0.3, 0.1), (5.5, -3.0), (-7.25, 2.0), (-40.5, 0.001), (1e6, 1e3)] {
            let z = Complex::new(re, im);
            // Gamma(z + 1) = z Gamma(z).
            let step = ln_gamma(z + Complex::from(1.0)) - ln_gamma(z) - z.ln();
            let turns = step.im / (2.0 * PI);
            assert!(
                step.re.abs() < 1e-8 && (turns - turns.round()).abs() < 1e-8,
                "{z:?}: {step:?}"
            );
        }
    }
}
