//! placeholder

use super::Findings;
use crate::release::{Grouped, Manifest};

pub(super) fn check(_manifest: &Manifest, _body: &Grouped, _findings: &mut Findings) {}
