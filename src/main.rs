//! The `mcp-eval` program.

fn main() {}
