# The one place for the JVM: which Java and which flags. Sourced by ./kvindex (on a machine and in the image) and by
# deploy/local-cluster.sh; heaps are set by whoever starts a process (KVINDEX_JAVA_OPTS).
# shellcheck shell=bash

java_version() { # prints the feature version of a java binary, 0 if it does not run
  # Not the first line: Java tells there of options it found in the environment.
  "$1" -version 2>&1 | sed -n 's/.*version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' | grep -m1 . || echo 0
}

find_java() { # prints the first Java of at least 17 among JAVA_HOME, PATH and the usual places
  local candidate
  for candidate in "${JAVA_HOME:-/nonexistent}/bin/java" "$(command -v java || true)" /usr/lib/jvm/*/bin/java \
    /Library/Java/JavaVirtualMachines/*/Contents/Home/bin/java; do
    if [ -x "$candidate" ] && [ "$(java_version "$candidate")" -ge 17 ]; then
      echo "$candidate"
      return
    fi
  done
  echo "kvindex needs Java 17 or newer: install one (Debian: apt-get install openjdk-17-jdk) or set JAVA_HOME" >&2
  exit 1
}

java_options() { # sets the array java_options to the flags for a java binary
  local version
  version=$(java_version "$1")
  java_options=(-XX:+UseG1GC -XX:+ExitOnOutOfMemoryError)
  # A fifth of the heap at least is young: records on their way and tables that grow are garbage before anything copies
  # them. And as long as collections take less than a fifth of the time, the heap does not grow to have fewer: memory that
  # is touched for the first time costs more than they do. What a busy hour took is given back when the next needs less.
  java_options+=(-XX:+UnlockExperimentalVMOptions -XX:G1NewSizePercent=20 -XX:G1MaxNewSizePercent=40 -XX:GCTimeRatio=4)
  java_options+=(-XX:MinHeapFreeRatio=15 -XX:MaxHeapFreeRatio=30)
  # That takes a collection now and then where nothing else asks for one: 0.2 to 0.3 s of processor time in an indexer that
  # does nothing else.
  java_options+=(-XX:G1PeriodicGCInterval=300000)
  # Counters for jstat, brought up to date twenty times a second unless told otherwise.
  java_options+=(-XX:PerfDataSamplingInterval=1000)
  # The index is looked up all over the heap: with pages of 2 MB the processor finds them without walking its page tables.
  # Asked for only where the kernel gives them to who asks, because the JVM warns otherwise.
  if grep -qs '\[madvise\]\|\[always\]' /sys/kernel/mm/transparent_hugepage/enabled; then
    java_options+=(-XX:+UseTransparentHugePages)
  fi
  # Newer JDKs want native code (RocksDB) and raw memory reads (hashing) to be allowed by name.
  if [ "$version" -ge 22 ]; then java_options+=(--enable-native-access=ALL-UNNAMED); fi
  if [ "$version" -ge 23 ]; then java_options+=(--sun-misc-unsafe-memory-access=allow); fi
}

class_archive_of() { # prints where the archive of a jar's classes is, if there is one: see class-archive.sh
  echo "${1%.jar}.jsa"
}

belongs() { # belongs ARCHIVE JAR: whether the archive is there and was made of that jar
  [ -s "$1" ] && [ "$1" -nt "$2" ]
}

class_archive_options() { # adds to the array java_options what has a jar's classes taken from its archive
  local archive
  archive=$(class_archive_of "$1")
  # One of another Java is passed over, and that is no news either.
  [ "${KVINDEX_CLASS_ARCHIVE:-yes}" = no ] || ! belongs "$archive" "$1" || java_options+=("-XX:SharedArchiveFile=$archive" -Xshare:auto -Xlog:cds=off -Xlog:cds+dynamic=off)
}
