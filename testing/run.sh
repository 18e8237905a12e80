#!/usr/bin/env bash
# Breaks kvindex on purpose and judges what it answers meanwhile.
# usage: testing/run.sh chaos | drill   [options]; --help of each tells them. The drill is started by deploy/drill.sh.
set -euo pipefail

home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=$home/launcher/target/kvindex.jar
jar=$home/testing/target/kvindex-testing.jar

# shellcheck source=deploy/java.sh
source "$home/deploy/java.sh"
java=$(find_java)

stale() {
  [ ! -f "$jar" ] || [ -n "$(cd "$home" && find pom.xml ./*/pom.xml ./*/src/main launcher/src/test -type f -newer "$jar" -print -quit)" ]
}

"$home/kvindex" build # processes that run go on with the program they were started from
if stale; then
  echo "testing: building ..." >&2
  (cd "$home" && JAVA_HOME=${java%/bin/java} mvn -B -q -DskipTests -Dspotless.check.skip=true -pl testing -am package)
  touch "$jar"
fi

java_options "$java"
# shellcheck disable=SC2086  # several options in one variable are meant to be split
exec "$java" "${java_options[@]}" ${KVINDEX_JAVA_OPTS:-} -Dkvindex.child.jar="$program" \
  -cp "$jar:${program%.jar}-tests.jar:$program" io.kvindex.testing.Main "$@"
