//! Where no crawler goes: addresses that are not of the public internet.
//!
//! A page can link anywhere and a name can lead anywhere, so the machine that crawls must not be talked into visiting its
//! own services or its neighbours'. The check is made on the address that is connected to, after names are resolved.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Is it an address that anybody on the internet could be reached at?
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// After IANA's registry of special-purpose addresses.
fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(a == 0 // this network
        || address.is_private()
        || (a == 100 && (64..128).contains(&b)) // shared by a provider's customers
        || address.is_loopback()
        || address.is_link_local()
        || (a == 192 && b == 0 && c == 0) // protocol assignments
        || address.is_documentation()
        || (a == 192 && b == 88 && c == 99) // relays from IPv6, no longer in use
        || (a == 198 && (b & 0xfe) == 18) // benchmarks
        || a >= 224) // multicast, reserved, broadcast
}

/// Global unicast is `2000::/3`; within it, and beside it, are forms that carry an IPv4 address, which counts instead.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let embedded = |high: u16, low: u16| {
        let ([w, x], [y, z]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(w, x, y, z))
    };
    match (a, b) {
        // Mapped (::ffff:0:0/96); the compatible form (::/96) has been given up, so nothing public is there.
        (0, 0) if (c, d, e, f) == (0, 0, 0, 0xffff) => embedded(g, h),
        // NAT64, the well-known prefix.
        (0x64, 0xff9b) if (c, d, e, f) == (0, 0, 0, 0) => embedded(g, h),
        // 6to4.
        (0x2002, _) => embedded(b, c),
        // Protocol assignments, Teredo and ORCHID among them; documentation.
        (0x2001, ..0x200 | 0xdb8) | (0x3fff, ..0x1000) => false,
        _ => a & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn public(text: &str) -> bool {
        is_public(text.parse().expect("an address"))
    }

    #[test]
    fn public_addresses_are_public() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "93.184.216.34",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.17.0.1",
            "198.20.0.1",
            "223.255.255.255",
            "2606:4700:4700::1111",
            "2a00:1450:4001:81b::200e",
            "2001:4860:4860::8888",
            "2001:200::1",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2002:808:808::1",
        ] {
            assert!(public(address), "{address}");
        }
    }

    #[test]
    fn all_others_are_not() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "::8.8.8.8",
            "64:ff9b::127.0.0.1",
            "64:ff9b::10.1.2.3",
            "64:ff9b:1::8.8.8.8",
            "100::1",
            "2001::1",
            "2001:1ff::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "2002:a00:1::",
            "2002:c0a8:101::1",
            "3fff::1",
            "3fff:fff::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "4000::1",
        ] {
            assert!(!public(address), "{address}");
        }
    }
}
