"""One folder per benchmark: its sets, tasks and tables. Nothing imports these but the registry."""
