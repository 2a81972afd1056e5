//! Listening, and when it ends.

use std::convert::Infallible;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::Options;
use crate::app::{App, router};

/// Why the server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Nobody was there for so long.
    Idle,
    /// Somebody pressed the button.
    Asked,
    /// The caller said stop.
    Stopped,
}

/// Connections at a time. A browser opens six.
const CONNECTIONS: usize = 64;
/// How long a request may take to say what it wants.
const HEADERS: Duration = Duration::from_secs(10);
/// The longest head of a request, in bytes.
const HEAD: usize = 1 << 16;
/// How long jobs may take to end when the server ends.
const GRACE: Duration = Duration::from_millis(1500);

/// Serves until it is idle, somebody asks for the end, or `stopped` says so.
/// `ready` gets the link that opens the page, once.
///
/// There is no choice of an address: the loopback, and a port that the system
/// chooses.
///
/// # Errors
/// If the folder cannot be read, or nothing can be listened to.
pub fn serve(
    options: &Options,
    ready: impl FnOnce(&str),
    stopped: impl Fn() -> bool,
) -> io::Result<End> {
    say_little_about_panics();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let end = runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let app = Arc::new(App::new(options, listener.local_addr()?.to_string())?);
        ready(&app.link().expect("nobody was there to use it"));
        let accepting = tokio::spawn(accept(listener, Arc::clone(&app)));
        let end = watch(&app, &stopped).await;
        accepting.abort();
        finish(&app).await;
        io::Result::Ok(end)
    });
    runtime.shutdown_timeout(Duration::from_millis(500));
    end
}

async fn accept(listener: TcpListener, app: Arc<App>) -> Infallible {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let router = router(app);
    loop {
        let place = Arc::clone(&places).acquire_owned().await.expect("it is never closed");
        // Whatever fails here concerns one connection.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let router = router.clone();
        tokio::spawn(async move {
            talk(stream, router).await;
            drop(place);
        });
    }
}

async fn talk(stream: TcpStream, router: axum::Router) {
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(router);
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADERS).max_buf_size(HEAD);
    // A browser that goes away is no news, and nothing is logged.
    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
}

/// Waits for a reason to end.
async fn watch(app: &App, stopped: &impl Fn() -> bool) -> End {
    let mut pulse = tokio::time::interval(Duration::from_millis(100));
    loop {
        tokio::select! {
            () = app.quit.notified() => return End::Asked,
            _ = pulse.tick() => {}
        }
        if stopped() {
            return End::Stopped;
        }
        if app.idle() >= app.options.idle && app.jobs.unfinished().is_empty() {
            return End::Idle;
        }
    }
}

/// Stops what is under way, and lets it clean up.
async fn finish(app: &App) {
    let deadline = Instant::now() + GRACE;
    app.jobs.unfinished().iter().for_each(|job| job.cancel());
    while !app.jobs.unfinished().is_empty() && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    setveil::io::remove_temporary();
}

/// The text of a panic may hold data: only its place is told.
fn say_little_about_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(io::stderr(), "setveil: a mistake in the program at {place}");
    }));
}
