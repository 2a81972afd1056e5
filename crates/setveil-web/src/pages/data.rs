//! How data was understood, and a form to say otherwise.

use axum::extract::Path;
use maud::{Markup, html};
use setveil::error::Setting;
use setveil::inspect::{Finding, Kind, Severity, Suggestion};
use setveil::io::{self, Format, ReadOptions};
use setveil::report::number;
use setveil::workflow::{Understood, understood};

use crate::app::{Ctx, Reply};
use crate::form::{Asked, Fields, Form};
use crate::shelf::Data;
use crate::view::parts::{facts, query, sentence, with_code};
use crate::view::{self, Place, Step};
use crate::wording::field;

/// Records that are shown.
const SHOWN: usize = 6;
/// Items of a record that are shown.
const ITEMS: usize = 12;

/// Reads a file.
pub(crate) async fn open(ctx: Ctx, Form(form): Form) -> Reply {
    let name = form.all("file").next().unwrap_or_default().to_owned();
    let options = match options(&form) {
        Ok(options) => options,
        Err(why) => return Err(ctx.bad(&why)),
    };
    read(&ctx, &name, options)
}

/// The form for a file that could not be read.
pub(crate) async fn ask(ctx: Ctx, Asked(asked): Asked) -> Reply {
    let name = asked.all("file").next().unwrap_or_default().to_owned();
    let reading = options(&asked).unwrap_or_default();
    ctx.page(
        "Read it differently",
        Place::Publish,
        html! {
            (view::steps(&ctx, None, Step::Data))
            h1 { "How is it meant?" }
            p class="lead" { "Say how " strong class="label" { (name) } " is to be read." }
            div class="card" { (fields(&ctx, &name, &reading, &[])) }
        },
    )
}

/// Begins to read the file `name`. If that fails, the form is shown again.
pub(super) fn read(ctx: &Ctx, name: &str, options: ReadOptions) -> Reply {
    let found = ctx.app.folder.existing(name).filter(|path| path.is_file());
    let Some(path) = found else {
        return Err(ctx.bad("There is no such file in the folder that is served."));
    };
    let (app, name) = (ctx.app.clone(), name.to_owned());
    let back = format!("file?{}", address(&name, &options));
    ctx.start(format!("Reading {name}"), &back, move |job| {
        let input = io::read_dataset(&path, &options, job)?;
        let seen = understood(&input, SHOWN);
        let id = app.shelf().add_data(Data::new(name, path, options, input, seen));
        Ok(app.url(&format!("data/{id}")))
    })
}

/// A file and how it is read, as a query.
fn address(name: &str, reading: &ReadOptions) -> String {
    let delimiter = reading.delimiter.map(delimiter_name).unwrap_or_default();
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let yes = |ticked: bool| if ticked { "yes" } else { "" }.to_owned();
    let pairs = [
        ("file", name.to_owned()),
        ("format", reading.format.map_or("", |f| f.name()).to_owned()),
        ("id", text(&reading.id)),
        ("item", text(&reading.item)),
        ("items", text(&reading.items)),
        ("split", text(&reading.split)),
        ("delimiter", delimiter),
        ("encoding", reading.encoding.map_or("", |e| e.name()).to_owned()),
        ("fold_case", yes(reading.fold_case)),
        ("normalize", yes(reading.normalize)),
        ("skip_bad_lines", yes(reading.skip_bad_lines)),
    ];
    let given = pairs.iter().filter(|(_, value)| !value.is_empty());
    query(&given.map(|(name, value)| (*name, value.as_str())).collect::<Vec<_>>())
}

/// The options that a form asks for.
fn options(form: &Fields) -> Result<ReadOptions, String> {
    let text = |name: &str| form.get(name).map(str::to_owned);
    let format = match form.get("format") {
        None => None,
        Some(name) => {
            Some(*Format::ALL.iter().find(|f| f.name() == name).ok_or("There is no such format.")?)
        }
    };
    let delimiter = match form.get("delimiter") {
        None => None,
        Some("tab" | "\\t") => Some(b'\t'),
        Some(one) if one.len() == 1 && !matches!(one, "\"") => Some(one.as_bytes()[0]),
        Some(_) => return Err("Fields are separated by one character, or `tab`.".to_owned()),
    };
    let encoding = form.get("encoding").map(str::parse).transpose();
    let encoding = encoding.map_err(|e: setveil::Error| crate::wording::say(&e))?;
    Ok(ReadOptions::default()
        .format(format)
        .id(text("id"))
        .item(text("item"))
        .items(text("items"))
        .split(text("split"))
        .delimiter(delimiter)
        .encoding(encoding)
        .fold_case(form.has("fold_case"))
        .normalize(form.has("normalize"))
        .skip_bad_lines(form.has("skip_bad_lines")))
}

pub(crate) async fn show(ctx: Ctx, Path(id): Path<u32>) -> Reply {
    let data = super::data(&ctx, id)?;
    let seen = &data.understood;
    let refused = seen.findings.refused();
    ctx.page(&data.name, Place::Publish, html! {
        (view::steps(&ctx, Some(id), Step::Data))
        h1 { "Is this how it is meant?" }
        p class="lead" { "This is how Setveil understood " strong class="label" { (data.name) } "." }
        (facts(&shape(seen)))
        @if !seen.columns.is_empty() {
            p { "Columns: " @for (i, column) in seen.columns.iter().take(60).enumerate() { @if i > 0 { ", " } code { (column) } } @if seen.columns.len() > 60 { ", …" } }
        }
        (remarks(&data))
        section aria-labelledby="first" {
            h2 id="first" { "The first records" }
            (first_records(seen))
        }
        (go_on(&ctx, &data, refused))
        details class="card" open[refused] {
            summary { "No, read it differently" }
            (correction(&ctx, &data))
        }
    })
}

/// Sizes and layout.
fn shape(seen: &Understood) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("records", number(seen.records as u64)),
        ("different items", number(seen.items as u64)),
        ("items in all records", number(seen.occurrences as u64)),
        ("format", seen.format.to_owned()),
    ];
    facts.extend(seen.delimiter.map(|delimiter| {
        let name = match delimiter {
            '\t' => "tab".to_owned(),
            ',' => "comma".to_owned(),
            ';' => "semicolon".to_owned(),
            other => other.to_string(),
        };
        ("fields are separated by", name)
    }));
    facts
}

/// What was seen, refusals first.
fn remarks(data: &Data) -> Markup {
    let seen = &data.understood;
    let list = |severity: Severity| seen.findings.of(severity).map(remark).collect::<Vec<String>>();
    let (bad, good_to_know) = (list(Severity::Refuse), list(Severity::Remark));
    let mut notes: Vec<String> = seen.assumed.iter().map(|text| sentence(text)).collect();
    notes.extend(seen.left_out.describe().map(|text| sentence(&text)));
    notes.extend(good_to_know);
    html! {
        @if !bad.is_empty() {
            div class="verdict red" {
                strong { "This does not look like one set of items per person." }
                ul { @for text in &bad { li { (with_code(text)) } } }
            }
        } @else {
            div class="verdict green" { strong { "Nothing in it looks like an identifier." }
                p { "That is no proof: look at the first records yourself." } }
        }
        @if !notes.is_empty() {
            h2 { "Worth knowing" }
            ul { @for text in &notes { li { (with_code(text)) } } }
        }
    }
}

/// One finding, with the field that helps.
fn remark(finding: &Finding) -> String {
    let text = sentence(&finding.describe());
    let helps = match finding.kind {
        Kind::CaseVariants => Setting::FoldCase,
        Kind::AccentVariants | Kind::BlankVariants => Setting::Normalize,
        _ => return text,
    };
    format!("{text} “{}” makes them one.", field(helps))
}

fn first_records(seen: &Understood) -> Markup {
    html! {
        @if !seen.findings.first_lines.is_empty() {
            div class="table" { table {
                caption { "Lines of the file, and what was made of them" }
                thead { tr { th scope="col" { "line" } th scope="col" { "items" } } }
                tbody { @for line in &seen.findings.first_lines { tr {
                    td data-h="line" { code class="line" { (line.line) } }
                    td data-h="items" { (chips(&line.items)) }
                } } }
            } }
        }
        div class="table" { table {
            caption { "Records" }
            thead { tr { th scope="col" class="n" { "record" } th scope="col" { "items" } } }
            tbody { @for (i, record) in seen.first_records.iter().enumerate() { tr {
                th scope="row" class="n" data-h="record" { (i + 1) }
                td data-h="items" { (chips(record)) }
            } } }
        } }
    }
}

/// A few items.
pub(super) fn chips(items: &[String]) -> Markup {
    html! {
        ul class="chips" {
            @for item in items.iter().take(ITEMS) { li { (item) } }
            @if items.len() > ITEMS { li class="more" { "and " (items.len() - ITEMS) " more" } }
        }
    }
}

fn go_on(ctx: &Ctx, data: &Data, refused: bool) -> Markup {
    html! {
        form class="go" method="post" action=(ctx.url(&format!("data/{}/risk", data.id))) {
            (view::token(ctx))
            @if refused {
                label class="tick" {
                    input type="checkbox" name="as_baskets" value="yes" required;
                    span { (field(Setting::AsBaskets)) ": I have looked, and these are items and no identifiers" }
                }
            }
            button { "Yes, show the risk" }
        }
    }
}

/// The form that reads the file again.
fn correction(ctx: &Ctx, data: &Data) -> Markup {
    html! {
        @if let Some(suggestion) = &data.understood.findings.suggestion { (probably(ctx, data, suggestion)) }
        (fields(ctx, &data.name, &data.reading, &data.understood.columns))
    }
}

fn fields(ctx: &Ctx, name: &str, reading: &ReadOptions, columns: &[String]) -> Markup {
    html! {
        form class="grid" method="post" action=(ctx.url("data")) {
            (view::token(ctx))
            input type="hidden" name="file" value=(name);
            div class="wide" {
                label for="format" { (field(Setting::Format)) }
                select id="format" name="format" {
                    option value="" { "By the name of the file" }
                    @for format in Format::ALL {
                        option value=(format.name()) selected[reading.format == Some(*format)] {
                            (format.name()) ": " (format.layout().render(|s| field(s).to_lowercase()))
                        }
                    }
                }
            }
            (text("id", Setting::Id, reading.id.as_deref(), columns))
            (text("item", Setting::Item, reading.item.as_deref(), columns))
            (text("items", Setting::Items, reading.items.as_deref(), &[]))
            (text("delimiter", Setting::Delimiter, reading.delimiter.map(delimiter_name).as_deref(), &[]))
            (text("split", Setting::Split, reading.split.as_deref(), &[]))
            (text("encoding", Setting::Encoding, reading.encoding.map(|e| e.name()), &[]))
            @if !columns.is_empty() {
                datalist id="columns" { @for column in columns.iter().take(200) { option value=(column) {} } }
            }
            fieldset class="wide" {
                legend { "Items" }
                (tick("fold_case", Setting::FoldCase, reading.fold_case))
                (tick("normalize", Setting::Normalize, reading.normalize))
                (tick("skip_bad_lines", Setting::SkipBadLines, reading.skip_bad_lines))
            }
            p class="wide" { button class="second" { "Read it like this" } }
        }
    }
}

fn delimiter_name(delimiter: u8) -> String {
    if delimiter == b'\t' { "tab".to_owned() } else { char::from(delimiter).to_string() }
}

fn text(name: &str, setting: Setting, value: Option<&str>, columns: &[String]) -> Markup {
    let list = (!columns.is_empty()).then_some("columns");
    html! {
        div {
            label for=(name) { (field(setting)) }
            input id=(name) name=(name) value=[value] list=[list] autocomplete="off" spellcheck="false";
        }
    }
}

fn tick(name: &str, setting: Setting, ticked: bool) -> Markup {
    html! {
        label class="tick" {
            input type="checkbox" name=(name) value="yes" checked[ticked];
            span { (field(setting)) }
        }
    }
}

/// A button that reads the data as it is probably meant.
fn probably(ctx: &Ctx, data: &Data, suggestion: &Suggestion) -> Markup {
    let Suggestion { id, item, items, .. } = suggestion;
    let delimiter = suggestion.delimiter.map(|d| if d == '\t' { "tab".into() } else { d.into() });
    let values = [
        ("format", Setting::Format, suggestion.format.map(str::to_owned)),
        ("id", Setting::Id, id.clone()),
        ("item", Setting::Item, item.clone()),
        ("items", Setting::Items, items.clone()),
        ("delimiter", Setting::Delimiter, delimiter),
        ("split", Setting::Split, suggestion.split.map(String::from)),
        ("encoding", Setting::Encoding, suggestion.encoding.map(str::to_owned)),
    ];
    let values: Vec<(&str, Setting, String)> = values
        .into_iter()
        .filter_map(|(name, setting, value)| Some((name, setting, value?)))
        .collect();
    html! {
        div class="hint" {
            @if let Some(header) = &suggestion.header {
                p { "Put this line above the data, and open it again: " code { (header) } }
            } @else {
                p { "Probably meant:" }
                ul { @for (_, setting, value) in &values { li { (field(*setting)) ": " code { (value) } } } }
                form method="post" action=(ctx.url("data")) {
                    (view::token(ctx))
                    input type="hidden" name="file" value=(data.name);
                    @for (name, _, value) in &values { input type="hidden" name=(name) value=(value); }
                    button { "Read it like this" }
                }
            }
        }
    }
}
