//! placeholder

use super::Findings;
use crate::release::{Generalized, Manifest};

pub(super) fn check(_manifest: &Manifest, _body: &Generalized, _findings: &mut Findings) {}
