-- Times are RFC 3339 in UTC, all of one length, so that they sort as they are. Booleans are 0 and 1. What is not known is NULL, never 0.
-- Columns are what is searched, sorted and counted by, and what the views offer; everything is in the documents, which are JSON.

CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  run TEXT NOT NULL, -- the name of its folder, which is the id, but where runs of two machines began in the same millisecond
  name TEXT NOT NULL,
  command TEXT NOT NULL,
  status TEXT NOT NULL, -- running, completed, interrupted
  started_at TEXT NOT NULL,
  completed_at TEXT,
  total BIGINT NOT NULL, -- how many scenarios were to run; how they came out, its results tell
  document TEXT NOT NULL,
  UNIQUE (run, started_at)
);
CREATE INDEX runs_by_time ON runs (started_at);

CREATE TABLE scenarios (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
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
  prompt TEXT,
  expected_tools TEXT NOT NULL, -- JSON
  actual_tools TEXT NOT NULL, -- JSON
  verdict TEXT NOT NULL, -- JSON
  status TEXT NOT NULL,
  is_final BIGINT NOT NULL, -- 0 for what bisect came by
  quarantined BIGINT NOT NULL, -- 1 for what did not pass, and decides nothing
  created_at TEXT NOT NULL,
  duration_ms DOUBLE PRECISION,
  agent TEXT,
  model TEXT,
  servers TEXT, -- live, recorded
  cost DOUBLE PRECISION,
  tool_calls BIGINT NOT NULL, -- how many, in all attempts
  document TEXT NOT NULL
);
CREATE INDEX results_by_run ON results (run_id);
CREATE INDEX results_by_scenario ON results (scenario_id, created_at);
CREATE INDEX results_by_name ON results (test_name, created_at);
CREATE INDEX results_by_time ON results (created_at);

CREATE VIEW test_results AS SELECT id, test_name, prompt, expected_tools, actual_tools, verdict AS judge_verdict, created_at, duration_ms,
  CASE status WHEN 'passed' THEN 'passed' WHEN 'inconclusive' THEN 'passed' WHEN 'failed' THEN 'failed' ELSE 'error' END AS status
  FROM results WHERE is_final = 1 AND status NOT IN ('skipped', 'recorded');
CREATE VIEW test_configurations AS SELECT id, name, description, server_configs, judge_config, created_at, updated_at FROM scenarios;
CREATE VIEW test_runs AS SELECT id, name, NULL AS configuration_id, total AS total_tests,
  (SELECT COUNT(*) FROM results WHERE run_id = runs.id AND status = 'passed') AS passed_tests,
  (SELECT COUNT(*) FROM results WHERE run_id = runs.id AND status IN ('failed', 'error', 'timeout') AND quarantined = 0) AS failed_tests,
  started_at, completed_at, CASE status WHEN 'running' THEN 'running' WHEN 'completed' THEN 'completed' ELSE 'failed' END AS status FROM runs;
