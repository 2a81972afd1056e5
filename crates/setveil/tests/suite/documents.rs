//! The documents keep up with the code: links lead somewhere, and every
//! format is described.

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

/// Where the links of a text lead, as long as it is a file of the project.
fn links(text: &str) -> Vec<String> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(link, _)| link.split('#').next().unwrap_or(link).to_owned())
        .filter(|link| !link.is_empty() && !link.contains("://"))
        .collect()
}

#[test]
fn links_lead_somewhere() {
    assert_eq!(links("[a](b.md#c) [d](https://e) ![f](g.svg)"), ["b.md", "g.svg"]);
    let mut broken = Vec::new();
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        let folder = document.parent().unwrap();
        let gone = links(&text).into_iter().filter(|link| !folder.join(link).exists());
        broken.extend(gone.map(|link| format!("{}: {link}", document.display())));
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
