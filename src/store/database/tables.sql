-- Times are RFC 3339 in UTC, all of one length, so that they sort as they are. Booleans are 0 and 1. What is not known is NULL, never 0.

CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  run TEXT NOT NULL, -- the name of its folder, which is the id, but where runs of two machines began in the same millisecond
  name TEXT NOT NULL,
  command TEXT NOT NULL,
  status TEXT NOT NULL, -- running, completed, interrupted
  started_at TEXT NOT NULL,
  completed_at TEXT,
  duration_ms DOUBLE PRECISION,
  exit_code BIGINT,
  mcp_eval TEXT,
  total BIGINT NOT NULL,
  passed BIGINT NOT NULL,
  failed BIGINT NOT NULL,
  inconclusive BIGINT NOT NULL,
  errors BIGINT NOT NULL,
  timeouts BIGINT NOT NULL,
  interrupted BIGINT NOT NULL,
  skipped BIGINT NOT NULL,
  recorded BIGINT NOT NULL,
  quarantined BIGINT NOT NULL,
  git_commit TEXT,
  git_short TEXT,
  git_branch TEXT,
  git_describe TEXT,
  git_subject TEXT,
  git_committed_at TEXT,
  git_dirty BIGINT,
  git_remote TEXT,
  host TEXT,
  who TEXT,
  called TEXT, -- JSON
  UNIQUE (run, started_at)
);
CREATE INDEX runs_by_time ON runs (started_at);

CREATE TABLE scenarios (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  path TEXT,
  description TEXT,
  server_configs TEXT, -- JSON
  judge_config TEXT, -- JSON
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);

CREATE TABLE results (
  id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  scenario_id TEXT NOT NULL,
  test_name TEXT NOT NULL,
  path TEXT NOT NULL,
  description TEXT,
  prompt TEXT,
  tags TEXT NOT NULL, -- JSON
  row_of TEXT,
  cell TEXT, -- JSON
  command TEXT NOT NULL,
  is_final BIGINT NOT NULL, -- 0 for what bisect came by
  status TEXT NOT NULL,
  reason TEXT,
  expected_tools TEXT NOT NULL, -- JSON
  actual_tools TEXT NOT NULL, -- JSON
  verdict TEXT NOT NULL, -- JSON
  score DOUBLE PRECISION,
  evaluation_score DOUBLE PRECISION,
  changes BIGINT NOT NULL,
  calls BIGINT,
  failed_calls BIGINT,
  duration_ms DOUBLE PRECISION,
  created_at TEXT NOT NULL,
  agent TEXT,
  model TEXT,
  agent_hash TEXT,
  scenario_hash TEXT,
  servers TEXT, -- live, recorded
  server_versions TEXT, -- JSON
  compared_with TEXT,
  image TEXT, -- JSON
  source_commit TEXT,
  source_short TEXT,
  source_branch TEXT,
  source_describe TEXT,
  source_subject TEXT,
  source_committed_at TEXT,
  source_dirty BIGINT,
  source_remote TEXT,
  scenarios_commit TEXT,
  scenarios_short TEXT,
  scenarios_branch TEXT,
  scenarios_describe TEXT,
  scenarios_subject TEXT,
  scenarios_committed_at TEXT,
  scenarios_dirty BIGINT,
  scenarios_remote TEXT,
  attempts BIGINT NOT NULL,
  attempts_passed BIGINT NOT NULL,
  attempts_judged BIGINT NOT NULL,
  flaky BIGINT NOT NULL,
  quarantined BIGINT NOT NULL,
  input_tokens BIGINT,
  output_tokens BIGINT,
  cache_read_tokens BIGINT,
  cache_write_tokens BIGINT,
  total_tokens BIGINT,
  cost DOUBLE PRECISION,
  requests BIGINT
);
CREATE INDEX results_by_run ON results (run_id);
CREATE INDEX results_by_scenario ON results (scenario_id, created_at);
CREATE INDEX results_by_name ON results (test_name, created_at);
CREATE INDEX results_by_time ON results (created_at);

CREATE TABLE attempts (
  result_id TEXT NOT NULL REFERENCES results (id) ON DELETE CASCADE,
  is_retried BIGINT NOT NULL, -- 1 for what could not be run or judged, and was made again
  number BIGINT NOT NULL,
  status TEXT NOT NULL,
  score DOUBLE PRECISION,
  duration_ms DOUBLE PRECISION,
  reason TEXT,
  changes BIGINT NOT NULL,
  input_tokens BIGINT,
  output_tokens BIGINT,
  cache_read_tokens BIGINT,
  cache_write_tokens BIGINT,
  total_tokens BIGINT,
  cost DOUBLE PRECISION,
  requests BIGINT,
  PRIMARY KEY (result_id, is_retried, number)
);

CREATE TABLE evaluations (
  result_id TEXT NOT NULL REFERENCES results (id) ON DELETE CASCADE,
  number BIGINT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  gating BIGINT NOT NULL,
  status TEXT NOT NULL,
  score DOUBLE PRECISION,
  weight DOUBLE PRECISION,
  message TEXT NOT NULL,
  duration_ms DOUBLE PRECISION,
  judges TEXT, -- JSON
  PRIMARY KEY (result_id, number)
);

CREATE TABLE tool_calls (
  result_id TEXT NOT NULL REFERENCES results (id) ON DELETE CASCADE,
  attempt BIGINT NOT NULL,
  number BIGINT NOT NULL,
  server TEXT,
  tool TEXT NOT NULL,
  status TEXT NOT NULL,
  start_ms DOUBLE PRECISION,
  duration_ms DOUBLE PRECISION,
  arguments_bytes BIGINT NOT NULL,
  answer_bytes BIGINT NOT NULL,
  PRIMARY KEY (result_id, attempt, number)
);
