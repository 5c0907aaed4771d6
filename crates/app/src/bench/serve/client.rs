//! A client that costs next to nothing: what is measured is the server.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// A connection that is kept.
pub(super) struct Client {
    reader: BufReader<TcpStream>,
    body: Vec<u8>,
}

impl Client {
    pub(super) fn new(address: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { reader: BufReader::with_capacity(1 << 16, stream), body: Vec::new() })
    }

    pub(super) fn get(&mut self, path: &str) -> io::Result<&[u8]> {
        self.ask(path)?;
        self.answer()
    }

    /// Asks, without waiting for the answer.
    pub(super) fn ask(&mut self, path: &str) -> io::Result<()> {
        let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        self.reader.get_mut().write_all(head.as_bytes())
    }

    /// Waits until the answer begins.
    pub(super) fn first_byte(&mut self) -> io::Result<()> {
        self.reader.fill_buf().map(drop)
    }

    pub(super) fn post(&mut self, path: &str, kind: &str, body: &[u8]) -> io::Result<&[u8]> {
        let length = body.len();
        let mut whole = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
        )
        .into_bytes();
        whole.extend_from_slice(body);
        self.reader.get_mut().write_all(&whole)?;
        self.answer()
    }

    /// The body of an answer, which must be a good one and say how long it is.
    pub(super) fn answer(&mut self) -> io::Result<&[u8]> {
        let mut line = String::new();
        self.reader.read_line(&mut line)?;
        let (status, mut length) = (line.clone(), 0);
        loop {
            line.clear();
            if self.reader.read_line(&mut line)? <= 2 {
                break;
            }
            let field = line.to_ascii_lowercase();
            if let Some(value) = field.strip_prefix("content-length:") {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
        }
        self.body.resize(length, 0);
        self.reader.read_exact(&mut self.body)?;
        if !status.starts_with("HTTP/1.1 2") {
            let said = String::from_utf8_lossy(&self.body).into_owned();
            return Err(io::Error::other(format!("{}: {said}", status.trim())));
        }
        Ok(&self.body)
    }

    /// Asks for a stream that goes on; its lines come one by one.
    pub(super) fn stream(mut self, path: &str) -> io::Result<impl FnMut() -> io::Result<String> + use<>> {
        let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
        self.reader.get_mut().write_all(head.as_bytes())?;
        Ok(move || {
            let mut line = String::new();
            if self.reader.read_line(&mut line)? == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
            }
            Ok(line)
        })
    }
}

/// The texts after each `"name":"` of an answer.
pub(super) fn texts<'a>(body: &'a [u8], name: &str) -> impl Iterator<Item = &'a str> {
    let pattern = format!("\"{name}\":\"");
    let mut rest = std::str::from_utf8(body).unwrap_or_default();
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once(&pattern)?;
        let (text, more) = after.split_once('"')?;
        rest = more;
        Some(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_by_their_name() {
        let body = br#"{"fetches":[{"lease":"1.0.7","kind":"page"},{"lease":"1.1.9"}]}"#;
        assert_eq!(texts(body, "lease").collect::<Vec<_>>(), ["1.0.7", "1.1.9"]);
    }
}
