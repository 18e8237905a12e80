#!/usr/bin/env bash
# Kills the processes of deploy/local-cluster.sh under load, one after the other, and says what a router noticed: see --help.
set -euo pipefail

home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Of the drill alone: the cluster's processes have heaps of their own (deploy/local-cluster.sh --help).
# The second compiler would take a whole processor for seconds, at the first faults and in the seconds behind an outage: a
# judge that runs on the same machine should not be what is judged.
options="-Xmx${DRILL_HEAP:-1g} -XX:TieredStopAtLevel=1"
export KVINDEX_JAVA_OPTS="$options ${KVINDEX_JAVA_OPTS:-}"
exec "$home/testing/run.sh" drill --script "$home/deploy/local-cluster.sh" "$@"
