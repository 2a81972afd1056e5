//! What to know about a release that is written block by block.

use setveil::Dataset;
use setveil::caution::{SeenClusters, cluster_cautions};
use setveil::data::{ItemId, K, M};
use setveil::methods::disassociation::{Parameters, publish};
use setveil::release::{Bag, Cluster, Disassociated, SimpleCluster};

/// A cluster of which everybody has these items.
fn leaf(items: &[ItemId], size: u32) -> Cluster {
    let record_chunks = vec![Bag::from_counted([(items, size)])];
    Cluster::Simple(SimpleCluster { size, record_chunks, term_chunk: Vec::new() })
}

#[test]
fn where_blocks_end_changes_nothing_that_is_said() {
    // More sets than are remembered.
    let mut clusters: Vec<Cluster> =
        (0..66_000).map(|n| leaf(&[n / 300, 300 + n % 300], 3)).collect();
    // The first of two items seems to be the rarer one, and most records turn out to have it.
    clusters.extend([leaf(&[999], 4), leaf(&[999], 4), leaf(&[998, 999], 7)]);
    clusters.push(leaf(&[998], 1_000_000));
    let labels: Vec<String> = (0..1000).map(|item| format!("{item:04}")).collect();
    let vocabulary = Dataset::from_records([labels]).vocabulary().clone();
    let all = Disassociated { vocabulary: vocabulary.clone(), clusters };
    let parameters = Parameters::new(K::new(3).unwrap(), M::new(2).unwrap());
    let told = |block: usize| {
        let mut seen = SeenClusters::default();
        for clusters in all.clusters.chunks(block) {
            let (vocabulary, clusters) = (vocabulary.clone(), clusters.to_vec());
            seen.add(&Disassociated { vocabulary, clusters });
        }
        let mut manifest = publish(&parameters, Disassociated::default()).manifest;
        manifest.records = all.records();
        cluster_cautions(&manifest, &vocabulary, &seen)
    };
    let whole = told(usize::MAX);
    assert!(whole[0].what.contains("in 66002 of the clusters"), "{}", whole[0].what);
    assert_eq!(told(1000), whole);
    assert_eq!(told(7), whole);
}
