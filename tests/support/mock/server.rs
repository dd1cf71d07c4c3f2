//! The server: one thread per connection, the script behind a lock, every request in the log.

use std::io::{self, BufReader};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::http::{self, Message};
use super::{Kind, Reply, Request, Shared, reply};
use crate::support::evidence::lock;

/// Interval at which a held stream sends a ping and checks whether it should end.
const PING: Duration = Duration::from_millis(200);

/// Accepts connections until the mock is dropped.
pub fn serve(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stopped.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        // The client may close a connection; that is no error here.
        thread::spawn(move || drop(connection(stream, &shared)));
    }
}

fn connection(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    lock(&shared.streams).push(stream.try_clone()?);
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(message) = Message::read(&mut reader)? {
        let path = message.path.split('?').next().unwrap_or_default();
        match (message.method.as_str(), path) {
            ("POST", "/v1/messages") => messages(&mut stream, shared, message)?,
            ("POST", "/v1/messages/count_tokens") => {
                http::write_json(&mut stream, 200, Some(&json!({"input_tokens": 1_000})))?;
            }
            (method, path) => {
                lock(&shared.log).other.push(format!("{method} {path}"));
                http::write_json(&mut stream, 200, (method != "HEAD").then_some(&json!({})))?;
            }
        }
    }
    Ok(())
}

fn messages(stream: &mut TcpStream, shared: &Shared, message: Message) -> io::Result<()> {
    let Ok(body) = serde_json::from_slice::<Value>(&message.body) else {
        return http::write_json(stream, 400, Some(&reply::error_body(400)));
    };
    let request = record(shared, Request::new(message, body, shared.started.elapsed()));
    if shared.is_strict && is_refused(shared, &request) {
        return http::write_json(stream, 400, Some(&reply::bound_body()));
    }
    let reply = ask(shared, &request);
    thread::sleep(reply.delay);
    if let Some(status) = reply.error {
        return http::write_json(stream, status, Some(&reply::error_body(status)));
    }
    let key = request.key();
    let model = &request.body["model"];
    if request.body["stream"] != true {
        return http::write_json(stream, 200, Some(&reply.message(&key, model)));
    }
    http::start_events(stream)?;
    let mut blocks = 0;
    for event in reply.events(&key, model) {
        http::write_event(stream, &event)?;
        blocks += usize::from(event["type"] == "content_block_stop");
        if reply.breaks == Some(blocks) {
            return stream.shutdown(Shutdown::Both);
        }
        if let Some(gate) = reply.gate.as_ref().filter(|_| event["type"] == "content_block_delta") {
            while !gate.wait(PING) && !shared.stopped.load(Ordering::SeqCst) {
                http::write_event(stream, &json!({"type": "ping"}))?;
            }
        }
    }
    http::end_events(stream)
}

/// Whether a newer model refuses the request for one of its thinking blocks.
fn is_refused(shared: &Shared, request: &Arc<Request>) -> bool {
    let mut log = lock(&shared.log);
    let (_, refused) = request.thinking(log.of(Kind::Main));
    if request.kind == Kind::Main && refused > 0 {
        log.refused.push(Arc::clone(request));
        return true;
    }
    false
}

/// Numbers the request, adds it to the log and wakes the waiting threads.
fn record(shared: &Shared, mut request: Request) -> Arc<Request> {
    let mut log = lock(&shared.log);
    request.n = log.of(request.kind).count() + 1;
    let request = Arc::new(request);
    log.requests.push(Arc::clone(&request));
    shared.changed.notify_all();
    request
}

/// Calls the script. If an assertion in it fails, the next wait fails the test with it, and the
/// script is not called again.
fn ask(shared: &Shared, request: &Request) -> Reply {
    let script = match request.kind {
        Kind::Main => &shared.agent,
        Kind::Subagent => &shared.subagent,
        // Without its tags, the client asks for the summary a second time.
        Kind::Side => {
            return Reply::text("<analysis>a</analysis>\n<summary>side answer</summary>")
                .tokens(100);
        }
    };
    let mut script = lock(script);
    if lock(&shared.log).fault.is_some() {
        return Reply::error(400);
    }
    catch_unwind(AssertUnwindSafe(|| script(request))).unwrap_or_else(|cause| {
        let text = cause.downcast_ref::<String>().cloned();
        let text = text.or_else(|| cause.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        let fault = format!("the script failed at {request}: {}", text.unwrap_or_default());
        lock(&shared.log).fault = Some((fault, false));
        shared.changed.notify_all();
        Reply::error(400)
    })
}
