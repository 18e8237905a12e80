// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** The least that classes of a drill need. */
final class Drills {

  static final int RUN = 7;

  private static final ObjectMapper JSON = new ObjectMapper();

  private Drills() {}

  /** A drill of kills with all promises. */
  static DrillOptions options() {
    return options(Path.of("s"), Path.of("d"), false, false, 0);
  }

  static DrillOptions options(
      Path script, Path directory, boolean tuned, boolean untimed, int outageSeconds) {
    return new DrillOptions(
        script,
        directory,
        1,
        Set.of(),
        1,
        new DrillOptions.Load(10, 10, 1, 10, 1_024, 10),
        1,
        tuned,
        untimed,
        false,
        outageSeconds,
        null,
        false);
  }

  /** One engine in one table; nothing goes on before it is started. */
  static DrillLoad load(List<RouterReplica> replicas, Tallies tallies) {
    return new DrillLoad(options(), 1, replicas, tallies);
  }

  /** An engine that holds nothing; the caller closes it. */
  static DrillEngine engine(String name) {
    return engine(name, 1_024);
  }

  static DrillEngine engine(String name, int blocks) {
    return new DrillEngine(name, 0, RUN, blocks, 10, 1);
  }

  static Table table(DrillEngine... engines) {
    return new Table(0, "drill-0", List.of(engines));
  }

  static Text text(Text.Kind kind, int number) {
    return new Text(kind, RUN, 0, number);
  }

  /** What an engine answers that holds so many blocks. */
  static ObjectNode row(int blocks) {
    int tokens = blocks * Text.BLOCK;
    return JSON.createObjectNode().put("longest_matched", tokens).put("GPU", tokens);
  }

  /** Rows of an answer for one engine. */
  static JsonNode rows(String engine, int blocks) {
    return JSON.createObjectNode().set(engine, row(blocks));
  }

  static long ms(long ms) {
    return TimeUnit.MILLISECONDS.toNanos(ms);
  }

  /** So many queries, all as promised, of so many milliseconds each. */
  static Tally good(int queries, long eachMs) {
    Tally tally = new Tally();
    for (int i = 0; i < queries; i++) {
      tally.queries.incrementAndGet();
      tally.latencies.add(ms(eachMs));
    }
    return tally;
  }
}
