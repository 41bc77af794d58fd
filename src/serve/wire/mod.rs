//! What requests and replies hold. Their JSON Schemas are made from these types, and requests are read by them.

pub mod agent;
pub mod batch;
pub mod case;
pub mod cases;
pub mod commands;
pub mod error;
pub mod health;
pub mod reply;
pub mod results;
pub mod server;

pub use self::agent::{AgentConfig, JudgeConfig, ModelConfig, Provider};
pub use self::batch::{BatchReply, BatchRequest, Parallel, Summary};
pub use self::case::{CaseRequest, RunRequest, ScenarioRequest, TestCase, YamlRequest};
pub use self::cases::{CaseDocument, CaseEntry, CaseList, NewCase, WrittenCase};
pub use self::error::{ErrorReply, Misfit};
pub use self::health::{Connection, Connections, Health, Status};
pub use self::reply::{RunReply, ToolCall, Verdict};
pub use self::results::{PageQuery, ResultList, ResultQuery, RunList};
pub use self::server::ServerConfig;
pub use crate::published::kept::{ResultEntry, RunEntry, Statistics};
