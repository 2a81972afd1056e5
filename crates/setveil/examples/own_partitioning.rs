//! Disassociation with partitionings of one's own: records are clustered by
//! their length, and every cluster has at most one record chunk.
//!
//!     cargo run --example own_partitioning

use setveil::data::{Dataset, ItemId, K, M};
use setveil::methods::disassociation::{
    ChunkedCluster, Clusters, HorizontalPartitioning, Parameters, Sizes, Verpart,
    VerticalPartitioning, anonymize_with,
};
use setveil::{Progress, Result, verify};

/// Records of about the same length come together.
struct ByLength;

impl HorizontalPartitioning for ByLength {
    fn name(&self) -> &str {
        "by-length"
    }

    fn partition(
        &self,
        data: &Dataset,
        _may_split: &[bool],
        sizes: Sizes,
        progress: &dyn Progress,
    ) -> Result<Clusters> {
        // By length and then by content: the order of the input must not matter.
        let mut records: Vec<u32> = (0..data.len() as u32).collect();
        records.sort_by_key(|&r| (data.record(r as usize).len(), data.record(r as usize)));
        let mut clusters = Clusters::default();
        let pieces = records.len().div_ceil(sizes.max());
        for piece in 0..pieces {
            let (from, to) = (piece * records.len() / pieces, (piece + 1) * records.len() / pieces);
            clusters.push(records[from..to].iter().copied());
            progress.step((to - from) as u64)?;
        }
        Ok(clusters)
    }
}

/// What VERPART puts into its first chunk, and nothing else.
struct FirstChunk(Verpart);

impl VerticalPartitioning for FirstChunk {
    type Scratch = <Verpart as VerticalPartitioning>::Scratch;

    fn name(&self) -> &str {
        "first-chunk"
    }

    fn partition(
        &self,
        scratch: &mut Self::Scratch,
        records: &[&[ItemId]],
        hidden: &dyn Fn(ItemId) -> bool,
        progress: &dyn Progress,
    ) -> Result<ChunkedCluster> {
        let chunked = self.0.partition(scratch, records, hidden, progress)?;
        let Some(first) = chunked.cluster.record_chunks.first() else { return Ok(chunked) };
        // All other terms go to the term chunk, which fills any record: Lemma 2 holds.
        let domain = first.domain();
        let others = |item: ItemId| hidden(item) || domain.binary_search(&item).is_err();
        self.0.partition(scratch, records, &others, progress)
    }
}

/// Runs the example.
// An example may print; the library may not.
#[allow(clippy::print_stdout)]
pub fn main() -> Result<()> {
    let names = ["tea", "ham", "rye", "jam", "oil", "fig", "egg", "nut"];
    let record = |r: usize| {
        let has = move |i: &usize| (r * (i + 3)).is_multiple_of(i + 2);
        (0..names.len()).filter(has).map(move |i| names[i])
    };
    let data = Dataset::from_records((0..200).map(record));
    let parameters = Parameters::new(K::new(3)?, M::new(2)?).with_max_cluster_size(20);
    let vertical = FirstChunk(Verpart { k: parameters.k, m: parameters.m });
    let release = anonymize_with(&data, &parameters, &ByLength, &vertical, &())?;

    // The manifest says what was done, and whoever has the release can check it.
    assert_eq!(release.manifest.parameters["clustering"], "by-length");
    assert_eq!(release.manifest.parameters["chunking"], "first-chunk");
    let verdict = verify::verify(&release, &())?;
    println!("{} records, the guarantee holds: {}", release.manifest.records, verdict.holds);
    assert!(verdict.holds, "{:?}", verdict.violations);
    Ok(())
}
