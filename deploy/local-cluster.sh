#!/usr/bin/env bash
# A whole site on one machine, each process a plain JVM: see --help.
set -euo pipefail

home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=deploy/java.sh
source "$home/deploy/java.sh"

usage() {
  cat <<'TEXT'
usage: deploy/local-cluster.sh COMMAND [OPTIONS]

Three Kafka brokers, two bridges and three indexers on the loopback address, as they would run on eight machines:
topics with three copies, and three copies of the tables, one in each indexer. For trying what happens when a process
dies.

  start            starts what is not running, waits until all of it is ready
  stop             stops everything in order; the data stays
  status           what runs, whether it is ready, where it listens, how much memory it takes
  kill NAME        kill -9: nothing is flushed, nobody is told
  pause NAME       SIGSTOP: it stands still and its connections stay; resume NAME lets it go on
  restart NAME     stops it in order if it runs, starts it, waits until it is ready
  logs [NAME]      follows the log of one, or of all
  commands         the command line of each process, without starting anything

NAME is broker-1..3, bridge-1..2, index-1..3, or several of them with commas between.

options, remembered in the directory by start:
  --dir DIR           data, logs and process ids (default: $KVINDEX_CLUSTER_DIR, else ./kvindex-data/cluster)
  --base-port N       first port (default 21000): brokers N+1.., their controllers N+11.., bridges N+21.., indexers N+31..
  --brokers, --bridges, --indexers N     how many of each (default 3, 2, 3)
  --partitions N      partitions of the events topic (default 6)
  --broker-args, --bridge-args, --index-args ARGS     more flags for each of a kind, e.g. --index-args '--max-lag 1000'
  --foreground        start only: stays, and stops everything at Ctrl-C
  --seconds N         how long start and restart wait for one to be ready (default 120)

heaps: BROKER_HEAP (256m), BRIDGE_HEAP (192m), INDEX_HEAP (768m), in the environment of start and restart. With nothing to
do, eight JVMs take 2.2 GB; more flags for all of them: KVINDEX_JAVA_OPTS. They are compiled for quick starts; for loads
of minutes: KVINDEX_JAVA_OPTS=-XX:TieredStopAtLevel=4. As they share the processors, bridges wait 20 ms for more to send
(--bridge-args '--kafka-property producer.linger.ms=0' does not).

try:
  deploy/local-cluster.sh start
  ./kvindex register --server http://127.0.0.1:21031 --instance vllm-1 --model llama --block-size 16 \
    --endpoint tcp://127.0.0.1:5557 --replay-endpoint tcp://127.0.0.1:5558
  deploy/local-cluster.sh kill broker-1,index-1
  curl -s 127.0.0.1:21032/workers        # another indexer goes on answering
  deploy/local-cluster.sh start          # starts what is missing
  deploy/local-cluster.sh stop
TEXT
}

fail() {
  echo "local-cluster: $*" >&2
  exit 1
}

number() { # number FLAG VALUE LEAST MOST
  [[ "$2" =~ ^[0-9]{1,5}$ ]] && [ "$2" -ge "$3" ] && [ "$2" -le "$4" ] || fail "$1 must be $3..$4, got $2"
}

# ---- options: defaults, below what the directory remembers, below the command line

dir=${KVINDEX_CLUSTER_DIR:-$PWD/kvindex-data/cluster}
base_port=21000 brokers=3 bridges=2 indexers=3 partitions=6 seconds=120 foreground=
broker_args='' bridge_args='' index_args=''
remembered=(base_port brokers bridges indexers partitions broker_args bridge_args index_args)

command=${1:-}
[ $# -eq 0 ] || shift
name=
given=()
while [ $# -gt 0 ]; do
  case "$1" in
    -h | --help) command=--help ;;
    --foreground) foreground=yes ;;
    --dir | --base-port | --brokers | --bridges | --indexers | --partitions | --broker-args | --bridge-args | --index-args | --seconds)
      [ $# -gt 1 ] || fail "$1 needs a value"
      given+=("$1" "$2")
      [ "$1" != --dir ] || dir=$2
      shift
      ;;
    -*) fail "no option $1; see deploy/local-cluster.sh --help" ;;
    *) [ -z "$name" ] || fail "one NAME only, or several with commas between: $1"; name=$1 ;;
  esac
  shift
done
case "$dir" in /*) ;; *) dir=$PWD/$dir ;; esac
settings=$dir/settings

if [ -f "$settings" ]; then
  # shellcheck source=/dev/null
  source "$settings"
fi
for ((i = 0; i < ${#given[@]}; i += 2)); do
  flag=${given[i]} value=${given[i + 1]}
  case "$flag" in
    --base-port) number "$flag" "$value" 1024 65000; base_port=$value ;;
    --brokers) number "$flag" "$value" 1 9; brokers=$value ;;
    --bridges) number "$flag" "$value" 1 9; bridges=$value ;;
    --indexers) number "$flag" "$value" 1 9; indexers=$value ;;
    --partitions) number "$flag" "$value" 1 1000; partitions=$value ;;
    --seconds) number "$flag" "$value" 1 99999; seconds=$value ;;
    --broker-args) broker_args=$value ;;
    --bridge-args) bridge_args=$value ;;
    --index-args) index_args=$value ;;
  esac
done

# ---- what there is

names() { # all processes in the order of their start
  local i
  for ((i = 1; i <= brokers; i++)); do echo "broker-$i"; done
  for ((i = 1; i <= bridges; i++)); do echo "bridge-$i"; done
  for ((i = 1; i <= indexers; i++)); do echo "index-$i"; done
}

chosen() { # the processes NAME names
  local one
  [ -n "$name" ] || fail "$command needs a NAME: $(names | paste -sd' ' -)"
  for one in ${name//,/ }; do
    # Not through a pipe: whoever has found it reads no further, and the writer's end would count as ours.
    grep -qx -- "$one" <<<"$(names)" || fail "no process $one; there are $(names | paste -sd' ' -)"
    echo "$one"
  done
}

port() { # port NAME: for clients
  local number=${1#*-}
  case "$1" in
    broker-*) echo $((base_port + number)) ;;
    bridge-*) echo $((base_port + 20 + number)) ;;
    index-*) echo $((base_port + 30 + number)) ;;
  esac
}

kafka() { # all brokers, for clients
  local i list=
  for ((i = 1; i <= brokers; i++)); do list+=${list:+,}127.0.0.1:$(port "broker-$i"); done
  echo "$list"
}

voters() { # all controllers, for brokers
  local i list=
  for ((i = 1; i <= brokers; i++)); do list+=${list:+,}$i@127.0.0.1:$((base_port + 10 + i)); done
  echo "$list"
}

unless_given() { # unless_given ARGS FLAG NAME=VALUE: the arguments, with that setting if they have none of the name
  if [[ "$1" == *"${3%%=*}="* ]]; then echo "$1"; else echo "$1 $2 $3"; fi
}

arguments() { # arguments NAME: its command line behind "kvindex", in the array arguments
  local copies=$((brokers < 3 ? brokers : 3)) more
  case "$1" in
    broker-*)
      arguments=(broker --node-id "${1#*-}" --voters "$(voters)" --port "$(port "$1")" --data-dir "$dir/$1")
      more=$broker_args
      ;;
    bridge-*)
      arguments=(bridge --kafka "$(kafka)" --event-partitions "$partitions" --replication "$copies" --http-port "$(port "$1")")
      # Who sends its records a little later sends fewer requests, and all eight share the processors.
      more=$(unless_given "$bridge_args" --kafka-property producer.linger.ms=20)
      ;;
    index-*)
      arguments=(index --copy "$1" --kafka "$(kafka)" --event-partitions "$partitions" --replication "$copies" --http-port "$(port "$1")"
        --data-dir "$dir/$1")
      more=$index_args
      ;;
  esac
  # shellcheck disable=SC2206  # several flags in one variable are meant to be split
  arguments+=($more)
}

heap() {
  case "$1" in
    broker-*) echo "${BROKER_HEAP:-256m}" ;;
    bridge-*) echo "${BRIDGE_HEAP:-192m}" ;;
    index-*) echo "${INDEX_HEAP:-768m}" ;;
  esac
}

# ---- one process

pid() { # prints the process id if it runs; a number that another program has by now does not count
  local id
  id=$(cat "$dir/pid/$1" 2>/dev/null) && [ -n "$id" ] || return 1
  grep -qF -- "-Dkvindex.process=$dir/$1 " <<<"$(ps -ww -o args= -p "$id" 2>/dev/null)" || return 1
  echo "$id"
}

starts() { # how often it has said that it is ready
  cat "$dir/log/$1.log" 2>/dev/null | grep -cF 'ready at' || true
}

is_ready() {
  case "$1" in
    broker-*) [ "$(starts "$1")" -gt "$(cat "$dir/pid/$1.starts")" ] ;;
    *) "$home/deploy/probe.sh" "$(port "$1")" /ready ;;
  esac
}

way() { # prints how far one gives way to the others on a full machine
  # Brokers give way to what they serve: they then get fewer and larger requests, where they would otherwise take the
  # processors from the indexers with many small ones. On machines of their own they have no rival.
  case "$1" in broker-*) echo 6 ;; *) echo 0 ;; esac
}

# What starts takes a core for seconds: until it is ready it gives way to those that serve, where this user may end that.
starting=0
[ -n "$(nice -n -1 true 2>&1)" ] || starting=6

at_pace() { # of one that is ready, which no longer gives way
  local id
  [ "$starting" -gt 0 ] && id=$(pid "$1") || return 0
  # Linux keeps it by thread; those that begin meanwhile have it from the one that began them.
  for _ in 1 2; do
    # shellcheck disable=SC2046
    renice -n "$(way "$1")" -p $(ls "/proc/$id/task" 2>/dev/null || echo "$id") >/dev/null 2>&1 || true
  done
}

launch() { # starts one and returns at once
  arguments "$1"
  mkdir -p "$dir/log" "$dir/pid" "$dir/$1"
  starts "$1" >"$dir/pid/$1.starts"
  # Nobody's home is read: what is registered in the user's file belongs to another site.
  CONDUCTOR_CONFIG_PATH=$dir/conductor_config.json nohup nice -n $(($(way "$1") + starting)) "$java" "${java_options[@]}" "-Xmx$(heap "$1")" \
    "-Dkvindex.process=$dir/$1" ${KVINDEX_JAVA_OPTS:-} -jar "$jar" "${arguments[@]}" \
    >>"$dir/log/$1.log" 2>&1 </dev/null &
  echo $! >"$dir/pid/$1"
}

await() { # await NAMES...: until each is ready, telling when; shows the log of one that is not
  local waiting=("$@") left one began=$SECONDS
  while [ ${#waiting[@]} -gt 0 ]; do
    left=()
    for one in "${waiting[@]}"; do
      if is_ready "$one"; then
        at_pace "$one"
        tell "$(printf '  %-9s ready after %2d s   127.0.0.1:%s' "$one" $((SECONDS - began)) "$(port "$one")")"
      elif ! pid "$one" >/dev/null; then
        refuse "$one" "has ended"
      elif [ $((SECONDS - began)) -ge "$seconds" ]; then
        refuse "$one" "is not ready after $seconds s"
      else
        left+=("$one")
      fi
    done
    waiting=(${left[@]+"${left[@]}"})
    if [ ${#waiting[@]} -gt 0 ]; then
      [ ! -t 1 ] || printf '\r  %3d s, waiting for %s \033[K' $((SECONDS - began)) "${waiting[*]}"
      sleep 0.3
    fi
  done
}

tell() {
  [ ! -t 1 ] || printf '\r\033[K'
  echo "$1"
}

refuse() {
  tell "local-cluster: $1 $2; its log ends with:"
  tail -n 15 "$dir/log/$1.log" >&2 || true
  fail "$1 $2; all of its log is in $dir/log/$1.log"
}

end() { # end NAMES...: SIGTERM, and SIGKILL for those that do not end
  local one id until=$((SECONDS + 40))
  for one in "$@"; do
    ! id=$(pid "$one") || kill "$id" 2>/dev/null || true
    ! id=$(pid "$one") || kill -CONT "$id" 2>/dev/null || true
  done
  for one in "$@"; do
    while pid "$one" >/dev/null && [ $SECONDS -lt $until ]; do sleep 0.1; done
    if id=$(pid "$one"); then
      echo "  $one does not end, killed"
      kill -9 "$id" 2>/dev/null || true
    fi
  done
}

# ---- the commands

prepare() { # Java and the program
  java=$(find_java)
  java_options "$java"
  # Eight JVMs that start at once, and again whenever one was killed: the second compiler would take both cores of a
  # small machine for a minute each time, and nobody looks for peak speed here.
  java_options+=(-XX:TieredStopAtLevel=1)
  jar=$home/launcher/target/kvindex.jar
  "$home/kvindex" build
  if ! belongs "$(class_archive_of "$jar")" "$jar"; then
    echo "local-cluster: preparing quick starts, once for each build ..."
    "$home/deploy/class-archive.sh" || true # it has said why, and that all of it works without
  fi
  class_archive_options "$jar"
}

remember() {
  local one
  mkdir -p "$dir"
  for one in "${remembered[@]}"; do printf '%s=%q\n' "$one" "${!one}"; done >"$settings"
}

started=()

undo() { # what this start has started
  trap - EXIT INT TERM
  [ ${#started[@]} -eq 0 ] || { echo "local-cluster: stopping what was started"; end "${started[@]}"; }
}

start_those() { # start_those NAMES...: those that do not run, all at once
  local one new=()
  for one in "$@"; do
    if ! pid "$one" >/dev/null; then
      launch "$one"
      new+=("$one")
      started+=("$one")
    fi
  done
  [ ${#new[@]} -eq 0 ] || await "${new[@]}"
}

running_brokers() {
  local one count=0
  for one in $(names | grep '^broker'); do
    if pid "$one" >/dev/null; then count=$((count + 1)); fi
  done
  echo $count
}

start() {
  prepare
  remember
  echo "local-cluster: starting in $dir"
  trap undo EXIT
  trap 'exit 130' INT TERM
  # The others wait for Kafka half a minute and give up then: brokers first, unless enough of them run.
  # shellcheck disable=SC2046
  if [ "$(running_brokers)" -le $((brokers / 2)) ]; then start_those $(names | grep '^broker'); fi
  # shellcheck disable=SC2046
  start_those $(names)
  echo "local-cluster: ready; ask any of $(for one in $(names | grep '^index'); do printf 'http://127.0.0.1:%s ' "$(port "$one")"; done)"
  if [ -n "$foreground" ]; then
    trap 'stop; exit 0' INT TERM
    while true; do sleep 3600 & wait $! || true; done
  fi
  trap - EXIT INT TERM
}

stop() {
  trap - EXIT INT TERM
  # shellcheck disable=SC2046
  end $(names | grep -v '^broker')
  # shellcheck disable=SC2046
  end $(names | grep '^broker')
  echo "local-cluster: stopped; data and logs are in $dir"
}

status() {
  local one id state all=0
  printf '%-9s %-7s %-8s %-16s %s\n' name pid state address memory
  for one in $(names); do
    if id=$(pid "$one"); then
      case "$(ps -o state= -p "$id")" in
        T*) state=paused ;;
        *) if is_ready "$one"; then state=ready; else state=starting; fi ;;
      esac
    else
      id=- state=down
    fi
    [ "$state" = ready ] || all=1
    printf '%-9s %-7s %-8s %-16s %s\n' "$one" "$id" "$state" "127.0.0.1:$(port "$one")" \
      "$([ "$id" = - ] || ps -o rss= -p "$id" | awk '{ printf "%d MB", $1 / 1024 }')"
  done
  return $all
}

signal() { # signal SIGNAL DONE
  local one id
  for one in $(chosen); do
    id=$(pid "$one") || fail "$one does not run"
    kill "-$1" "$id"
    if [ "$1" = KILL ]; then while pid "$one" >/dev/null; do sleep 0.05; done; fi
    echo "  $one (process $id) $2"
  done
}

restart() {
  local list
  list=$(chosen)
  prepare
  # shellcheck disable=SC2086
  end $list
  # shellcheck disable=SC2086
  start_those $list
}

logs() {
  local one files=()
  for one in $(if [ -n "$name" ]; then chosen; else names; fi); do files+=("$dir/log/$one.log"); done
  exec tail -n 20 -F "${files[@]}"
}

commands() {
  local one
  for one in $(names); do
    arguments "$one"
    echo "$one: kvindex ${arguments[*]}"
  done
}

case "$command" in
  start) start ;;
  stop) stop ;;
  status) status ;;
  kill) chosen >/dev/null; signal KILL "killed" ;;
  pause) chosen >/dev/null; signal STOP "stands still" ;;
  resume) chosen >/dev/null; signal CONT "goes on" ;;
  restart) restart ;;
  logs) logs ;;
  commands) commands ;;
  -h | --help | help) usage ;;
  '') usage >&2; exit 2 ;;
  *) echo "local-cluster: no command $command; see deploy/local-cluster.sh --help" >&2; exit 2 ;;
esac
