//! Percent-encoded octets.

/// The octet that `%xy` at the start of `bytes` stands for.
pub(crate) fn encoded(bytes: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = bytes else { return None };
    Some((hex(*high)? << 4) | hex(*low)?)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

/// Octets that mean the same encoded or not (RFC 3986, section 2.3).
pub(crate) fn is_unreserved(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'.' | b'_' | b'~')
}

/// The same path or query with unreserved octets decoded and hexadecimal digits in upper case; `None` if it is so already.
pub(crate) fn tidied(text: &str) -> Option<String> {
    if !text.contains('%') {
        return None;
    }
    let mut tidy = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        tidy.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(octet) = encoded(rest.as_bytes()) {
            if is_unreserved(octet) {
                tidy.push(char::from(octet));
            } else {
                tidy.push_str(&format!("%{octet:02X}"));
            }
            rest = &rest[3..];
        } else {
            // A percent sign on its own: what it means is the server's business.
            tidy.push('%');
            rest = &rest[1..];
        }
    }
    tidy.push_str(rest);
    (tidy != text).then_some(tidy)
}
