CREATE VIEW test_results AS SELECT id, test_name, prompt, expected_tools, actual_tools, verdict AS judge_verdict, created_at, duration_ms,
  CASE status WHEN 'passed' THEN 'passed' WHEN 'inconclusive' THEN 'passed' WHEN 'failed' THEN 'failed' ELSE 'error' END AS status
  FROM results WHERE is_final = 1 AND status NOT IN ('skipped', 'recorded');
CREATE VIEW test_configurations AS SELECT id, name, description, server_configs, judge_config, created_at, updated_at FROM scenarios;
CREATE VIEW test_runs AS SELECT id, name, NULL AS configuration_id, total AS total_tests, passed AS passed_tests, failed + errors + timeouts AS failed_tests, started_at, completed_at,
  CASE status WHEN 'running' THEN 'running' WHEN 'completed' THEN 'completed' ELSE 'failed' END AS status FROM runs;
