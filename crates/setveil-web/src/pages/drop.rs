//! A file that was dropped on the page: it is copied into the folder, under a
//! name that nothing has yet, and then opened.

use std::io::Write;
use std::path::PathBuf;

use axum::extract::Multipart;
use axum::extract::multipart::Field;
use axum::http::StatusCode;
use setveil::io::{NewFile, ReadOptions};

use crate::app::{Ctx, Fault, Reply};
use crate::form::TOKEN;
use crate::secret::same;
use crate::wording;

pub(crate) async fn receive(ctx: Ctx, mut form: Multipart) -> Reply {
    let mut ours = false;
    loop {
        let unreadable = |_| ctx.bad("The file did not arrive as a whole.");
        let Some(field) = form.next_field().await.map_err(unreadable)? else { break };
        match field.name() {
            // It comes first: nothing is kept of a file before it was seen.
            Some(TOKEN) => {
                let given = field.text().await.map_err(unreadable)?;
                ours = same(&given, &ctx.app.secrets().form);
            }
            Some("file") if ours => {
                let name = copy(&ctx, field).await?;
                return super::data::read(&ctx, &name, ReadOptions::default());
            }
            _ => return Err(ctx.no_token()),
        }
    }
    Err(ctx.bad("There was no file."))
}

/// Copies what comes to a new file of the folder; its name.
async fn copy(ctx: &Ctx, mut field: Field<'_>) -> Result<String, Fault> {
    let Some((name, path)) = free_name(ctx, field.file_name().unwrap_or_default()) else {
        return Err(ctx.bad("The file needs a name that does not begin with a dot."));
    };
    let fail = |error: setveil::Error| ctx.bad(&wording::say(&error));
    let mut file = NewFile::create(&path, false).map_err(fail)?;
    let mut length: u64 = 0;
    while let Some(bytes) =
        field.chunk().await.map_err(|_| ctx.bad("The file did not arrive as a whole."))?
    {
        length += bytes.len() as u64;
        if length > ctx.app.options.upload {
            let why =
                "The file is too large to be dropped. Put it into the folder, and choose it there.";
            return Err(ctx.fault(StatusCode::PAYLOAD_TOO_LARGE, why));
        }
        file.write_all(&bytes).map_err(|e| fail(setveil::Error::io(&path, e)))?;
    }
    file.finish().map_err(fail)?;
    Ok(name)
}

/// The last part of the name that the browser tells, or that with a number.
fn free_name(ctx: &Ctx, told: &str) -> Option<(String, PathBuf)> {
    let name = told.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = name.chars().filter(|c| !c.is_control()).take(120).collect();
    if name.is_empty() || name.starts_with('.') {
        return None;
    }
    let (stem, extension) = match name.split_once('.') {
        Some((stem, rest)) => (stem, format!(".{rest}")),
        None => (name.as_str(), String::new()),
    };
    let names = (1..1000).map(|n| match n {
        1 => name.clone(),
        n => format!("{stem}-{n}{extension}"),
    });
    for name in names {
        let path = ctx.app.folder.new_place(&name)?;
        if !path.exists() {
            return Some((name, path));
        }
    }
    None
}
