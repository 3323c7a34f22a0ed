"""What has been learned: the tokenizer, its tables, and the files they are kept in."""
