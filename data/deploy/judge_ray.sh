#!/bin/bash
# Judges a study with replicas of a model in Ray, which runs on all machines of the job:
#     sbatch --nodes=4 --gpus-per-node=4 data/deploy/judge_ray.sh STUDY --model MODEL --replicas 16 [OPTION...]
# The command runs on the first machine. After a failure or at the end of the time, submit the same job again: it resumes.
#SBATCH --job-name=ccrs-judge
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=32
#SBATCH --time=12:00:00
set -euo pipefail
port=${RAY_PORT:-6379}
# Without a proxy of the cluster between its machines.
head=$(hostname)
gpus=${SLURM_GPUS_ON_NODE:-0} cpus=${SLURM_CPUS_PER_TASK:-$(nproc)}
started=()
trap 'kill "${started[@]}" 2>/dev/null; ray stop >/dev/null 2>&1' EXIT
ray start --head --block --port "$port" --num-gpus "$gpus" --num-cpus "$cpus" --disable-usage-stats &
started+=($!)
others=$((${SLURM_JOB_NUM_NODES:-1} - 1))
if ((others)); then
    srun --nodes "$others" --ntasks "$others" --exclude "$head" \
        ray start --block --address "$head:$port" --num-gpus "$gpus" --num-cpus "$cpus" &
    started+=($!)
fi
machines="import ray, sys; ray.init('$head:$port', log_to_driver=False)
sys.exit(sum(node['Alive'] for node in ray.nodes()) <= $others)"
until python3 -c "$machines" 2>/dev/null; do sleep 2; done
ccrs judge "$1" --engine ray --cluster "$head:$port" "${@:2}"
