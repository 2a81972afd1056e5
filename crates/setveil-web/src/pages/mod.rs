//! One file a page: read what was asked, call the library, show the answer.

pub(crate) mod data;
pub(crate) mod drop;
pub(crate) mod hierarchy;
pub(crate) mod history;
pub(crate) mod itemsets;
pub(crate) mod job;
pub(crate) mod protect;
pub(crate) mod release;
pub(crate) mod risk;
pub(crate) mod run;
pub(crate) mod save;
pub(crate) mod sensitive;
pub(crate) mod start;
pub(crate) mod sweep;
pub(crate) mod written;

use std::sync::Arc;

use setveil::workflow::Window;

use crate::app::{Ctx, Fault};
use crate::form::Fields;
use crate::shelf::Data;

/// How many lines of a list are shown at once.
const LINES: usize = 50;

/// The page of a list that was asked for, and its lines.
fn window(asked: &Fields) -> (usize, Window) {
    let page: usize = asked.number("page").unwrap_or(0).min(1_000_000);
    (page, Window { skip: page * LINES, take: LINES })
}

/// The data with this number.
fn data(ctx: &Ctx, id: u32) -> Result<Arc<Data>, Fault> {
    ctx.app.shelf().data(id).ok_or_else(|| ctx.absent("This data"))
}
