#!/usr/bin/env bash
# Kills the processes of deploy/local-cluster.sh under load, one after the other, and says what a router noticed: see --help.
set -euo pipefail

home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Of the drill alone: the cluster's processes have heaps of their own (deploy/local-cluster.sh --help).
export KVINDEX_JAVA_OPTS="-Xmx${DRILL_HEAP:-1g} ${KVINDEX_JAVA_OPTS:-}"
exec "$home/kvindex" drill --script "$home/deploy/local-cluster.sh" "$@"
