//! placeholder

use super::Findings;
use crate::release::{Disassociated, Manifest};

pub(super) fn check(_manifest: &Manifest, _body: &Disassociated, _findings: &mut Findings) {}
