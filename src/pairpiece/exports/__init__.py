"""The target-only tokenizer, and what it knows, as files that other tools load."""
