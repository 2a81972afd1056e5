//! From groups of rows to what is published of them (cahd-2008, section II-A):
//! the exact non-sensitive items as a bag, and how often each sensitive item
//! occurs. Which row has it is gone.

use rayon::prelude::*;

use super::{Rows, Split};
use crate::data::{Dataset, ItemId, P};
use crate::methods::recipe::Recipe;
use crate::release::{Bag, Body, Group, Grouped, Guarantee, Model, Release, Supports};
use crate::{Progress, Result};

/// What such a method does, for people.
pub(in crate::methods) const IN_WORDS: &str = "People with similar ordinary items were put into \
    groups. Their ordinary items are published as they are; the sensitive items of a group are \
    published beside it, so that nobody can tell to whom in the group they belong.";

/// What such a method promises.
pub(in crate::methods) fn guarantee(p: P) -> Guarantee {
    Guarantee { model: Model::Association { p: p.get() }, supports: Supports::Exact }
}

/// Publishes `groups`, each a list of rows of `split`.
pub(in crate::methods) fn publish<R: Recipe>(
    parameters: &R::Parameters,
    data: &Dataset,
    split: &Split,
    groups: &Rows,
    progress: &dyn Progress,
) -> Result<Release> {
    let groups = summarize(split, groups, progress)?;
    let items = data.supports().iter().filter(|&&support| support > 0).count();
    let body = Grouped { vocabulary: data.vocabulary().clone(), groups };
    Ok(Release {
        manifest: R::manifest(parameters, data.len() as u64, items as u64),
        body: Body::Grouped(body),
    })
}

/// The groups in canonical order.
fn summarize(split: &Split, groups: &Rows, progress: &dyn Progress) -> Result<Vec<Group>> {
    let mut published: Vec<Group> = (0..groups.len())
        .into_par_iter()
        .map(|g| {
            let rows = groups.row(g);
            let own = rows.iter().flat_map(|&r| split.sensitive.row(r as usize));
            let mut own: Vec<ItemId> = own.map(|&i| split.items[i as usize]).collect();
            own.sort_unstable();
            let records = rows.iter().map(|&r| split.qid.row(r as usize));
            Ok(Group {
                size: rows.len() as u32,
                records: Bag::try_from_itemsets(records, progress)?,
                sensitive: own.chunk_by(|a, b| a == b).map(|c| (c[0], c.len() as u32)).collect(),
            })
        })
        .collect::<Result<_>>()?;
    published.par_sort_unstable();
    Ok(published)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::perm_mondrian::{Method, Parameters};
    use crate::methods::sensitive::resolve;

    /// The groups are the same; the holder of the sensitive item is not.
    #[test]
    fn nothing_published_tells_which_row_of_a_group_is_the_sensitive_one() {
        let qid = [vec!["a"], vec!["a", "b"], vec!["b"], vec!["c"], vec!["c", "d"]];
        let mut seen = Vec::new();
        for holder in 0..3 {
            for other in 3..5 {
                let mut rows = qid.clone();
                rows[holder].push("x");
                rows[other].push("y");
                let data = Dataset::from_records(rows);
                let split = Split::new(&data, &resolve(&data, &["x", "y"]).unwrap(), &()).unwrap();
                let of = |records: std::ops::Range<u32>| {
                    let row = |r: u32| split.source.iter().position(|&s| s == r).unwrap() as u32;
                    records.map(row).collect::<Vec<_>>()
                };
                let groups: Rows = [of(3..5), of(0..3)].into_iter().collect();
                let parameters = Parameters::new(P::new(2).unwrap(), ["x", "y"]);
                seen.push(publish::<Method>(&parameters, &data, &split, &groups, &()).unwrap());
            }
        }
        assert!(seen.windows(2).all(|w| w[0] == w[1]));
    }
}
