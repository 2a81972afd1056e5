//! What lies outside every promise, on cases that fit on a page.

use setveil::Method;
use setveil::attack::limits::{growth, increments, negative, row_order};
use setveil::data::{Dataset, ItemId, K, M, Vocabulary};
use setveil::methods::disassociation::{Parameters, anonymize};
use setveil::release::{Bag, Body, Cluster, Disassociated, SimpleCluster};

/// Sub-records with counts.
type Chunk<'a> = &'a [(&'a str, u32)];

/// A simple cluster of chunks of sub-records (one letter an item) with counts.
fn cluster(size: u32, chunks: &[Chunk], labels: &Vocabulary) -> Cluster {
    let ids = |text: &str| -> Vec<ItemId> {
        text.chars().map(|c| labels.id(&c.to_string()).unwrap()).collect()
    };
    let bag = |chunk: &Chunk| {
        let counted: Vec<_> = chunk.iter().map(|(text, count)| (ids(text), *count)).collect();
        Bag::from_counted(counted.iter().map(|(items, count)| (&items[..], *count)))
    };
    let record_chunks = chunks.iter().map(bag).collect();
    Cluster::Simple(SimpleCluster { size, record_chunks, term_chunk: Vec::new() })
}

fn release(items: &str, clusters: &[(u32, &[Chunk])]) -> Disassociated {
    let vocabulary = Vocabulary::new(items.chars().map(|c| c.to_string()));
    let clusters =
        clusters.iter().map(|(size, chunks)| cluster(*size, chunks, &vocabulary)).collect();
    Disassociated { vocabulary, clusters }
}

fn data(records: &[(&str, usize)]) -> Dataset {
    let record = |text: &str| text.chars().map(|c| c.to_string()).collect::<Vec<_>>();
    let rows = records.iter().flat_map(|(text, n)| std::iter::repeat_n(record(text), *n));
    Dataset::from_records(rows)
}

fn k(k: u32) -> K {
    K::new(k).unwrap()
}

#[test]
fn rows_link_what_the_canonical_order_leaves_open() {
    // Each of a, b with each of x, y once: two times two in four records.
    let body = release("abxy", &[(4, &[&[("a", 2), ("b", 2)], &[("x", 2), ("y", 2)]])]);
    let original = data(&[("ax", 1), ("ay", 1), ("bx", 1), ("by", 1)]);
    let found = row_order(&body, &original, &[vec![0, 1, 2, 3]], k(2));
    assert_eq!((found.records_in_chunks, found.pairs, found.certain), (4, 4, 0));
    assert!((found.mean_probability - 0.5).abs() < 1e-9);
    // Every row shows a pair that no other row has.
    assert_eq!(found.below_k, 4);
    // Everybody has a: who has x has a, rows or not, and nobody is alone.
    let body = release("ax", &[(4, &[&[("a", 4)], &[("x", 2)]])]);
    let found = row_order(&body, &data(&[("ax", 2), ("a", 2)]), &[vec![0, 1, 2, 3]], k(2));
    assert_eq!((found.records_in_chunks, found.pairs, found.certain), (2, 2, 2));
    assert!((found.mean_probability - 0.75).abs() < 1e-9);
    assert_eq!(found.below_k, 0);
}

#[test]
fn newcomers_are_what_the_second_release_has_more() {
    let first = release("ab", &[(3, &[&[("ab", 3)]])]);
    let second = release("ab", &[(4, &[&[("ab", 4)]])]);
    let people = data(&[("ab", 4)]);
    let found = growth((&first, &second), (&people, 3), (k(3), 1, 20, 1));
    assert_eq!((found.targets, found.newcomers), (20, 20));
    // Four candidates; three of them were there before.
    assert_eq!((found.few, found.few_with_both, found.certainly_few), (0.0, 1.0, 1.0));
    let more = increments((&first, &second), (&people, 3), k(3));
    assert_eq!((more.itemsets, more.exact, more.below_k), (3, 3, 3));
    assert_eq!((more.records, more.newcomers), (1, 1));
    // Three newcomers protect each other.
    let third = release("ab", &[(6, &[&[("ab", 6)]])]);
    let people = data(&[("ab", 6)]);
    let found = growth((&first, &third), (&people, 3), (k(3), 1, 20, 1));
    assert_eq!((found.few_with_both, found.certainly_few), (0.0, 0.0));
    assert_eq!(increments((&first, &third), (&people, 3), k(3)).below_k, 0);
}

#[test]
fn the_first_release_excludes_what_came_later() {
    let first = release("ab", &[(3, &[&[("ab", 3)]])]);
    let second = release("abc", &[(3, &[&[("ab", 3)]]), (4, &[&[("ac", 4)]])]);
    let people = data(&[("ab", 3), ("ac", 4)]);
    let found = growth((&first, &second), (&people, 3), (k(3), 1, 200, 1));
    // Of somebody with a, the second release says c before b, the first only b.
    assert!(found.possible > found.possible_in_both && found.possible_in_both == 1.0);
    assert!(found.right < 1.0 && found.right_with_both == 1.0);
}

#[test]
fn what_somebody_does_not_have_excludes_candidates() {
    let body = release("abc", &[(5, &[&[("ac", 2), ("abc", 3)]])]);
    let target = data(&[("ac", 1)]);
    let found = negative(&body, &target, (k(3), 1, 20, 1));
    // Five candidates, of which three have b.
    assert_eq!((found.targets, found.few, found.certainly_few), (20, 0.0, 0.0));
    assert_eq!((found.few_random, found.certainly_few_random), (1.0, 1.0));
    assert_eq!((found.few_best, found.certainly_few_best), (1.0, 1.0));
    let found = negative(&body, &target, (k(2), 1, 20, 1));
    assert_eq!((found.few_best, found.certainly_few_best), (0.0, 0.0));
}

/// The bounds behind the attacks are sound: no certain claim about a release
/// of the method is contradicted by its original.
#[test]
fn rows_of_real_clusters_say_what_the_original_says() {
    let original = Dataset::from_records(testkit::random::records(8, 300, 12, 3.0));
    let parameters = Parameters::new(k(3), M::new(2).unwrap()).with_refine(false);
    let published = anonymize(&original, &parameters, &()).unwrap();
    let Body::Disassociated(body) = &published.body else { panic!() };
    let method = Method::of(&published.manifest).unwrap();
    let members = method.members(&published, &original, &()).unwrap().unwrap();
    let found = row_order(body, &original, &members, k(3));
    assert_eq!(found.records, 300);
    assert!(found.certain < found.pairs && found.below_k > 0, "{found:?}");
    assert!(found.mean_probability > 0.0 && found.mean_probability < 1.0);
    // The promise holds: two known items never leave fewer than k candidates.
    let found = negative(body, &original, (k(3), 2, 500, 1));
    assert_eq!(found.certainly_few, 0.0);
    assert!(found.few_best >= found.few && found.certainly_few_best >= found.certainly_few);
}
