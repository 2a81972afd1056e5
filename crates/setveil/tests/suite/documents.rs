//! The documents keep up with the code: links lead to a file and a heading, and
//! every format is described.

use std::fs;
use std::path::{Path, PathBuf};

use setveil::io::Format;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The documents of the project.
fn documents() -> Vec<PathBuf> {
    let list = |dir: PathBuf| fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    let markdown = |p: &PathBuf| p.extension().is_some_and(|e| e == "md");
    list(root()).chain(list(root().join("docs"))).filter(markdown).collect()
}

/// Where the links of a text lead, as long as it is inside of the project: a file (none is the
/// text itself) and what follows `#`. Examples are no links.
fn links(text: &str) -> Vec<(String, Option<String>)> {
    prose(text)
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .filter(|(link, _)| !link.contains("://"))
        .map(|(link, _)| match link.split_once('#') {
            Some((file, anchor)) => (file.to_owned(), Some(anchor.to_owned())),
            None => (link.to_owned(), None),
        })
        .collect()
}

/// The lines outside of fenced examples.
fn prose(text: &str) -> String {
    let mut fenced = false;
    let outside = |line: &&str| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    };
    text.lines().filter(outside).map(|line| format!("{line}\n")).collect()
}

/// The anchors of the headings, as GitHub makes them: letters, digits, `-` and `_` stay, blanks
/// become `-`, and a heading that was there before gets a number.
fn anchors(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in prose(text).lines() {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let stays = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
        let slug: String = title.trim().to_lowercase().chars().filter(stays).collect();
        let slug = slug.replace(' ', "-");
        let numbered = |n: usize| if n == 0 { slug.clone() } else { format!("{slug}-{n}") };
        found.extend((0..).map(numbered).find(|slug| !found.contains(slug)));
    }
    found
}

#[test]
fn links_lead_somewhere() {
    let text = "[a](b.md#c) [d](https://e) ![f](g.svg) [h](#i)\n```\n[j](k)\n```\n";
    let found = links(text);
    let found: Vec<_> = found.iter().map(|(file, to)| (file.as_str(), to.as_deref())).collect();
    assert_eq!(found, [("b.md", Some("c")), ("g.svg", None), ("", Some("i"))]);
    assert_eq!(anchors("# A `b`, c?\n#no\n## A b c\n"), ["a-b-c", "a-b-c-1"]);
    let mut broken = Vec::new();
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for (file, anchor) in links(&text) {
            let target = match file.as_str() {
                "" => document.clone(),
                file => document.parent().unwrap().join(file),
            };
            let there = target.exists()
                && anchor.as_ref().is_none_or(|anchor| {
                    fs::read_to_string(&target).is_ok_and(|text| anchors(&text).contains(anchor))
                });
            if !there {
                broken.push(format!(
                    "{}: {file}#{}",
                    document.display(),
                    anchor.unwrap_or_default()
                ));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_format_is_described_with_its_extensions() {
    let text = fs::read_to_string(root().join("docs/formats.md")).unwrap();
    for format in Format::ALL {
        let row = format!("| `{}` |", format.name());
        let row = text.lines().find(|l| l.starts_with(&row)).unwrap_or_else(|| panic!("{row}"));
        for extension in format.extensions() {
            assert!(row.contains(&format!("`.{extension}`")), "{row}: .{extension}");
        }
        assert!(text.contains(&format!("**{}.**", format.name())), "{}", format.name());
    }
}
