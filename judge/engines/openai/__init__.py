"""Chat completions over HTTP, from any endpoint that speaks OpenAI's protocol."""
