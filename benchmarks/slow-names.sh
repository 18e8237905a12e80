#!/usr/bin/env bash
# How long events of 20 engines take until /query finds them, without and with three registered engines beside them whose
# names take five seconds to look up, or ten: an IPv4 and an IPv6 address are asked for. Root only: in a mount namespace of its own,
# the machine's name server is one that never answers.
# usage: benchmarks/slow-names.sh [options of the ingest load]
set -euo pipefail
home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[ -n "${KVINDEX_SILENT_DNS:-}" ] || exec env KVINDEX_SILENT_DNS=1 unshare --mount "${BASH_SOURCE[0]}" "$@"
data=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$data"' EXIT
"$home/kvindex" build
(cd "$home" && mvn -B -q -DskipTests -pl benchmarks -am package)

cat >"$data/Silent.java" <<'JAVA'
class Silent {
  public static void main(String[] args) throws Exception {
    try (var socket = new java.net.DatagramSocket(53, java.net.InetAddress.getByName("127.0.0.1"))) {
      System.out.println("listens");
      for (;;) socket.receive(new java.net.DatagramPacket(new byte[512], 512));
    }
  }
}
JAVA
java "$data/Silent.java" >"$data/silent.log" &
until grep -q listens "$data/silent.log"; do sleep 0.1; done
printf 'nameserver 127.0.0.1\noptions timeout:5 attempts:1\n' >"$data/resolv.conf"
mount --bind "$data/resolv.conf" /etc/resolv.conf

port=$((20000 + RANDOM % 12000))
"$home/kvindex" all --http-port "$port" --data-dir "$data/kvindex" >"$data/kvindex.log" 2>&1 &
until "$home/kvindex" workers --server "http://127.0.0.1:$port" >/dev/null 2>&1; do sleep 0.5; done
load() {
  java -Xmx1g -cp "$home/benchmarks/target/benchmarks.jar" io.kvindex.benchmarks.load.IngestLoad --port "$port" \
    --publishers 20 --resident 100000 --warm-up 15 --seconds 5 --beside 0 "$@"
}
echo "== all names are known"
load "$@"
for name in one two three; do
  "$home/kvindex" register --server "http://127.0.0.1:$port" --instance "slow-$name" --model slow --block-size 16 \
    --endpoint "tcp://$name.slow.example:5557" --replay-endpoint "tcp://$name.slow.example:5558"
done
echo "== three names take $( { time -p getent hosts one.slow.example || true; } 2>&1 | sed -n 's/real //p') s each"
load "$@"
"$home/kvindex" workers --server "http://127.0.0.1:$port"
