//! `refrain token`.

use refrain_core::time::Time;
use refrain_engine::{Clock, Source, host_name};
use refrain_fetch::url::PageUrl;
use serde_json::json;

use super::{Scope, Token, file, millis};
use crate::cli::{CreateArgs, ListArgs, RevokeArgs, TokenArgs, TokenCommand};
use crate::failure::Failure;
use crate::output::to_stdout;

pub(crate) fn run(args: &TokenArgs) -> Result<(), Failure> {
    match &args.command {
        TokenCommand::Create(args) => create(args),
        TokenCommand::List(args) => list(args),
        TokenCommand::Revoke(args) => revoke(args),
    }
}

fn create(args: &CreateArgs) -> Result<(), Failure> {
    let now = Clock::start().now();
    let mut random = [0; 32];
    getrandom::fill(&mut random)
        .map_err(|why| Failure::OnTheWay(format!("there is no chance to be had ({why})")))?;
    let (mut token, secret) = Token::new(scopes(&args.scope)?, random, now);
    token.name.clone_from(&args.name);
    token.source = args.source.as_deref().map(source).transpose()?;
    token.hosts = args.host.iter().map(|host| whole_host(host)).collect::<Result<_, _>>()?;
    token.expires = args.expires.map(|span| millis(now + span));
    if (token.source.is_some() || !token.hosts.is_empty()) && !token.allows(Scope::Signal) {
        return Err(Failure::input("--source and --host are for signals; expected --scope signal with them"));
    }
    file::change(&args.place.data, |tokens| {
        tokens.push(token);
        Ok(())
    })?;
    eprintln!("This is the only time it is shown; what is kept is a digest of it.");
    to_stdout(|out| writeln!(out, "{secret}"))
}

fn scopes(given: &[String]) -> Result<Vec<Scope>, Failure> {
    let mut scopes = Vec::new();
    for name in given {
        let found = Scope::ALL.into_iter().find(|scope| scope.as_str() == name.trim()).ok_or_else(|| {
            Failure::input(format!("--scope {name}: no such scope; expected read, write or signal"))
        })?;
        if !scopes.contains(&found) {
            scopes.push(found);
        }
    }
    scopes.sort();
    Ok(scopes)
}

fn source(name: &str) -> Result<String, Failure> {
    Source::new(name).map(|_| name.to_owned()).ok_or_else(|| {
        Failure::input(format!(
            "--source {name}: cannot be the name of a source; expected at most 32 small letters, digits and -, and none of sitemap, feed, websub, indexnow, ping"
        ))
    })
}

/// A host in its one spelling, a name whatever the scheme, or all names below one: nothing may be after it.
fn whole_host(host: &str) -> Result<String, Failure> {
    let wrong = |why: &str| {
        Failure::input(format!(
            "--host {host}: {why}; expected one like https://example.org, example.org or *.example.org"
        ))
    };
    let (below, name) = host.strip_prefix("*.").map_or(("", host), |name| ("*.", name));
    let is_name = !name.contains("://");
    let whole = if is_name { format!("https://{name}/") } else { name.to_owned() };
    let url = PageUrl::parse(&whole).map_err(|why| wrong(&why.to_string()))?;
    if url.path_and_query() != "/" || (is_name && url.port() != 443) || (!is_name && !below.is_empty()) {
        return Err(wrong("that is not just a host"));
    }
    Ok(if is_name { format!("{below}{}", url.host()) } else { host_name(&url) })
}

fn list(args: &ListArgs) -> Result<(), Failure> {
    let (tokens, now) = (file::read(&args.place.data)?, Clock::start().now());
    to_stdout(|out| {
        if args.json {
            return tokens.iter().try_for_each(|token| writeln!(out, "{}", as_json(token)));
        }
        if tokens.is_empty() {
            return writeln!(out, "There are no tokens: on loopback everybody may do everything.");
        }
        writeln!(out, "{:<8}  {:<17}  {:<19}  {:<19}  for", "id", "scopes", "created (UTC)", "until (UTC)")?;
        for token in &tokens {
            let until = token.expires.map_or_else(|| "for ever".to_owned(), spelled);
            let until = if token.is_over(now) { "over".to_owned() } else { until };
            let mut words: Vec<&str> = token.name.iter().map(String::as_str).collect();
            words.extend(token.source.as_deref());
            words.extend(token.hosts.iter().map(String::as_str));
            let words = words.join(", ");
            let scopes: Vec<&str> = token.scopes.iter().map(|scope| scope.as_str()).collect();
            let line = format!(
                "{:<8}  {:<17}  {}  {until:<19}  {}",
                token.id,
                scopes.join(","),
                spelled(token.created),
                crate::data::harmless::harmless(&words)
            );
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    })
}

fn as_json(token: &Token) -> serde_json::Value {
    let moment = |millis: i64| crate::data::written(Time::from_nanos(millis.saturating_mul(1_000_000)));
    json!({
        "id": token.id, "scopes": token.scopes, "name": token.name, "source": token.source, "hosts": token.hosts,
        "created": moment(token.created), "expires": token.expires.map(moment),
    })
}

fn spelled(millis: i64) -> String {
    crate::data::spelled(Time::from_nanos(millis.saturating_mul(1_000_000)))
}

fn revoke(args: &RevokeArgs) -> Result<(), Failure> {
    file::change(&args.place.data, |tokens| {
        let before = tokens.len();
        tokens.retain(|token| token.id != args.id);
        if tokens.len() == before {
            return Err(Failure::input(format!(
                "{}: no such token; expected an id as `refrain token list` shows it",
                args.id
            )));
        }
        Ok(())
    })?;
    to_stdout(|out| writeln!(out, "{} is no token any more", args.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_hosts_and_nothing_else() {
        let found = |text| whole_host(text).map_err(|why| why.to_string());
        for (typed, kept) in [
            ("HTTPS://Example.org:443/", "https://example.org"),
            ("http://example.org:8080", "http://example.org:8080"),
            ("Example.org", "example.org"),
            ("*.Example.org", "*.example.org"),
        ] {
            assert_eq!(found(typed).as_deref(), Ok(kept));
        }
        for wrong in
            ["", "*.", "https://example.org/a", "example.org/a", "example.org:8443", "*.https://a.org"]
        {
            let why = found(wrong).unwrap_err();
            assert!(why.starts_with(&format!("--host {wrong}: ")) && why.contains("expected"), "{why}");
        }
    }
}
