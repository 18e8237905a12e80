#!/usr/bin/env bash
# kvindex with curl: register an engine, then ask what of a prompt it has cached, in every form there is.
# What to use is in the environment; see README.md beside this directory.
set -euo pipefail

KVINDEX=${KVINDEX:-http://127.0.0.1:13333}
INSTANCE=${INSTANCE:-vllm-1} MODEL=${MODEL:-m} BLOCK_SIZE=${BLOCK_SIZE:-16}
ENDPOINT=${ENDPOINT:-tcp://127.0.0.1:5557} REPLAY_ENDPOINT=${REPLAY_ENDPOINT:-tcp://127.0.0.1:5558}
TOKENS=${TOKENS:-$(seq -s, 1 64)} # token ids, comma-separated
HASHES=${HASHES:-}                # rolling hashes of its blocks, comma-separated
EVENT=${EVENT:-0}                 # number of the engine's batch that must be visible

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# call PATH [CURL OPTION...]: leaves the answer in $status, $tmp/headers and $tmp/body. Status 000 = none in time.
call() {
  local path=$1
  shift
  : >"$tmp/headers" >"$tmp/body"
  status=$(curl -sS --max-time 5 -D "$tmp/headers" -o "$tmp/body" -w '%{http_code}' "$@" "$KVINDEX$path") || status=000
}

# The same for what must be done in the end: 429 and 503 say in Retry-After when to come back.
call_until_done() {
  local attempt
  for attempt in 1 2 3 4 5 6 7 8 9 10; do
    call "$@"
    case $status in
      429 | 503) sleep "$(header Retry-After)" ;;
      *) return ;;
    esac
  done
}

header() { grep -i "^$1:" "$tmp/headers" | cut -d: -f2- | tr -d ' \r'; }

# With jq: jq -r ".$1"
member() { grep -o "\"$1\":\"[^\"]*\"" "$tmp/body" | head -1 | cut -d'"' -f4; }

# A router does not wait and does not ask twice: any other answer than 200 means "route by load".
show() {
  if [ "$status" != 200 ]; then
    echo "$1: $status $(member reason || echo no answer): route by load"
    return
  fi
  # With jq: jq -r '.[] | to_entries[] | "\(.key)=\(.value.longest_matched)"'
  local rows
  rows=$(grep -o '"[^"]*":{"longest_matched":[0-9]*' "$tmp/body" | sed 's/"\(.*\)":{.*:/\1=/' | tr '\n' ' ' || true)
  # Instances named in X-KvIndex-Degraded have lost events: better not trust their numbers. "stale": nobody's.
  echo "$1: $(header X-KvIndex-State) lag_ms=$(header X-KvIndex-Lag-Ms) degraded=$(header X-KvIndex-Degraded || echo -) ${rows% }"
}

le32() { # token ids as little-endian u32
  local t
  for t in ${1//,/ }; do
    printf '%b' "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $((t & 255)) $((t >> 8 & 255)) $((t >> 16 & 255)) $((t >> 24 & 255)))"
  done
}

call_until_done /register -d "{\"type\":\"vLLM\",\"instance_id\":\"$INSTANCE\",\"modelname\":\"$MODEL\",\"block_size\":$BLOCK_SIZE,
  \"endpoint\":\"$ENDPOINT\",\"replay_endpoint\":\"$REPLAY_ENDPOINT\"}"
[ "$status" = 200 ] || { echo "register: $status $(member reason)" >&2 && exit 1; }
echo "register: $(member status)"

# Long prompts do not fit on a command line: bodies go through a file (or stdin: @-).
context="\"model\":\"$MODEL\",\"block_size\":$BLOCK_SIZE,\"instance_id\":\"$INSTANCE\""
echo "{$context,\"token_ids\":[$TOKENS],\"min_event\":{\"instance_id\":\"$INSTANCE\",\"event_id\":$EVENT}}" >"$tmp/own"
call_until_done /query --data-binary "@$tmp/own"
show "own write"

echo "{$context,\"token_ids\":[$TOKENS]}" >"$tmp/query"
call /query -H 'X-KvIndex-Deadline-Ms: 2000' --data-binary "@$tmp/query"
show query

le32 "$TOKENS" >"$tmp/octets"
call "/query?model=$MODEL&block_size=$BLOCK_SIZE&instance_id=$INSTANCE" \
  -H 'Content-Type: application/octet-stream' -H 'X-KvIndex-Deadline-Ms: 2000' --data-binary "@$tmp/octets"
show octets

if [ -n "$HASHES" ]; then
  call /query_by_hash -H 'X-KvIndex-Deadline-Ms: 2000' -d "{$context,\"seq_hashes\":[$HASHES]}"
  show hashes
fi

call /query -H 'X-KvIndex-Deadline-Ms: 0' --data-binary "@$tmp/query" # nobody is that quick
show late
