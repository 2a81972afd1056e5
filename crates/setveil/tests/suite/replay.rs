//! The attacker who replays the whole program: what is sampled against all
//! worlds of small data, each with its probability.

use std::collections::BTreeMap;

use setveil::data::ItemId;
use setveil::data::hierarchy::{LeafOrder, balanced};
use setveil::release::{Body, Cluster, SimpleCluster};
use setveil::{Dataset, Method, attack, workflow};
use testkit::random;

type World = Vec<Vec<ItemId>>;

/// More combinations of columns than this are not tried one by one.
const COMBINATIONS: usize = 20_000;

fn method(written: &str) -> Method {
    serde_json::from_str(written).unwrap()
}

fn clusters(method: &Method, data: &Dataset) -> Vec<SimpleCluster> {
    match method.run(data, &()).map(|outcome| outcome.release.body) {
        Ok(Body::Disassociated(body)) => {
            body.clusters.iter().flat_map(Cluster::leaves).cloned().collect()
        }
        Ok(_) => panic!("a method with clusters"),
        Err(_) => Vec::new(),
    }
}

/// How likely each world of a cluster is, if what its records have of each
/// chunk is dealt out anew, and each term of the term chunk to as many records as before or,
/// if nobody knows to how many, to any 1 to k - 1.
fn worlds(
    leaf: &SimpleCluster,
    records: &[&[ItemId]],
    unknown: Option<usize>,
) -> Option<BTreeMap<World, u64>> {
    let n = records.len();
    // Every column is a list of equally likely ways to fill it.
    let mut columns: Vec<Vec<World>> = Vec::new();
    for chunk in &leaf.record_chunks {
        let domain = chunk.domain();
        let part = |record: &&[ItemId]| -> Vec<ItemId> {
            record.iter().copied().filter(|item| domain.contains(item)).collect()
        };
        let parts: World = records.iter().map(part).collect();
        // The rows have no names, so the first column may stay where it is.
        let orders = if columns.is_empty() { vec![(0..n).collect()] } else { permutations(n) };
        let column = |order: &Vec<usize>| order.iter().map(|&i| parts[i].clone()).collect();
        columns.push(orders.iter().map(column).collect());
    }
    for &term in &leaf.term_chunk {
        let held = records.iter().filter(|record| record.contains(&term)).count() as u32;
        let fits = |set: &u32| match unknown {
            Some(k) if held < k as u32 => (1..k as u32).contains(&set.count_ones()),
            _ => set.count_ones() == held,
        };
        let column = |set: u32| -> World {
            (0..n).map(|i| if set >> i & 1 == 1 { vec![term] } else { Vec::new() }).collect()
        };
        columns.push((0..1 << n).filter(fits).map(column).collect());
    }
    let combinations = columns.iter().try_fold(1_usize, |all, c| all.checked_mul(c.len()))?;
    if combinations > COMBINATIONS {
        return None;
    }
    let mut found = BTreeMap::new();
    for mut number in 0..combinations {
        let mut world: World = vec![Vec::new(); n];
        for column in &columns {
            let chosen = &column[number % column.len()];
            number /= column.len();
            world.iter_mut().zip(chosen).for_each(|(record, part)| record.extend(part));
        }
        world.iter_mut().for_each(|record| record.sort_unstable());
        world.sort_unstable();
        if world.iter().all(|record| !record.is_empty()) {
            *found.entry(world).or_insert(0) += 1;
        }
    }
    Some(found)
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let insert = |order: Vec<usize>| {
        (0..n).map(move |at| {
            let mut order = order.clone();
            order.insert(at, n - 1);
            order
        })
    };
    permutations(n - 1).into_iter().flat_map(insert).collect()
}

/// What was kept of what was tried, and what is right.
fn agree(what: &str, kept: u64, tried: u64, right: f64) {
    let share = kept as f64 / tried as f64;
    // Five standard errors: less than one false alarm in a million comparisons.
    let error = 5.0 * (right * (1.0 - right) / tried as f64).sqrt();
    assert!((share - right).abs() <= error + 1e-9, "{what}: {kept} of {tried}, right is {right}");
}

/// The data with other records in the places of a cluster.
fn with_world(data: &Dataset, places: &[u32], world: &World) -> Dataset {
    let mut rows: Vec<&[ItemId]> = data.records().collect();
    places.iter().zip(world).for_each(|(&place, record)| rows[place as usize] = record);
    data.with_records(rows)
}

/// Compares on one data set, if it can: the right shares of worlds that are
/// published alike among those with the same chunks, with supports unknown and known.
fn compare(published: &Method, unrefined: &Method, data: &Dataset) -> Option<[f64; 2]> {
    let release = published.run(data, &()).ok()?.release;
    let before = unrefined.run(data, &()).ok()?.release;
    let leaves = clusters(unrefined, data);
    let members = unrefined.members(&before, data, &()).unwrap()?;
    let several: Vec<usize> =
        (0..leaves.len()).filter(|&i| leaves[i].record_chunks.len() > 1).collect();
    let [only] = several[..] else { return None };
    let (leaf, places) = (&leaves[only], &members[only]);
    let records: Vec<&[ItemId]> = places.iter().map(|&r| data.record(r as usize)).collect();
    let k = release.manifest.guarantee.model.k().unwrap() as usize;
    let series = [worlds(leaf, &records, Some(k))?, worlds(leaf, &records, None)?];

    let options = attack::Options::default().targets(1).worlds(600).replays(300).clusters(1);
    let stages = workflow::attack(&release, Some(data), &options, &()).unwrap();
    let stages = stages.report.algorithm.expect("it was replayed").stages;
    let mut shares = [0.0; 2];
    for (i, worlds) in series.iter().enumerate() {
        let (mut all, mut chunks, mut whole) = (0, 0, 0);
        for (world, count) in worlds {
            all += count;
            let alone = data.with_records(world.iter().map(Vec::as_slice));
            if clusters(unrefined, &alone) != [leaf.clone()] {
                continue;
            }
            chunks += count;
            let again = published.run(&with_world(data, places, world), &());
            whole += if again.is_ok_and(|o| o.release.body == release.body) { *count } else { 0 };
        }
        let (name, stages) = (published.name(), &stages[3 * i..3 * i + 3]);
        let right = chunks as f64 / all as f64;
        agree(&format!("{name}, {i}, chunks"), stages[0].kept, stages[0].tried, right);
        let right = whole as f64 / chunks as f64;
        agree(&format!("{name}, {i}, release"), stages[2].kept, stages[1].tried, right);
        assert_eq!(stages[1].kept, stages[2].tried, "what passes one stage is tried in the next");
        shares[i] = right;
    }
    Some(shares)
}

#[test]
fn replayed_clusters_agree_with_all_worlds() {
    let plain = |k: u32, refine: bool| {
        format!(
            r#"{{"method":"disassociation","parameters":{{"k":{k},"m":2,"max_cluster_size":{},"refine":{refine}}}}}"#,
            2 * k
        )
    };
    let dls = plain(2, false).replace("disassociation", "dls");
    let safe =
        plain(3, false).replace("\"refine\":false", "\"eta\":0.2,\"refine\":false,\"safe\":true");
    for (published, unrefined) in [
        (plain(2, true), plain(2, false)),
        (plain(3, true), plain(3, false)),
        (dls.clone(), dls),
        (safe.clone(), safe.clone()),
    ] {
        let safe = published == safe;
        let (published, unrefined) = (method(&published), method(&unrefined));
        let (mut compared, mut ruled_out, mut seed) = (0, [0; 2], 0);
        while compared < 10 && seed < 6_000 {
            let data = Dataset::from_records(random::records(seed, 9, 5, 2.2));
            if let Some(shares) = compare(&published, &unrefined, &data) {
                compared += 1;
                (0..2).for_each(|i| ruled_out[i] += usize::from(shares[i] < 1.0));
            }
            seed += 1;
        }
        assert_eq!(compared, 10, "{published:?}");
        // The safe method is the one that shows nothing if supports are known.
        let seen = if safe { ruled_out[1] == 0 } else { ruled_out[0] > 0 };
        assert!(seen, "{ruled_out:?} {published:?}");
    }
}

/// For every record what could stand in the place of its items, in the first
/// class that it fits into.
fn choices(release: &Body, record: &[String]) -> Vec<Vec<String>> {
    let Body::Generalized(body) = release else { panic!("classes") };
    let tree = body.hierarchy.as_ref().expect("a hierarchy");
    let node = |label: &str| tree.node(label).unwrap();
    let covers = |above: &str, item: &str| tree.covers(node(above), node(item));
    let class = body.classes.iter().map(|(nodes, _)| body.vocabulary.texts(nodes)).find(|nodes| {
        record.iter().all(|item| nodes.iter().any(|n| covers(n, item)))
            && nodes.iter().all(|n| record.iter().any(|item| covers(n, item)))
    });
    let class = class.expect("a class");
    let below = |item: &String| {
        let above = class.iter().find(|n| covers(n, item)).unwrap();
        tree.leaves(node(above)).map(|leaf| tree.label(leaf).to_owned()).collect()
    };
    record.iter().map(below).collect()
}

/// The share of single records that could be others, weighted as they are drawn.
fn single_records(published: &Method, data: &Dataset) -> f64 {
    let body = published.run(data, &()).unwrap().release.body;
    let labels = data.vocabulary();
    let (mut all, mut alike) = (0.0, 0.0);
    for place in 0..data.len() {
        let texts = labels.texts(data.record(place));
        let choices = choices(&body, &texts);
        let combinations: usize = choices.iter().map(Vec::len).product();
        for mut number in 0..combinations {
            let mut record: Vec<ItemId> = Vec::new();
            for leaves in &choices {
                record.push(labels.id(&leaves[number % leaves.len()]).expect("all items occur"));
                number /= leaves.len();
            }
            record.sort_unstable();
            record.dedup();
            if record == data.record(place) {
                continue;
            }
            let weight = 1.0 / combinations as f64;
            all += weight;
            let world = with_world(data, &[place as u32], &vec![record]);
            let again = published.run(&world, &());
            alike += if again.is_ok_and(|o| o.release.body == body) { weight } else { 0.0 };
        }
    }
    alike / all
}

#[test]
fn replayed_records_agree_with_all_worlds() {
    let parameters = r#""hide_leaves":false,"k":2,"unknown_to_root":false"#;
    for (name, more) in [("partition", ""), ("apriori", r#","m":2"#)] {
        let written = format!(r#"{{"method":"{name}","parameters":{{{parameters}{more}}}}}"#);
        let (mut compared, mut kept) = (0, 0);
        for seed in 0..40 {
            let data = Dataset::from_records(random::records(seed, 8, 6, 2.0));
            let tree = balanced(data.vocabulary(), 2, LeafOrder::Natural).unwrap();
            let published = method(&written).with_hierarchy(tree);
            let release = published.run(&data, &()).unwrap().release;
            let options = attack::Options::default().targets(1).worlds(1).replays(400);
            let report = workflow::attack(&release, Some(&data), &options, &()).unwrap().report;
            let stages = report.algorithm.expect("it was replayed").stages;
            // A release without generalised items leaves nothing to try.
            if stages[0].tried > 0 {
                let right = single_records(&published, &data);
                agree(name, stages[0].kept, stages[0].tried, right);
                compared += 1;
                kept += usize::from(right > 0.0 && right < 1.0);
            }
        }
        assert!(compared >= 20 && kept > 0, "{name}: {compared}, {kept}");
    }
}
