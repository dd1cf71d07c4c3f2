//! The subset of HTTP/1.1 that the client uses: requests with a body, JSON answers, and chunked
//! event streams.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

pub struct Message {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Message {
    /// Reads the next request of a connection; `None` when the client has closed it.
    pub fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Self>> {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split_whitespace().map(str::to_owned);
        let (Some(method), Some(path)) = (words.next(), words.next()) else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("not a request line: {line:?}"),
            ));
        };
        let mut headers = Vec::new();
        loop {
            line.clear();
            stream.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut message = Self { method, path, headers, body: Vec::new() };
        if message.header("transfer-encoding").is_some() {
            message.body = read_chunks(stream)?;
        } else if let Some(length) =
            message.header("content-length").and_then(|value| value.parse().ok())
        {
            message.body = vec![0; length];
            stream.read_exact(&mut message.body)?;
        }
        Ok(Some(message))
    }

    /// The value of a header; `name` is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

fn read_chunks(stream: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let size = usize::from_str_radix(line.trim_end(), 16).map_err(io::Error::other)?;
        let start = body.len();
        body.resize(start + size, 0);
        stream.read_exact(&mut body[start..])?;
        line.clear();
        stream.read_line(&mut line)?;
        if size == 0 {
            return Ok(body);
        }
    }
}

/// Answers with a JSON body, or with headers only.
pub fn write_json(stream: &mut TcpStream, status: u16, body: Option<&Value>) -> io::Result<()> {
    let body = body.map(Value::to_string).unwrap_or_default();
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} Mock\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes())
}

pub fn start_events(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
    )
}

/// Sends a server-sent event as one chunk; the event's name is its `type`.
pub fn write_event(stream: &mut TcpStream, event: &Value) -> io::Result<()> {
    let name = event["type"].as_str().unwrap_or("message");
    let text = format!("event: {name}\ndata: {event}\n\n");
    stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
}

pub fn end_events(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(b"0\r\n\r\n")
}
