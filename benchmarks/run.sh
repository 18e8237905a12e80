#!/usr/bin/env bash
# Runs one load against a server of its own on a temporary directory, prints the figures, leaves nothing running.
# usage: benchmarks/run.sh query-small | query-4k | query-32k | query-churn | forms | ingest | remove | fence | dump | replay | restart | forward | starts | idle | cluster | jmh   [options of the load or of JMH]
# BUILD=no runs what was built before. PROFILE=FILE.jfr records the server with Java Flight Recorder.
set -euo pipefail
home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jar=$home/benchmarks/target/benchmarks.jar
load=${1:-}
if [[ " $* " == *" --help "* || " $* " == *" -h "* ]]; then
  sed -n '2,4s/^# //p' "${BASH_SOURCE[0]}"
  echo "What each load asks, its options with their defaults, and what came out: benchmarks/README.md"
  exit
fi
case $load in query-small | query-4k | query-32k | query-churn | forms | ingest | remove | fence | dump | replay | restart | forward | starts | idle | cluster | jmh) shift ;; *)
  sed -n '3s/^# //p' "${BASH_SOURCE[0]}" >&2
  exit 2
  ;;
esac

if [ "${BUILD:-yes}" = yes ]; then
  echo "building ..." >&2
  (cd "$home" && mvn -B -q -DskipTests -pl launcher,benchmarks -am package)
fi

if [ "$load" = jmh ]; then
  exec java -jar "$jar" "$@"
fi

free_port() {
  local port
  while port=$((20000 + RANDOM % 12000)) && (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
  echo "$port"
}

data=$(mktemp -d)
servers=()
forward=(--tokens 32768 --stems 16)
stop() {
  local server
  for server in "${servers[@]}"; do
    kill -TERM "$server" 2>/dev/null || continue
    for _ in $(seq 300); do
      kill -0 "$server" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  done
  rm -rf "$data"
}
trap stop EXIT
trap 'exit 130' INT TERM

answers() { # whether GET /ready at port $1 says 200
  local status=
  { exec 3<>"/dev/tcp/127.0.0.1/$1"; } 2>/dev/null || return 1
  printf 'GET /ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
  read -r status <&3 || true
  exec 3>&-
  [[ $status == *" 200"* ]]
}

why() { # what GET /ready at port $1 says
  { exec 3<>"/dev/tcp/127.0.0.1/$1"; } 2>/dev/null || return 0
  printf 'GET /ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
  tail -n 1 <&3 | tr -d '\r' || true
  exec 3>&-
}

start() { # a server named $1 on port $2 with the Java options $3; waits until it is ready
  KVINDEX_JAVA_OPTS=$3 "$home/kvindex" all --http-port "$2" --data-dir "$data/$1" >"$data/$1.log" 2>&1 &
  local server=$!
  servers+=("$server")
  for _ in $(seq 300); do
    answers "$2" && return
    kill -0 "$server" 2>/dev/null || break
    sleep 0.2
  done
  if ! answers "$2"; then
    echo "the server did not become ready:" >&2
    tail -n 30 "$data/$1.log" >&2
    exit 1
  fi
}

start_index_only() { # a server named $1 on port $2 with an index and nothing else, with the options behind them
  java -Xmx4g -cp "$jar" io.kvindex.benchmarks.load.IndexOnlyServer --port "$2" "${forward[@]}" "${@:3}" >"$data/$1.log" 2>&1 &
  servers+=($!)
  for _ in $(seq 300); do
    grep -q '^ready' "$data/$1.log" && return
    sleep 0.2
  done
  tail -n 30 "$data/$1.log" >&2
  exit 1
}

java_options=${KVINDEX_JAVA_OPTS:-}
if [ -n "${PROFILE:-}" ]; then
  java_options+=" -XX:StartFlightRecording=filename=$PROFILE,settings=profile,dumponexit=true"
fi
machine() { echo "machine: $(nproc) cores, $(java -version 2>&1 | sed -n 2p), commit $(git -C "$home" rev-parse --short HEAD 2>/dev/null || echo unknown)"; }

background() { # the process "kvindex $2..." with its output in $1.log; waits for its line "ready at" and sets $ready to what follows
  KVINDEX_JAVA_OPTS=$java_options "$home/kvindex" "${@:2}" >"$data/$1.log" 2>&1 &
  servers+=("$!")
  until ready=$(sed -n 's/^kvindex.* ready at //p' "$data/$1.log" | tail -n 1) && [ -n "$ready" ]; do
    kill -0 "${servers[-1]}" 2>/dev/null || { tail -n 30 "$data/$1.log" >&2; exit 1; }
    [ "$1" != replay ] || said "$data/$1.log"
    sleep 0.2
  done
}

said() { # shows the last line of $1 in place of the one before; progress bars end theirs by \r
  printf '\r\033[K%s' "$(tail -c 400 "$1" | tr '\r' '\n' | grep -a . | tail -n 1 | cut -c1-150)" >&2
}

get() { # the body of GET $2 at port $1
  { exec 3<>"/dev/tcp/127.0.0.1/$1"; } 2>/dev/null || return 0
  printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$2" >&3
  cat <&3
  exec 3>&-
}

unapplied() { # records of the log that the indexer at port $1 has not applied, nothing if it does not say
  get "$1" /metrics | awk '/^kvindex_kafka_lag\{/ { n++; sum += $2 } END { if (n) printf "%d", sum }'
}

if [ "$load" = replay ]; then # --operations N --resident N --tables N --partitions N
  machine
  kafka=127.0.0.1:$(free_port)
  background broker broker --port "${kafka#*:}" --data-dir "$data/broker"
  port=$(free_port)
  background index index --kafka "$kafka" --event-partitions 4 --http-port "$port" --data-dir "$data/index"
  live=$ready
  java -Xmx512m -cp "$jar" io.kvindex.benchmarks.EventTopic "$kafka" "$@"
  for _ in 1 2; do # who was ready stays so while it catches up, and what is to be applied is counted now and then
    while behind=$(unapplied "$port") && [ "$behind" != 0 ]; do
      kill -0 "${servers[1]}" 2>/dev/null || { tail -n 30 "$data/index.log" >&2; exit 1; }
      printf '\r\033[Kthe running index: %s records to apply' "$behind" >&2
      sleep 1
    done
    sleep 2
  done
  echo >&2
  background replay replay --kafka "$kafka" --from beginning --data-dir "$data/rebuild"
  grep -a "block operations in" "$data/replay.log" | tail -n 1
  "$home/kvindex" diff "$live" "$ready" --wait 120
  exit
fi

cpu() { # processor time of process $1 so far, seconds
  awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); printf "%.1f", ($12 + $13) / hz }' "/proc/$1/stat"
}

seconds() { # $1 microseconds, as seconds
  awk -v us="$1" 'BEGIN { printf "%.1f", us / 1e6 }'
}

end() { # stops server number $1 in order, unless it was killed, and waits for it
  kill -TERM "${servers[$1]}" 2>/dev/null || true
  wait "${servers[$1]}" 2>/dev/null || true
}

memory() { # of process $1: what it takes now and the most it took
  awk '/^VmRSS/ { now = $2 } /^VmHWM/ { most = $2 } END { printf "%d MB resident, %d MB at most", now / 1024, most / 1024 }' "/proc/$1/status"
}

await_rest() { # waits until process $1 takes less than a tenth of a processor, three minutes at most
  local before now
  for _ in $(seq 90); do
    before=$(cpu "$1")
    sleep 2
    now=$(cpu "$1")
    ! awk -v before="$before" -v now="$now" 'BEGIN { exit !(now - before < 0.2) }' || return 0
  done
}

if [ "$load" = restart ]; then # [BLOCKS] --tables N --partitions N: an indexer until GET /ready says 200
  machine
  java_options="-Xmx3g $java_options"
  blocks=10000000
  if [[ "${1:-}" =~ ^[0-9]+$ ]]; then
    blocks=$(($1 / 16 * 16)) # EventTopic writes runs of 16
    shift
  fi
  case "$*" in *--operations* | *--resident*) echo "restart takes the number of blocks as its first argument" >&2 && exit 2 ;; esac
  kafka=127.0.0.1:$(free_port)
  java_options=-Xmx512m background broker broker --port "${kafka#*:}" --data-dir "$data/broker"
  port=$(free_port)
  index=(index --kafka "$kafka" --event-partitions 4 --http-port "$port" --data-dir "$data/index")
  held() { get "$port" /metrics | awk '/^kvindex_blocks / { printf "%d", $2 }'; }
  background index "${index[@]}"
  java -Xmx512m -cp "$jar" io.kvindex.benchmarks.EventTopic "$kafka" --operations "$blocks" --resident "$blocks" "$@"
  until [ "$(held)" = "$blocks" ]; do
    kill -0 "${servers[1]}" 2>/dev/null || { tail -n 30 "$data/index.log" >&2; exit 1; }
    printf '\r\033[Kthe index has %s of %s blocks' "$(held)" "$blocks" >&2
    sleep 1
  done
  printf '\r\033[K' >&2
  echo "filled: $(held) blocks, $(memory "${servers[1]}")"
  for start in killed warm warm-again borrowed log; do
    [ "$start" != killed ] || kill -KILL "${servers[1]}"
    if [ "$start" = borrowed ]; then # a second one on an empty directory, beside the first
      port=$(free_port)
      index=(index --kafka "$kafka" --event-partitions 4 --http-port "$port" --data-dir "$data/second")
      at=2
    else
      [ "$start" != log ] || end 2 # nobody is left to lend
      end 1
      [ "$start" != log ] || rm -rf "$data/second"
      servers=("${servers[0]}")
      at=1
    fi
    await_rest "${servers[0]}"
    began=${EPOCHREALTIME/[.,]/}
    background "$start" "${index[@]}"
    until answers "$port"; do
      kill -0 "${servers[$at]}" 2>/dev/null || { tail -n 30 "$data/$start.log" >&2; exit 1; }
      printf '\r\033[K%s: %s' "$start" "$(why "$port")" >&2
      sleep 0.1
    done
    ended=${EPOCHREALTIME/[.,]/}
    printf '\r\033[K' >&2
    echo "${start/-/ } start: ready after $(seconds $((ended - began))) s, $(cpu "${servers[$at]}") s of processor time," \
      "$(held) blocks, $(memory "${servers[$at]}")"
  done
  exit
fi

if [ "$load" = starts ]; then # what it takes until each kind of process is ready, without the archive of classes and with it
  machine
  "$home/deploy/class-archive.sh"
  java_options+=" -XX:TieredStopAtLevel=1"
  for round in 1 2 3; do
    for archive in no yes; do
      export KVINDEX_CLASS_ARCHIVE=$archive
      kafka=127.0.0.1:$(free_port)
      at=$data/$round$archive
      mkdir -p "$at"
      line=
      for kind in broker bridge index; do
        case $kind in
          broker) flags=(--port "${kafka#*:}" --data-dir "$at") ;;
          bridge) flags=(--kafka "$kafka" --http-port 0) ;;
          index) flags=(--kafka "$kafka" --http-port 0 --data-dir "$at") ;;
        esac
        background "$kind$round$archive" "$kind" "${flags[@]}"
        line+=" $kind $(cpu "${servers[-1]}") s"
      done
      echo "round $round, archive $archive: processor time until ready:$line"
      while [ ${#servers[@]} -gt 0 ]; do
        kill -KILL "${servers[-1]}"
        wait "${servers[-1]}" 2>/dev/null || true
        unset 'servers[-1]'
      done
    done
  done
  exit
fi

start_cluster() { # the eight processes of deploy/local-cluster.sh; $pids are the files with their process ids
  cluster=("$home/deploy/local-cluster.sh")
  export KVINDEX_CLUSTER_DIR=$data/cluster
  trap '"${cluster[@]}" stop >/dev/null; stop' EXIT
  "${cluster[@]}" start "$@" >/dev/null
  pids=("$data"/cluster/pid/*[0-9])
}

if [ "$load" = cluster ]; then # what three brokers, two bridges and three copies keep up with, then half of it
  [ -z "${PROFILE:-}" ] || { echo "PROFILE= is for one process; set KVINDEX_JAVA_OPTS with %p in the name of the file" >&2 && exit 2; }
  machine
  export KVINDEX_TRACE_ONE_IN=${KVINDEX_TRACE_ONE_IN:-10}
  KVINDEX_JAVA_OPTS="-XX:TieredStopAtLevel=4 $java_options" start_cluster
  site=
  for pid in "${pids[@]}"; do site+=",${pid##*/}=$(cat "$pid")"; done
  java -Xms256m -Xmx1g -XX:+UseSerialGC -cp "$jar" io.kvindex.benchmarks.load.IngestLoad --port 21031 \
    --pid "$(cat "$data/cluster/pid/index-1")" --site "${site#,}" --seconds 300 --beside -1 "$@"
  exit
fi

if [ "$load" = idle ]; then # --publishers N --settle S --seconds S: points of a core while nothing happens
  machine
  background broker broker --port "$(free_port)" --data-dir "$data/broker"
  port=$(free_port)
  start server "$port" "$java_options"
  java -Xmx256m -XX:+UseSerialGC -cp "$jar" io.kvindex.benchmarks.load.IdleLoad --port "$port" \
    --names broker,all --pids "${servers[0]},${servers[1]}" "$@"
  end 1
  end 0
  start_cluster
  java -Xmx256m -XX:+UseSerialGC -cp "$jar" io.kvindex.benchmarks.load.IdleLoad --port 21031 \
    --names "$(printf '%s\n' "${pids[@]##*/}" | paste -sd,)" --pids "$(cat "${pids[@]}" | paste -sd,)" "$@"
  for one in bridge-1 bridge-2 index-1 index-2 index-3; do "${cluster[@]}" kill "$one" >/dev/null; done
  sleep 60
  before=()
  for one in 1 2 3; do before+=("$(cpu "$(cat "$data/cluster/pid/broker-$one")")"); done
  sleep 60
  for one in 1 2 3; do
    awk -v a="${before[$((one - 1))]}" -v b="$(cpu "$(cat "$data/cluster/pid/broker-$one")")" -v n="$one" \
      'BEGIN { printf "broker-%d alone %.2f points of a core over 60 s\n", n, (b - a) / 0.6 }'
  done
  exit
fi

port=$(free_port)
if [ "$load" = forward ]; then
  holder=$(free_port)
  start_index_only holder "$holder"
  start_index_only server "$port" --holder "127.0.0.1:$holder"
  server=${servers[1]}
else
  [ "$load" != ingest ] || export KVINDEX_TRACE_ONE_IN=${KVINDEX_TRACE_ONE_IN:-10} # enough of them for quantiles
  start server "$port" "$java_options"
  server=${servers[0]}
fi

run() { java -Xms512m -Xmx2g -XX:+UseSerialGC -cp "$jar" "io.kvindex.benchmarks.load.$1" --port "$port" --pid "$server" "${@:2}"; }
machine
status=0
case $load in
  query-small) run QueryLoad --tokens 512 --churn 0 --warm-up 20 --seconds 20 "$@" || status=$? ;;
  forms)
    steady=(--churn 0 --first-warm-up 60 --warm-up 15 --seconds 15)
    binary=(--form octets,msgpack-bytes --instances 1 --tail-holders 1)
    : >"$data/tables"
    for args in "--tokens 512 --instances 1 --tail-holders 1 --form all" "--tokens 512 --form all" \
      "--tokens 4096 ${binary[*]}" "--tokens 32768 --stems 16 ${binary[*]}"; do
      # shellcheck disable=SC2086 # words of their own
      run QueryLoad "${steady[@]}" $args "$@" | tee "$data/out" || status=$?
      sed -n '/^[0-9]* tokens, /,$p' "$data/out" >>"$data/tables"
      echo >>"$data/tables"
    done
    echo
    cat "$data/tables"
    ;;
  query-4k) run QueryLoad --tokens 4096 --stems 32 "$@" || status=$? ;;
  query-32k) run QueryLoad --tokens 32768 --stems 16 "$@" || status=$? ;;
  query-churn) run QueryLoad --tokens 4096 --stems 32 --connections 4 --churn 20000 "$@" || status=$? ;;
  ingest) run IngestLoad "$@" || status=$? ;;
  remove) run RemoveLoad "$@" || status=$? ;;
  fence) run FenceLoad "$@" || status=$? ;;
  forward) # the same prompts asked of who has them and of who has to ask, in turn
    alone=(--publish 0 --connections 1 --warm-up 20 --seconds 15 "${forward[@]}")
    relayed=$port
    for round in 1 2; do
      for port in "$holder" "$relayed"; do
        server=${servers[$([ "$port" = "$holder" ] && echo 0 || echo 1)]}
        echo "round $round, $([ "$port" = "$holder" ] && echo local || echo forwarded):"
        run QueryLoad "${alone[@]}" "$@" || status=$?
      done
    done
    ;;
  dump)
    fresh_port=$(free_port)
    start fresh "$fresh_port" "${KVINDEX_JAVA_OPTS:-}"
    run DumpLoad --fresh-port "$fresh_port" "$@" || status=$?
    ;;
esac
if [ "$status" -ne 0 ]; then
  echo "the load failed; the server's last lines:" >&2
  tail -n 30 "$data/server.log" >&2
fi
exit "$status"
