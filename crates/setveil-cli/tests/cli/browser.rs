//! The report and the figure in a browser: nothing is wider than the page and
//! no word is broken, on a phone, on a tablet, on a screen and on paper.
//!
//! Needs Chromium on the machine (`chromium` or what `CHROMIUM` names). Nothing
//! is installed here: without it the test says so and is counted among those
//! that lacked something.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{folder, setveil};

fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let usual = ["chromium", "chromium-browser", "google-chrome"];
    let on_path = || {
        let path = std::env::var_os("PATH")?;
        let all = std::env::split_paths(&path).flat_map(|dir| usual.map(|name| dir.join(name)));
        all.into_iter().find(|file| file.is_file())
    };
    named.or_else(on_path)
}

/// Looks at every element and every word of the page in the frame. Data of
/// people (labels, check sums, commands) may be broken; our words may not.
const PROBE: &str = r#"<script>
function probe() {
  const found = [], doc = document.documentElement;
  if (doc.scrollWidth > doc.clientWidth) found.push('the page is ' + doc.scrollWidth + ' wide, not ' + doc.clientWidth);
  for (const e of document.querySelectorAll('body *')) {
    const box = e.getBoundingClientRect();
    if (!e.closest('svg') && !e.closest('.skip') && box.right > doc.clientWidth + 1) found.push(e.tagName + ' ends at ' + box.right + ': ' + e.textContent.slice(0, 40));
    if (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display != 'inline' && !e.closest('svg')) found.push(e.tagName + '.' + e.className + ' overflows: ' + e.textContent.slice(0, 40));
  }
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let words = 0;
  for (let node; node = walk.nextNode();) {
    if (node.parentElement.closest('script,style,svg,pre,code,.chunk,.skip')) continue;
    for (const word of node.data.matchAll(/\p{L}{2,}/gu)) {
      if (word[0].length > 24) continue; // no word of ours: a label, which has to be broken
      const range = document.createRange();
      range.setStart(node, word.index); range.setEnd(node, word.index + word[0].length);
      const tops = new Set(Array.from(range.getClientRects()).map(r => Math.round(r.top)));
      words++;
      if (tops.size > 1) found.push('broken word: ' + word[0]);
    }
  }
  parent.postMessage({words, found}, '*');
}
addEventListener('load', probe);
</script>"#;

/// What is wrong with `page` in a frame so wide; on paper the style for print holds.
fn faults(browser: &Path, dir: &Path, page: &str, width: u32, paper: bool) -> String {
    let mut page = page.replace("</body>", &format!("{PROBE}</body>"));
    if paper {
        page = page.replace("@media print", "@media all").replace("@media screen", "@media print");
    }
    std::fs::write(dir.join("framed.html"), page).unwrap();
    // Who listens comes before the frame: nobody speaks before somebody listens.
    let frame = format!(
        "<!DOCTYPE html><body style=\"margin:0\"><pre id=\"said\">nothing</pre>\
         <script>addEventListener('message', e => {{ \
         document.getElementById('said').textContent = 'words ' + e.data.words + '\\n' + \
         e.data.found.join('\\n') + '\\nend'; }});</script>\
         <iframe src=\"framed.html\" width=\"{width}\" height=\"900\" style=\"border:0\"></iframe></body>"
    );
    std::fs::write(dir.join("frame.html"), frame).unwrap();
    // On a busy machine the browser may give up before the page has answered: that
    // is no answer, and it is asked again.
    let mut answers = (0..3).map(|attempt| dumped(browser, dir, attempt));
    let said = answers.find(|said| said.as_ref().is_ok_and(|said| said != "nothing"));
    let said = said.expect("the page was not looked at").expect("an answer");
    let words: u32 = said
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("words "))
        .and_then(|n| n.parse().ok())
        .unwrap_or_else(|| panic!("the page was not looked at: {said}"));
    assert!(words > 300, "only {words} words");
    said.lines().skip(1).take_while(|line| *line != "end").collect::<Vec<_>>().join("\n")
}

/// What the page in the frame said; an error if the browser gave none.
fn dumped(browser: &Path, dir: &Path, attempt: u32) -> Result<String, String> {
    // A profile of its own: one that is still being closed is locked.
    let profile = tempfile::tempdir_in(dir).unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "--no-first-run"])
        .args(["--disable-dev-shm-usage", "--window-size=1400,1000"])
        .arg(format!("--virtual-time-budget={}", 4000 << (2 * attempt)))
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}", dir.join("frame.html").display()))
        .output()
        .expect("the browser starts");
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = dom.split("<pre id=\"said\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    said.map(str::to_owned).ok_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Releases whose pages differ: clusters, leaves, classes, groups, noise, and one
/// with labels that are long words.
fn pages(dir: &Path) -> Vec<(String, String)> {
    let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let mut data = String::new();
    for i in 0..240_u32 {
        let n = i.wrapping_mul(2_654_435_761) >> 9;
        data += &format!("[\"g{}\",\"h{}\",\"i{}\"", n % 7, n / 8 % 9, n / 64 % 4);
        if i % 9 == 0 {
            data += ",\"Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamten\"";
        }
        data += "]\n";
    }
    let long = data.replace('g', "Rinderkennzeichnungsfleischetikettierungs");
    std::fs::write(dir.join("long.jsonl"), long).unwrap();
    std::fs::write(dir.join("data.jsonl"), data).unwrap();
    std::fs::write(dir.join("sensitive.txt"), "g0\n").unwrap();
    setveil(&["hierarchy", "balanced", &at("data.jsonl"), "--fanout", "4", "-o", &at("tree.csv")])
        .assert()
        .success();
    let (sensitive, tree) = (at("sensitive.txt"), at("tree.csv"));
    let methods: [(&str, Vec<&str>); 7] = [
        ("disassociation", vec!["-k", "4"]),
        ("dls", vec!["-k", "4"]),
        ("local-suppression", vec!["-k", "4"]),
        ("partition", vec!["-k", "4", "--hierarchy", &tree]),
        ("cahd", vec!["-p", "4", "--sensitive", &sensitive]),
        ("diffpart", vec!["--epsilon", "1", "--hierarchy", &tree]),
        ("suppress-rare", vec!["-k", "4"]),
    ];
    let mut pages = Vec::new();
    for (method, flags) in methods {
        // Labels without end in tables, too.
        let data = if method == "dls" { "long.jsonl" } else { "data.jsonl" };
        let (data, release, page) = (at(data), at(method), at("page.html"));
        let mut args = vec!["anonymize", method, &data, "-o", &release];
        args.extend(&flags);
        setveil(&args).assert().success();
        let report = [
            "report",
            &release,
            "--original",
            &data,
            "-o",
            &page,
            "--force",
            "--data-set",
            "Deliveries of the third quarter",
            "--responsible",
            "A. Smith",
            "--re-range",
            "0..15",
        ];
        setveil(&report).assert().success();
        pages.push((method.to_owned(), std::fs::read_to_string(&page).unwrap()));
    }
    pages
}

#[test]
fn pages_fit_phones_screens_and_paper() {
    let Some(browser) = chromium() else {
        testkit::real::lacking("there is no Chromium (CHROMIUM names the program)");
        return;
    };
    let dir = folder(&[]);
    // A4 less its margins of 18 mm, at 96 pixels an inch.
    let sizes = [(400, false), (800, false), (1280, false), (658, true)];
    let mut wrong = String::new();
    for (method, page) in pages(dir.path()) {
        for (width, paper) in sizes {
            let faults = faults(&browser, dir.path(), &page, width, paper);
            if !faults.is_empty() {
                wrong += &format!("{method} at {width} pixels (paper: {paper}):\n{faults}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    // And the probe can fail.
    let wide = "<body><p>Long enough a text to be looked at.</p>".to_owned()
        + &"<p>some words that are counted one by one here</p>".repeat(60)
        + "<div style=\"width:900px\">wide</div>\
           <p style=\"width:3ch;overflow-wrap:anywhere\">hyphenation</p></body>";
    let faults = faults(&browser, dir.path(), &wide, 400, false);
    assert!(faults.contains("the page is 908 wide"), "{faults}");
    assert!(faults.contains("broken word: hyphenation"), "{faults}");
}
