//! One way to talk with a model: from neutral requests to an API's JSON, and back.

use serde_json::Value;

use super::message::{Request, Response};
use super::names::NameRule;

/// A wire format. Pure: it knows neither addresses nor keys.
pub(crate) trait Wire: Send + Sync {
    /// The vendor's own address.
    fn home(&self) -> &'static str;

    /// What stands between the address and the endpoint: `v1`, or nothing.
    fn version(&self) -> Option<&'static str>;

    /// The endpoint, without a slash before it.
    fn endpoint(&self) -> &'static str;

    /// The environment variable that usually holds the key; `None` where none is needed.
    fn usual_key_env(&self) -> Option<&'static str>;

    /// The headers that say who asks and in which version of the API.
    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)>;

    fn name_rule(&self) -> NameRule;

    /// The body of a request. `at_home` is set for the vendor's own address.
    fn body(&self, request: &Request<'_>, at_home: bool) -> Value;

    /// Reads the body of a response.
    ///
    /// # Errors
    ///
    /// What it lacks.
    fn read(&self, body: &Value) -> Result<Response, String>;
}

/// `Bearer` with a key, where there is one.
pub(crate) fn bearer(key: Option<&str>) -> Vec<(&'static str, String)> {
    let header = |key| ("authorization", format!("Bearer {key}"));
    key.map(header).into_iter().collect()
}
