//! The description of the API. What all doors have in common is said once, here.

use axum::Router;
use axum::routing::get;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    ComponentsBuilder, ContentBuilder, InfoBuilder, License, OpenApi, OpenApiBuilder, Ref, RefOr,
    ResponseBuilder,
};
use utoipa::{PartialSchema, ToSchema};

use super::App;
use crate::serve::problem::Details;
use crate::serve::tokens::Scope;

const TOKEN: &str = "token";

const ABOUT: &str = "\
Everything about a crawl that runs: its pages, their copies and changes, hosts, the budget, signals, and fetches for other fetchers.

Times are RFC 3339, durations are numbers of seconds. Errors are `application/problem+json` (RFC 9457). Lists are read with cursors: go on with \
`next` as long as there is one. Without any token, on loopback, no token is needed.";

/// What stands before all doors.
pub(super) fn beginning() -> OpenApi {
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("A token that `refrain token create` made; each door needs one of the scopes read, write, signal."))
        .build();
    let components = ComponentsBuilder::new()
        .schema(Details::name(), Details::schema())
        .security_scheme(TOKEN, SecurityScheme::Http(bearer))
        .build();
    let mut license = License::new(env!("CARGO_PKG_LICENSE"));
    license.identifier = Some(env!("CARGO_PKG_LICENSE").to_owned());
    let info = InfoBuilder::new()
        .title("Refrain")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(ABOUT))
        .license(Some(license))
        .build();
    OpenApiBuilder::new().info(info).components(Some(components)).build()
}

/// Doors that want a scope: which one, and what else may happen.
pub(super) fn guarded(mut description: OpenApi, scope: Scope) -> OpenApi {
    for operation in operations(&mut description) {
        let requirement = SecurityRequirement::new(TOKEN, [scope.as_str()]);
        operation.security = Some(vec![requirement, SecurityRequirement::default()]);
        add(operation, 401, "There is no token, or not one that holds.");
        add(operation, 403, "The token is not for this, or the request comes from somewhere else.");
        add(operation, 503, "The crawl is ending, or has too much to do.");
        add(operation, 500, "Something went wrong that should not; the log says what.");
    }
    description
}

/// What may happen at every door.
pub(super) fn whole(mut description: OpenApi) -> OpenApi {
    let paths = description.paths.paths.iter_mut();
    for (path, item) in paths {
        let has_part = path.contains('{');
        for operation in of(item) {
            add(operation, 429, "This address asks too often; `Retry-After` says when to go on.");
            add(operation, 400, "The request is not understood.");
            if has_part {
                add(operation, 404, "There is no such thing.");
            }
            for response in operation.responses.responses.values_mut() {
                // Copies are whatever pages were.
                if let RefOr::T(response) = response
                    && let Some(content) = response.content.get_mut("*/*")
                {
                    *content = ContentBuilder::new().build().into();
                }
            }
            if operation.request_body.is_some() {
                add(operation, 408, "The body came too slowly.");
                add(operation, 413, "The body is too long.");
                add(operation, 415, "The body is in another form than those that are read here.");
                add(operation, 422, "The body says something that cannot be.");
            }
        }
    }
    description
}

fn operations(description: &mut OpenApi) -> impl Iterator<Item = &mut Operation> {
    description.paths.paths.values_mut().flat_map(of)
}

fn of(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let PathItem { get, put, post, delete, patch, .. } = item;
    [get, put, post, delete, patch].into_iter().flatten()
}

/// Says what a status means, if the door does not say so itself.
fn add(operation: &mut Operation, status: u16, description: &str) {
    let content =
        ContentBuilder::new().schema(Some(RefOr::Ref(Ref::from_schema_name(Details::name())))).build();
    let response =
        ResponseBuilder::new().description(description).content("application/problem+json", content).build();
    operation.responses.responses.entry(status.to_string()).or_insert_with(|| RefOr::T(response));
}

/// The door that shows the description.
pub(super) fn door(description: &OpenApi) -> Router<App> {
    // It is made of texts, which always become JSON.
    let text = Bytes::from(description.to_json().unwrap_or_default());
    let show = move || {
        let text = text.clone();
        async move { ([(CONTENT_TYPE, "application/json")], text) }
    };
    Router::new().route("/openapi.json", get(show))
}
