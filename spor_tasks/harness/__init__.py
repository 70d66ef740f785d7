"""What lm-eval calls: tasks, their files, documents and filters."""
