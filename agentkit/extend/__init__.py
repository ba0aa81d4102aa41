"""What larger harnesses add to the loop: hooks, skills, sub-agents, MCP. Each stands in a module of its own."""
