#!/usr/bin/env bash
# Writes launcher/target/kvindex.jsa: the program's classes as the JVM has them in memory once they are loaded and verified.
# With it a process starts with two thirds of the processor time. ./kvindex, deploy/local-cluster.sh and the image use it where it
# is there and belongs to the jar. Takes a short demo's time; does nothing where the archive is there.
set -euo pipefail

home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=deploy/java.sh
source "$home/deploy/java.sh"

jar=$home/launcher/target/kvindex.jar
[ -f "$jar" ] || { echo "class-archive: no $jar; ./kvindex build makes it" >&2; exit 1; }
archive=$(class_archive_of "$jar")
! belongs "$archive" "$jar" || exit 0

java=$(find_java)
java_options "$java"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# A demo loads nearly all there is. What can not be archived (classes of old bytecode, for one) is no news.
if ! KVINDEX_LOG_LEVEL=ERROR "$java" "${java_options[@]}" -XX:TieredStopAtLevel=1 -Xlog:disable -XX:ArchiveClassesAtExit="$scratch/classes" \
  -jar "$jar" demo --requests 40 --engines 2 --speed 1000 >"$scratch/log" 2>&1 || [ ! -s "$scratch/classes" ]; then
  tail -n 15 "$scratch/log" >&2
  echo "class-archive: not written; processes start without it, but slower" >&2
  exit 1
fi
# Whole or not at all: processes may start at this moment.
mv "$scratch/classes" "$archive.$$"
mv "$archive.$$" "$archive"
