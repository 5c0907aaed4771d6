//! What the service manager of the system wants to know (`Type=notify`): that it is ready, and that it is about to end.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// It is ready.
pub(crate) const READY: &str = "READY=1";
/// It is about to end.
pub(crate) const STOPPING: &str = "STOPPING=1";

/// Tells whoever started it, if they want to know.
pub(crate) fn tell(what: &str) {
    let Some(name) = std::env::var_os("NOTIFY_SOCKET").filter(|name| !name.is_empty()) else { return };
    if let Err(why) = send(&name, what) {
        tracing::warn!(%why, "the service manager could not be told");
    }
}

fn send(name: &OsStr, what: &str) -> io::Result<()> {
    let bytes = name.as_bytes();
    let address = match bytes.strip_prefix(b"@") {
        // A name that is in no folder.
        Some(rest) => SocketAddr::from_abstract_name(rest)?,
        None => SocketAddr::from_pathname(name)?,
    };
    UnixDatagram::unbound()?.send_to_addr(what.as_bytes(), &address).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_names_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let hears = UnixDatagram::bind(&path).unwrap();
        send(path.as_os_str(), READY).unwrap();
        let name = format!("refrain-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(name.as_bytes()).unwrap();
        let hears_too = UnixDatagram::bind_addr(&address).unwrap();
        send(OsStr::new(&format!("@{name}")), STOPPING).unwrap();
        let mut heard = [0; 32];
        let count = hears.recv(&mut heard).unwrap();
        assert_eq!(&heard[..count], READY.as_bytes());
        let count = hears_too.recv(&mut heard).unwrap();
        assert_eq!(&heard[..count], STOPPING.as_bytes());
    }
}
