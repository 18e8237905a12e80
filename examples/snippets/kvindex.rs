//! kvindex from Rust, standard library only, so that `rustc kvindex.rs` builds it: register an engine, then ask what of
//! a prompt it has cached. What to use is in the environment; see README.md beside this directory.
//!
//! In a project take an HTTP client and serde_json instead of `Connection` and `rows`; what is asked stays the same.

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

/// An answer other than 200, or none (status 0). A router that gets it routes by load.
struct Refused {
    status: u16,
    reason: String,
    retry_after: Duration,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} {}", self.status, self.reason)
    }
}

impl From<io::Error> for Refused {
    /// Away, or later than the socket's timeout.
    fn from(error: io::Error) -> Self {
        Refused { status: 0, reason: error.to_string(), retry_after: Duration::from_secs(1) }
    }
}

struct Response {
    status: u16,
    headers: BTreeMap<String, String>, // names in lower case
    body: String,
}

/// What kvindex says of a prompt, and how far it is to be trusted.
struct Answer {
    state: String,
    lag_ms: String,
    degraded: Vec<String>,
    rows: BTreeMap<String, u64>, // longest match in tokens, by instance
}

impl Answer {
    fn of(response: &Response) -> Answer {
        let header = |name: &str| response.headers.get(name).cloned().unwrap_or_default();
        Answer {
            state: header("x-kvindex-state"),
            lag_ms: header("x-kvindex-lag-ms"),
            degraded: header("x-kvindex-degraded").split(',').filter(|n| !n.is_empty()).map(percent_decoded).collect(),
            rows: rows(&response.body),
        }
    }

    /// The rows to go by: none when stale, none of instances that lost events.
    fn usable(&self) -> BTreeMap<&String, &u64> {
        let nothing = self.state == "stale" || self.degraded.iter().any(|name| name == "*");
        self.rows.iter().filter(|(instance, _)| !nothing && !self.degraded.contains(instance)).collect()
    }
}

/// One connection, opened when it is needed and kept.
struct Connection {
    host: String,
    timeout: Duration,
    stream: Option<BufReader<TcpStream>>,
}

impl Connection {
    /// Asks once; with more attempts 429 and 503 are asked again after `Retry-After`.
    fn call(&mut self, path: &str, headers: &[(&str, &str)], body: &[u8], attempts: u32) -> Result<Response, Refused> {
        for attempt in 1.. {
            let response = match self.send(path, headers, body) {
                Ok(response) => response,
                Err(error) => {
                    self.stream = None; // whatever comes on it now belongs to this request
                    return Err(error.into());
                }
            };
            if response.status == 200 {
                return Ok(response);
            }
            let refused = Refused {
                status: response.status,
                reason: text_member(&response.body, "reason").unwrap_or_default(),
                retry_after: Duration::from_secs(
                    response.headers.get("retry-after").and_then(|s| s.parse().ok()).unwrap_or(1),
                ),
            };
            if attempt >= attempts || (refused.status != 429 && refused.status != 503) {
                return Err(refused);
            }
            thread::sleep(refused.retry_after);
        }
        unreachable!()
    }

    fn send(&mut self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> io::Result<Response> {
        if self.stream.is_none() {
            let stream = TcpStream::connect(&self.host)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(self.timeout))?;
            stream.set_write_timeout(Some(self.timeout))?;
            self.stream = Some(BufReader::new(stream));
        }
        let stream = self.stream.as_mut().expect("just opened");
        let mut request = format!("POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n", self.host, body.len());
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        let mut bytes = (request + "\r\n").into_bytes();
        bytes.extend_from_slice(body);
        stream.get_mut().write_all(&bytes)?;

        let mut line = String::new();
        stream.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|s| s.parse().ok()).ok_or_else(|| broken("no status line"))?;
        let mut headers = BTreeMap::new();
        loop {
            line.clear();
            stream.read_line(&mut line)?;
            match line.trim_end().split_once(':') {
                Some((name, value)) => headers.insert(name.to_ascii_lowercase(), value.trim().to_string()),
                None => break,
            };
        }
        // kvindex's answers to these requests have a length.
        let length = headers.get("content-length").and_then(|s| s.parse().ok()).ok_or_else(|| broken("no length"))?;
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        if headers.get("connection").map_or(false, |value| value.eq_ignore_ascii_case("close")) {
            self.stream = None;
        }
        Ok(Response { status, headers, body: String::from_utf8_lossy(&body).into_owned() })
    }
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Of `{"default":{"a":{"longest_matched":64,...},...}}` the names and numbers.
fn rows(body: &str) -> BTreeMap<String, u64> {
    let mark = "\":{\"longest_matched\":";
    let mut rows = BTreeMap::new();
    let mut rest = body;
    while let Some(at) = rest.find(mark) {
        let name = rest[..at].rsplit('"').next().unwrap_or_default();
        rest = &rest[at + mark.len()..];
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rows.insert(name.to_string(), rest[..digits].parse().unwrap_or(0));
    }
    rows
}

fn text_member(body: &str, name: &str) -> Option<String> {
    let after = body.split_once(&format!("\"{name}\":\""))?.1;
    Some(after.split_once('"')?.0.to_string())
}

fn percent_decoded(name: &str) -> String {
    let mut parts = name.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        // A character may be several bytes; only all of them together are text again.
        match part.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(format!("%{}", part.get(..2).unwrap_or(part)).as_bytes()),
        }
        bytes.extend_from_slice(part.get(2..).unwrap_or_default().as_bytes());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn show(what: &str, answer: Result<Response, Refused>) {
    match answer {
        Err(refused) => println!("{what}: {refused}: route by load"),
        Ok(response) => {
            let answer = Answer::of(&response);
            let degraded = if answer.degraded.is_empty() { "-".to_string() } else { answer.degraded.join(",") };
            let rows: Vec<String> = answer.usable().iter().map(|(name, n)| format!("{name}={n}")).collect();
            println!("{what}: {} lag_ms={} degraded={degraded} {}", answer.state, answer.lag_ms, rows.join(" "));
        }
    }
}

fn setting(name: &str, otherwise: &str) -> String {
    env::var(name).unwrap_or_else(|_| otherwise.to_string())
}

fn main() {
    let url = setting("KVINDEX", "http://127.0.0.1:13333");
    let host = url.trim_start_matches("http://").trim_end_matches('/').to_string();
    let mut index = Connection { host, timeout: Duration::from_secs(5), stream: None };
    let instance = setting("INSTANCE", "vllm-1");
    let model = setting("MODEL", "m");
    let block_size = setting("BLOCK_SIZE", "16");
    let tokens = setting("TOKENS", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16");
    let json = ("Content-Type", "application/json");
    let deadline = ("X-KvIndex-Deadline-Ms", "2000");

    let registration = format!(
        r#"{{"type":"vLLM","instance_id":"{instance}","modelname":"{model}","block_size":{block_size},"endpoint":"{}","replay_endpoint":"{}"}}"#,
        setting("ENDPOINT", "tcp://127.0.0.1:5557"),
        setting("REPLAY_ENDPOINT", "tcp://127.0.0.1:5558"),
    );
    // May be sent again and again: the same registration changes nothing.
    match index.call("/register", &[json], registration.as_bytes(), 10) {
        Ok(response) => println!("register: {}", text_member(&response.body, "status").unwrap_or_default()),
        Err(refused) => {
            eprintln!("register: {refused}");
            std::process::exit(1);
        }
    }

    let context = format!(r#""model":"{model}","block_size":{block_size},"instance_id":"{instance}""#);
    let event = setting("EVENT", "0");
    let own_write = format!(
        r#"{{{context},"token_ids":[{tokens}],"min_event":{{"instance_id":"{instance}","event_id":{event}}}}}"#
    );
    show("own write", index.call("/query", &[json], own_write.as_bytes(), 10)); // waits until it is visible

    let query = format!(r#"{{{context},"token_ids":[{tokens}]}}"#);
    show("query", index.call("/query", &[json, deadline], query.as_bytes(), 1));

    // Little-endian u32: nothing to print, nothing to parse. Names with unusual characters must be percent-encoded.
    let octets: Vec<u8> =
        tokens.split(',').flat_map(|t| t.parse::<u32>().expect("a token id").to_le_bytes()).collect();
    let path = format!("/query?model={model}&block_size={block_size}&instance_id={instance}");
    show("octets", index.call(&path, &[("Content-Type", "application/octet-stream"), deadline], &octets, 1));

    if let Ok(hashes) = env::var("HASHES") {
        let by_hash = format!(r#"{{{context},"seq_hashes":[{hashes}]}}"#);
        show("hashes", index.call("/query_by_hash", &[json, deadline], by_hash.as_bytes(), 1));
    }
    let at_once = ("X-KvIndex-Deadline-Ms", "0"); // nobody is that quick
    show("late", index.call("/query", &[json, at_once], query.as_bytes(), 1));
}
