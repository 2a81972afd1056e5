//! Writing a release, its report and its private receipt into the folder.

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use axum::extract::Path;
use maud::{Markup, html};
use setveil::io;
use setveil::report::About;
use setveil::workflow::files::{Origin, Target, save as save_release};
use setveil::workflow::{CommandFiles, full_command};

use crate::app::{Ctx, Fault, Reply};
use crate::folder::Folder;
use crate::form::{Fields, Form};
use crate::shelf::{Run, Saved, TreeFrom};
use crate::view;
use crate::view::parts::{command, counted};

/// The files of a release, by their paths from the folder on.
#[derive(Clone, Debug)]
pub(super) struct Names {
    release: String,
    receipt: String,
    report: String,
    sensitive: String,
    hierarchy: String,
}

impl Names {
    fn new(release: &str) -> Self {
        let with = |end: &str| format!("{release}-{end}");
        Self {
            release: release.to_owned(),
            receipt: with("receipt.json"),
            report: with("report.html"),
            sensitive: with("sensitive.txt"),
            hierarchy: with("hierarchy.csv"),
        }
    }

    /// After the data, beside it.
    pub(super) fn usual(run: &Run) -> Self {
        let path = FilePath::new(&run.data.name);
        let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let stem = name.split('.').next().unwrap_or_default();
        let place = path.with_file_name(format!("{stem}-release"));
        Self::new(&place.to_string_lossy())
    }
}

/// The command that makes the same release.
pub(super) fn command_of(run: &Run, names: &Names, receipt: bool) -> String {
    let hierarchy = match run.tree.as_ref().map(|tree| &tree.from) {
        Some(TreeFrom::File(name)) => name,
        _ => &names.hierarchy,
    };
    let files = CommandFiles {
        data: &run.data.name,
        output: &names.release,
        sensitive: &names.sensitive,
        hierarchy,
        receipt: receipt.then_some(&*names.receipt),
    };
    full_command(&run.method, &files, &run.data.reading, run.as_baskets)
}

/// What can be saved, and what was.
pub(super) fn form(ctx: &Ctx, run: &Run) -> Markup {
    let names = Names::usual(run);
    let saved = run.saved();
    html! {
        section class="card" aria-labelledby="save" {
            h2 id="save" { "Save" }
            @for saved in &saved { (done(saved)) }
            form class="grid" method="post" action=(ctx.url(&format!("run/{}/save", run.id))) {
                (view::token(ctx))
                div class="wide" {
                    label for="name" { "Name of the release, in the folder that is served" }
                    input id="name" name="name" value=(names.release) required autocomplete="off" spellcheck="false";
                }
                label class="tick wide" { input type="checkbox" name="receipt" value="yes" checked; span { "A private receipt: what was published, when, from which data. It guards against publishing the same data twice. " strong { "Never hand it on." } } }
                label class="tick wide" { input type="checkbox" name="report" value="yes" checked; span { "The report. It holds measurements of the original: confidential." } }
                div { label for="data_set" { "Name of the data, in the report" } input id="data_set" name="data_set"; }
                div { label for="responsible" { "Who answers for it, in the report" } input id="responsible" name="responsible"; }
                label class="tick wide" { input type="checkbox" name="force" value="yes"; span { "Replace what is there" } }
                label class="tick wide" { input type="checkbox" name="again" value="yes"; span { "The same data was published before, and the earlier release was never handed on" } }
                p class="wide" { button { "Save" } }
            }
            details open[saved.is_empty()] {
                summary { "The command that does the same" }
                (super::run::preview(run))
                p class="note" { "To be run in " code { (ctx.app.folder.root().display()) } ". Lists of sensitive items and hierarchies made here are saved with the release." }
            }
        }
    }
}

fn done(saved: &Saved) -> Markup {
    html! {
        div class="verdict green" role="status" {
            strong { "Saved: " (saved.release) }
            ul { @for (what, file) in &saved.files { li { (what) ": " code { (file) } } } }
            @if saved.earlier > 0 { p { (counted(saved.earlier, "earlier release")) " of the same data: no promise covers them and this one together." } }
            (command(&saved.command))
        }
    }
}

/// What is asked for.
struct Wish {
    names: Names,
    receipt: bool,
    report: bool,
    force: bool,
    again: bool,
    about: About,
}

impl Wish {
    fn new(form: &Fields) -> Self {
        let text = |name: &str| form.get(name).map(str::to_owned);
        Self {
            names: Names::new(form.get("name").unwrap_or_default().trim_matches('/')),
            receipt: form.has("receipt"),
            report: form.has("report"),
            force: form.has("force"),
            again: form.has("again"),
            about: About::default()
                .data_set(text("data_set"))
                .responsible(text("responsible"))
                .date(Some(io::day(SystemTime::now()))),
        }
    }
}

/// The real places of the names.
struct Places {
    release: PathBuf,
    receipt: PathBuf,
    report: PathBuf,
    sensitive: PathBuf,
    hierarchy: PathBuf,
}

fn places(folder: &Folder, names: &Names) -> Option<Places> {
    Some(Places {
        release: folder.new_place(&names.release)?,
        receipt: folder.new_place(&names.receipt)?,
        report: folder.new_place(&names.report)?,
        sensitive: folder.new_place(&names.sensitive)?,
        hierarchy: folder.new_place(&names.hierarchy)?,
    })
}

pub(crate) async fn save(ctx: Ctx, Path(id): Path<u32>, Form(form): Form) -> Reply {
    let run = ctx.app.shelf().run(id).ok_or_else(|| ctx.absent("This run"))?;
    let wish = Wish::new(&form);
    let places = places(&ctx.app.folder, &wish.names).ok_or_else(|| bad_name(&ctx))?;
    let app = ctx.app.clone();
    ctx.start(format!("Saving {}", wish.names.release), &format!("run/{id}"), move |job| {
        let saved = write(&run, &wish, &places, job)?;
        app.shelf().note_saved(id, &saved.release);
        run.saved.lock().expect("no panic while holding it").push(saved);
        Ok(app.url(&format!("run/{id}#save")))
    })
}

fn bad_name(ctx: &Ctx) -> Fault {
    ctx.bad("The name must be one of a new entry in the folder that is served: no dots at its beginning, no way out.")
}

/// Checks that everything can be written, then writes the release and what belongs to it.
fn write(
    run: &Arc<Run>,
    wish: &Wish,
    places: &Places,
    job: &crate::jobs::Job,
) -> setveil::Result<Saved> {
    let names = &wish.names;
    let sensitive = !run.method.sensitive().is_empty();
    let hierarchy = run
        .tree
        .as_ref()
        .filter(|tree| matches!(tree.from, TreeFrom::Data(_)) && run.method.needs_hierarchy());
    for (wanted, place) in [
        (sensitive, &places.sensitive),
        (hierarchy.is_some(), &places.hierarchy),
        (wish.report, &places.report),
    ] {
        if wanted {
            io::check_file(place, wish.force)?;
        }
    }
    let target = Target::new(&places.release)
        .force(wish.force)
        .again(wish.again)
        .receipt(wish.receipt.then(|| places.receipt.clone()))
        .as_baskets(run.as_baskets);
    let data = &run.data;
    let origin = Origin { path: &data.path, format: data.format, left_out: data.left_out };
    let earlier = save_release(&run.release, &data.dataset, &origin, &target, job)?;
    let mut files = Vec::new();
    if wish.receipt {
        files.push(("Private receipt", names.receipt.clone()));
    }
    if sensitive {
        let list = run.method.sensitive().join("\n") + "\n";
        io::write_file(&places.sensitive, list.as_bytes(), wish.force)?;
        files.push(("Sensitive items, private", names.sensitive.clone()));
    }
    if let Some(tree) = hierarchy {
        io::write_hierarchy(&tree.tree, &places.hierarchy, wish.force)?;
        files.push(("Hierarchy, private", names.hierarchy.clone()));
    }
    if wish.report {
        let page = run.assessed.page(&run.release, &wish.about).page;
        io::write_file(&places.report, page.as_bytes(), wish.force)?;
        files.push(("Report, confidential", names.report.clone()));
    }
    let command = command_of(run, names, wish.receipt);
    Ok(Saved { release: names.release.clone(), files, command, earlier })
}
