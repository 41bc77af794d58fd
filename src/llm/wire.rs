//! One way to talk with a model: from neutral requests to an API's JSON, and back.

use serde_json::Value;

use super::message::{Request, Response};
use super::vendor::Vendor;

/// A wire format. Pure: it knows neither addresses nor keys.
pub(crate) trait Wire: Send + Sync {
    /// Whose API it is.
    fn vendor(&self) -> &'static Vendor;

    /// The last part of the path, after the vendor's address and version, without a slash before it.
    fn endpoint(&self) -> &'static str;

    /// The body of a request. `at_home` is set for the vendor's own address.
    fn body(&self, request: &Request<'_>, at_home: bool) -> Value;

    /// Reads the body of a response.
    ///
    /// # Errors
    ///
    /// What it lacks.
    fn read(&self, body: &Value) -> Result<Response, String>;
}
