#!/usr/bin/env bash
# usage: probe.sh PORT [PATH [HOST]]   exit code 0 if GET http://HOST:PORT/PATH (default /health of 127.0.0.1) answers 200
# within 3 s. For health checks where there is no curl: bash and timeout are all it needs.
set -eu
port=$1 path=${2:-/health} host=${3:-127.0.0.1}
# The inner shell does the work, so that one that hangs is ended.
# shellcheck disable=SC2016
exec timeout 3 bash -c '
  exec 3<>"/dev/tcp/$1/$2" || exit 1
  printf "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" "$3" "$1" >&3
  read -r _ status _ <&3 && [ "$status" = 200 ]
' probe "$host" "$port" "$path" 2>/dev/null
