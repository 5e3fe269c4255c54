#!/bin/bash
# Answers the files of `ccrs judge --engine files --requests` with vLLM, one part of them a task:
#     sbatch --array=0-15 data/deploy/judge_batch.sh REQUESTS RESULTS MODEL [OPTION OF VLLM...]
# A part whose results are complete is not asked again, so the same command goes on after a failure.
#SBATCH --job-name=ccrs-judge
#SBATCH --gpus-per-task=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=64G
#SBATCH --time=12:00:00
set -euo pipefail
requests=$1 results=$2 model=$3
shift 3
# Numbered from 0 by Slurm, or by an indexed job of Kubernetes, which does not say how many.
part=${SLURM_ARRAY_TASK_ID:-${JOB_COMPLETION_INDEX:-0}}
parts=${SLURM_ARRAY_TASK_COUNT:-${JOB_COMPLETIONS:-1}}
results_of_part=$results/part-$part-of-$parts.jsonl
mkdir -p "$results"
if [[ -s $results_of_part ]]; then exit; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Neighboring prompts share their beginning, which vLLM then computes once: parts stay in one piece.
for file in "$requests"/judge-*.jsonl; do
    split --number="l/$((part + 1))/$parts" "$file"
done >"$work/requests.jsonl"
if [[ -s $work/requests.jsonl ]]; then
    python3 -m vllm.entrypoints.openai.run_batch --model "$model" "$@" \
        --input-file "$work/requests.jsonl" --output-file "$work/results.jsonl"
    cp "$work/results.jsonl" "$results_of_part.part"
    mv "$results_of_part.part" "$results_of_part"
fi
