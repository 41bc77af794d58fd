//! Sessions of the dashboard: a browser that goes to an address cannot show the token, so it shows it once, and from then on a cookie that
//! lives no longer than the server. The cookie opens pages alone.

use std::collections::VecDeque;
use std::io;

use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::http_server::{is_secret, unguessable};

/// How many sessions there are at most; the oldest makes room.
const MOST: usize = 64;

/// The sessions of one server.
pub(super) struct Sessions {
    /// The name of the cookie: browsers send that of one port to all ports of a host.
    cookie: String,
    /// The session of everybody, where no token is wanted.
    open: Option<Visitor>,
    /// What signs in once.
    code: Mutex<Option<String>>,
    kept: Mutex<VecDeque<Session>>,
    /// What there is to say to everybody, where there are no sessions.
    said: Mutex<Option<String>>,
}

struct Session {
    visitor: Visitor,
    said: Option<String>,
    /// Cancelled with the session.
    lives: CancellationToken,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.lives.cancel();
    }
}

/// Somebody who is let in.
#[derive(Clone)]
pub(super) struct Visitor {
    /// What the cookie holds; `None` where no token is wanted.
    value: Option<String>,
    /// What forms bring with them.
    pub(super) csrf: String,
}

impl Visitor {
    fn new(has_cookie: bool) -> io::Result<Self> {
        Ok(Self {
            value: has_cookie.then(unguessable).transpose()?,
            csrf: unguessable()?,
        })
    }

    /// Whether there is a session to end.
    pub(super) fn is_signed_in(&self) -> bool {
        self.value.is_some()
    }

    fn is(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Sessions {
    /// `code` signs in once, without the token.
    ///
    /// # Errors
    ///
    /// When the system has no randomness to give.
    pub(super) fn new(port: u16, has_token: bool, code: Option<String>) -> io::Result<Self> {
        Ok(Self {
            cookie: format!("mcp_eval_{port}"),
            open: (!has_token).then(|| Visitor::new(false)).transpose()?,
            code: Mutex::new(code),
            kept: Mutex::default(),
            said: Mutex::default(),
        })
    }

    /// Whose request it is; `None` where nobody knows.
    pub(super) fn visitor(&self, headers: &HeaderMap) -> Option<Visitor> {
        if let Some(open) = &self.open {
            return Some(open.clone());
        }
        let cookies = headers.get_all(COOKIE).iter();
        let cookies = cookies.filter_map(|it| it.to_str().ok());
        let mut pairs = cookies
            .flat_map(|it| it.split(';'))
            .filter_map(|it| it.trim().split_once('='))
            .filter(|(name, _)| *name == self.cookie);
        let kept = self.kept.lock();
        let is_of = |session: &&Session, shown: &str| {
            let value = session.visitor.value.as_deref();
            value.is_some_and(|it| is_secret(shown, it))
        };
        let found = pairs.find_map(|(_, shown)| kept.iter().find(|it| is_of(it, shown)));
        Some(found?.visitor.clone())
    }

    /// Begins a session; returns the cookie that shows it.
    ///
    /// # Errors
    ///
    /// When the system has no randomness to give.
    pub(super) fn begin(&self) -> io::Result<String> {
        let visitor = Visitor::new(true)?;
        let value = visitor.value.clone().unwrap_or_default();
        let said = None;
        let mut kept = self.kept.lock();
        let lives = CancellationToken::new();
        kept.push_front(Session {
            visitor,
            said,
            lives,
        });
        kept.truncate(MOST);
        Ok(self.set(&value, ""))
    }

    /// The same for whoever knows the code that signs in once, which is worth nothing then; `None` for anybody else.
    ///
    /// # Errors
    ///
    /// When the system has no randomness to give.
    pub(super) fn begin_by(&self, code: &str) -> io::Result<Option<String>> {
        {
            let mut known = self.code.lock();
            if !known.as_deref().is_some_and(|it| is_secret(code, it)) {
                return Ok(None);
            }
            known.take();
        }
        self.begin().map(Some)
    }

    /// Ends a session; returns what takes the cookie away.
    pub(super) fn end(&self, visitor: &Visitor) -> String {
        self.kept.lock().retain(|it| !it.visitor.is(visitor));
        self.set("", "; Max-Age=0")
    }

    /// Is over when the session of a visitor is: at once where there is none any more, and never where none is wanted.
    pub(super) fn over(&self, visitor: &Visitor) -> impl Future<Output = ()> + use<> {
        let kept = self.kept.lock();
        let session = kept.iter().find(|it| it.visitor.is(visitor));
        let lives = session.map(|it| it.lives.clone());
        let has_none = self.open.is_some();
        async move {
            match lives {
                Some(lives) => lives.cancelled().await,
                None if has_none => std::future::pending().await,
                None => {}
            }
        }
    }

    fn set(&self, value: &str, more: &str) -> String {
        let name = &self.cookie;
        format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/{more}")
    }

    /// Notes what came of something, for the next page.
    pub(super) fn say(&self, visitor: &Visitor, what: String) {
        let mut kept = self.kept.lock();
        match kept.iter_mut().find(|it| it.visitor.is(visitor)) {
            Some(session) => session.said = Some(what),
            None => *self.said.lock() = Some(what),
        }
    }

    /// What there is to say, once.
    pub(super) fn said(&self, visitor: &Visitor) -> Option<String> {
        let mut kept = self.kept.lock();
        match kept.iter_mut().find(|it| it.visitor.is(visitor)) {
            Some(session) => session.said.take(),
            None => self.said.lock().take().filter(|_| self.open.is_some()),
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;
    use axum::http::header::COOKIE;
    use futures_util::FutureExt as _;

    use super::{MOST, Sessions};

    fn with(cookie: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, cookie.parse().expect("it is a header"));
        headers
    }

    #[test]
    fn a_session_is_known_by_its_cookie_until_it_ends() {
        let sessions = Sessions::new(3002, true, None).expect("there is randomness");
        let cookie = sessions.begin().expect("there is randomness");
        let pair = cookie.split(';').next().unwrap_or_default();
        assert!(pair.starts_with("mcp_eval_3002="), "{cookie}");
        let visitor = sessions.visitor(&with(&format!("a=b; {pair}; c=d")));
        let visitor = visitor.expect("the session is known");
        for other in [
            "mcp_eval_3002=",
            "mcp_eval_3002",
            &pair.replace("3002", "3003"),
            &pair[..pair.len() - 1],
        ] {
            assert!(sessions.visitor(&with(other)).is_none(), "{other}");
        }
        assert!(sessions.visitor(&HeaderMap::new()).is_none());
        sessions.say(&visitor, "done".to_owned());
        assert_eq!(sessions.said(&visitor).as_deref(), Some("done"));
        assert_eq!(sessions.said(&visitor), None);
        let over = sessions.over(&visitor);
        sessions.end(&visitor);
        assert!(over.now_or_never().is_some());
        assert!(sessions.visitor(&with(pair)).is_none());
        for _ in 0..=MOST {
            sessions.begin().expect("there is randomness");
        }
        assert_eq!(sessions.kept.lock().len(), MOST);
    }

    #[test]
    fn a_code_signs_in_once() {
        let code = Some("c0de".to_owned());
        let sessions = Sessions::new(1, true, code).expect("there is randomness");
        let by = |code| sessions.begin_by(code).expect("there is randomness");
        assert_eq!(by("other"), None);
        assert!(by("c0de").is_some());
        assert_eq!(by("c0de"), None);
    }
}
