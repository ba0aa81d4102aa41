"""What a model remembers beyond its list: files, retrieval, summaries, compaction. Each stands in a module of its own."""
