"""Looking at runs: lists, details, single responses, exports, answers read again."""
