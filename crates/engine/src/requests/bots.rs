//! Who is obviously no person.

/// A user agent with one of these words is a machine's, whatever else it says.
const WORDS: [&str; 22] = [
    "bot",
    "crawl",
    "spider",
    "slurp",
    "+http",
    "curl/",
    "wget",
    "python",
    "java/",
    "go-http",
    "libwww",
    "httpclient",
    "okhttp",
    "scrapy",
    "headless",
    "monitor",
    "pingdom",
    "uptime",
    "feed",
    "preview",
    "externalhit",
    "archive",
];

/// Whether a user agent is obviously a machine's: it has one of the words that robots put there (`bot`, `crawl`, `spider`, the name of
/// a library, an address to complain to), or says nothing at all. Robots that pretend to be browsers are not found so; people are
/// seldom taken for robots.
pub fn is_bot(agent: &str) -> bool {
    let agent = agent.trim();
    if agent.is_empty() || agent == "-" {
        return true;
    }
    // A make of telephones.
    let agent = agent.to_ascii_lowercase().replace("cubot", "");
    WORDS.iter().any(|word| agent.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_and_people() {
        for agent in [
            "",
            "-",
            "Mozilla/5.0 (compatible; Somebot/2.1; +http://www.example.com/bot.html)",
            "curl/8.5.0",
            "python-requests/2.31",
            "Go-http-client/1.1",
            "Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/120.0",
        ] {
            assert!(is_bot(agent), "{agent}");
        }
        for agent in [
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0",
            "Mozilla/5.0 (Linux; Android 13; CUBOT P80) AppleWebKit/537.36 Chrome/120.0 Mobile Safari/537.36",
            "Lynx/2.9.0",
        ] {
            assert!(!is_bot(agent), "{agent}");
        }
    }
}
