"""The engine `vllm`: a model in this process, on one GPU or several."""
