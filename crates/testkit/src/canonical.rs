//! The canonical order of a release, judged on the text of its file.
//!
//! An oracle for `verify` and for the methods: it reads the lines as plain
//! JSON, keeps every label as text, and follows the paragraph "Canonical
//! order" of `docs/release-format.md` sentence by sentence. It uses nothing of
//! the library.

use std::cmp::Ordering;

use serde_json::Value;

/// The first line, counted from 1, that breaks the order, and how. The lines
/// are those of `clusters.jsonl`, `classes.jsonl` or `groups.jsonl`.
pub fn fault(text: &str) -> Option<(usize, String)> {
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    for (i, line) in lines.iter().enumerate() {
        let inside = if line.get("term_chunk").is_some() || line.get("children").is_some() {
            cluster_fault(line)
        } else if line.get("sensitive").is_some() {
            group_fault(line)
        } else {
            set_fault(line)
        };
        if let Some(what) = inside {
            return Some((i + 1, what));
        }
        let Some(before) = i.checked_sub(1).map(|b| &lines[b]) else { continue };
        let order = if line.get("term_chunk").is_some() || line.get("children").is_some() {
            // Equal clusters may stand side by side.
            by_cluster(before, line) != Ordering::Greater
        } else if line.get("sensitive").is_some() {
            by_group(before, line) != Ordering::Greater
        } else {
            by_text(&before["items"], &line["items"]) == Ordering::Less
        };
        if !order {
            return Some((i + 1, "comes before the line above".into()));
        }
    }
    None
}

fn array(value: &Value) -> &[Value] {
    value.as_array().expect("an array")
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

/// Texts by their bytes, a beginning before the whole.
fn by_text(a: &Value, b: &Value) -> Ordering {
    let bytes = |v: &Value| -> Vec<Vec<u8>> {
        array(v).iter().map(|t| t.as_str().expect("a text").as_bytes().to_vec()).collect()
    };
    bytes(a).cmp(&bytes(b))
}

fn by_bag(a: &Value, b: &Value) -> Ordering {
    for (x, y) in array(a).iter().zip(array(b)) {
        let order =
            by_text(&x["items"], &y["items"]).then(number(&x["count"]).cmp(&number(&y["count"])));
        if order != Ordering::Equal {
            return order;
        }
    }
    array(a).len().cmp(&array(b).len())
}

fn by_list(a: &Value, b: &Value, each: fn(&Value, &Value) -> Ordering) -> Ordering {
    for (x, y) in array(a).iter().zip(array(b)) {
        let order = each(x, y);
        if order != Ordering::Equal {
            return order;
        }
    }
    array(a).len().cmp(&array(b).len())
}

fn by_chunk(a: &Value, b: &Value) -> Ordering {
    by_bag(&a["subrecords"], &b["subrecords"])
}

fn by_cluster(a: &Value, b: &Value) -> Ordering {
    let joint = |c: &Value| c.get("children").is_some();
    let order = number(&a["size"]).cmp(&number(&b["size"])).then(joint(a).cmp(&joint(b)));
    if order != Ordering::Equal {
        return order;
    }
    if joint(a) {
        by_list(&a["shared_chunks"], &b["shared_chunks"], by_chunk)
            .then_with(|| by_list(&a["children"], &b["children"], by_cluster))
    } else {
        by_list(&a["record_chunks"], &b["record_chunks"], by_chunk)
            .then_with(|| by_text(&a["term_chunk"], &b["term_chunk"]))
    }
}

fn by_group(a: &Value, b: &Value) -> Ordering {
    number(&a["size"])
        .cmp(&number(&b["size"]))
        .then_with(|| by_bag(&a["records"], &b["records"]))
        .then_with(|| {
            by_list(&a["sensitive"], &b["sensitive"], |x, y| {
                let text = |v: &Value| v["item"].as_str().expect("a text").as_bytes().to_vec();
                text(x).cmp(&text(y)).then(number(&x["count"]).cmp(&number(&y["count"])))
            })
        })
}

/// A set with its count: something in it, ascending, at least once.
fn set_fault(counted: &Value) -> Option<String> {
    let items = array(&counted["items"]);
    if items.is_empty() {
        return Some("an empty set".into());
    }
    if number(&counted["count"]) == 0 {
        return Some("a count of zero".into());
    }
    ascending(&counted["items"])
}

fn ascending(items: &Value) -> Option<String> {
    let texts: Vec<&str> = array(items).iter().map(|t| t.as_str().expect("a text")).collect();
    let good = texts.windows(2).all(|w| w[0].as_bytes() < w[1].as_bytes());
    (!good).then(|| format!("{texts:?} does not ascend"))
}

fn bag_fault(bag: &Value) -> Option<String> {
    let sets = array(bag);
    if let Some(what) = sets.iter().find_map(set_fault) {
        return Some(what);
    }
    let good = sets.windows(2).all(|w| by_text(&w[0]["items"], &w[1]["items"]) == Ordering::Less);
    (!good).then(|| "sets do not ascend".into())
}

fn cluster_fault(cluster: &Value) -> Option<String> {
    let joint = cluster.get("children").is_some();
    let chunks = &cluster[if joint { "shared_chunks" } else { "record_chunks" }];
    for chunk in array(chunks) {
        if array(&chunk["subrecords"]).is_empty() {
            return Some("an empty chunk".into());
        }
        if let Some(what) = bag_fault(&chunk["subrecords"]) {
            return Some(what);
        }
    }
    if array(chunks).windows(2).any(|w| by_chunk(&w[0], &w[1]) == Ordering::Greater) {
        return Some("chunks do not ascend".into());
    }
    if !joint {
        return ascending(&cluster["term_chunk"]);
    }
    let children = array(&cluster["children"]);
    if children.windows(2).any(|w| by_cluster(&w[0], &w[1]) == Ordering::Greater) {
        return Some("children do not ascend".into());
    }
    children.iter().find_map(cluster_fault)
}

fn group_fault(group: &Value) -> Option<String> {
    if let Some(what) = bag_fault(&group["records"]) {
        return Some(what);
    }
    let sensitive = array(&group["sensitive"]);
    let text = |v: &Value| v["item"].as_str().expect("a text").as_bytes().to_vec();
    let good = sensitive.windows(2).all(|w| text(&w[0]) < text(&w[1]))
        && sensitive.iter().all(|s| number(&s["count"]) > 0);
    (!good).then(|| "sensitive items do not ascend".into())
}
