#!/usr/bin/env bash
# Runs one load against a server of its own on a temporary directory, prints the figures, leaves nothing running.
# usage: benchmarks/run.sh query-4k | query-32k | query-churn | ingest | remove | fence | jmh   [options of the load or of JMH]
# PROFILE=FILE.jfr records the server with Java Flight Recorder.
set -euo pipefail
home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jar=$home/benchmarks/target/benchmarks.jar
load=${1:-}
case $load in query-4k | query-32k | query-churn | ingest | remove | fence | jmh) shift ;; *)
  sed -n '3s/^# //p' "${BASH_SOURCE[0]}" >&2
  exit 2
  ;;
esac

echo "building ..." >&2
(cd "$home" && mvn -B -q -DskipTests -pl launcher,benchmarks -am package)

if [ "$load" = jmh ]; then
  exec java -jar "$jar" "$@"
fi

free_port() {
  local port
  while port=$((20000 + RANDOM % 12000)) && (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
  echo "$port"
}

port=$(free_port)
data=$(mktemp -d)
server=
stop() {
  if [ -n "$server" ] && kill -TERM "$server" 2>/dev/null; then
    for _ in $(seq 300); do
      kill -0 "$server" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  rm -rf "$data"
}
trap stop EXIT
trap 'exit 130' INT TERM

java_options=${KVINDEX_JAVA_OPTS:-}
if [ -n "${PROFILE:-}" ]; then
  java_options+=" -XX:StartFlightRecording=filename=$PROFILE,settings=profile,dumponexit=true"
fi
KVINDEX_JAVA_OPTS=$java_options "$home/kvindex" all --http-port "$port" --data-dir "$data/kvindex" >"$data/server.log" 2>&1 &
server=$!

answers() { # whether GET /ready says 200
  local status=
  { exec 3<>"/dev/tcp/127.0.0.1/$port"; } 2>/dev/null || return 1
  printf 'GET /ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
  read -r status <&3 || true
  exec 3>&-
  [[ $status == *" 200"* ]]
}
for _ in $(seq 300); do
  answers && break
  kill -0 "$server" 2>/dev/null || break
  sleep 0.2
done
if ! answers; then
  echo "the server did not become ready:" >&2
  tail -n 30 "$data/server.log" >&2
  exit 1
fi

run() { java -Xms512m -Xmx2g -XX:+UseSerialGC -cp "$jar" "io.kvindex.benchmarks.load.$1" --port "$port" --pid "$server" "${@:2}"; }
echo "machine: $(nproc) cores, $(java -version 2>&1 | sed -n 2p), commit $(git -C "$home" rev-parse --short HEAD 2>/dev/null || echo unknown)"
status=0
case $load in
  query-4k) run QueryLoad --tokens 4096 --stems 32 "$@" || status=$? ;;
  query-32k) run QueryLoad --tokens 32768 --stems 16 "$@" || status=$? ;;
  query-churn) run QueryLoad --tokens 4096 --stems 32 --connections 4 --churn 20000 "$@" || status=$? ;;
  ingest) run IngestLoad "$@" || status=$? ;;
  remove) run RemoveLoad "$@" || status=$? ;;
  fence) run FenceLoad "$@" || status=$? ;;
esac
if [ "$status" -ne 0 ]; then
  echo "the load failed; the server's last lines:" >&2
  tail -n 30 "$data/server.log" >&2
fi
exit "$status"
