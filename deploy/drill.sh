#!/usr/bin/env bash
# Kills the processes of deploy/local-cluster.sh under load, one after the other, and says what a router noticed: see --help.
set -euo pipefail

home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Of the drill alone: the cluster's processes have heaps of their own (deploy/local-cluster.sh --help).
options="-Xmx${DRILL_HEAP:-1g}"
# The seconds behind an outage are what counts: the second compiler would take a tenth of them, for a judge that runs once.
[[ " $* " != *" --outage"* ]] || options+=" -XX:TieredStopAtLevel=1"
export KVINDEX_JAVA_OPTS="$options ${KVINDEX_JAVA_OPTS:-}"
exec "$home/kvindex" drill --script "$home/deploy/local-cluster.sh" "$@"
