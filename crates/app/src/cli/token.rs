//! `refrain token`, as it is typed.

use clap::{Args, Subcommand};
use refrain_core::time::Span;

use super::data::Place;
use crate::units;

#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    pub(crate) command: TokenCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// A new token, shown once
    Create(CreateArgs),
    /// The tokens there are
    List(ListArgs),
    /// End a token, at once
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
A server that runs takes it within a second. What is kept is a digest: a token that is lost cannot be shown again, only replaced.

Examples:
  refrain token create --scope read
  refrain token create --scope signal --source shop --host https://shop.example.org --expires 90d")]
pub(crate) struct CreateArgs {
    #[command(flatten)]
    pub(crate) place: Place,

    /// What it is good for: read, write, signal; several with commas
    #[arg(long, value_name = "SCOPES", value_delimiter = ',', required = true)]
    pub(crate) scope: Vec<String>,

    /// Whose it is, for you to know
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Whoever signals with it is known by this name: small letters, digits and -
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,

    /// It may signal changes of pages of this host only (scheme and name, a name, or * and a dot before it for all below); may be given several times
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Vec<String>,

    /// It ends by itself after so long
    #[arg(long, value_name = "TIME", value_parser = units::some_span)]
    pub(crate) expires: Option<Span>,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) place: Place,

    /// JSON, for scripts
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    #[command(flatten)]
    pub(crate) place: Place,

    /// The number of the token, as `refrain token list` shows it
    #[arg(value_name = "ID")]
    pub(crate) id: String,
}
