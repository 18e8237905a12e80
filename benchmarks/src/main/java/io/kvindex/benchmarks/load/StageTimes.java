// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import static io.kvindex.benchmarks.load.Console.say;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** What {@code kvindex_stage_seconds} of a server was at one moment. */
final class StageTimes {
  private static final List<String> STAGES =
      List.of("decode", "produce", "acknowledge", "fetch", "queue", "fold", "visible");
  private static final Pattern SAMPLE =
      Pattern.compile(
          "^kvindex_stage_seconds_(bucket|sum)\\{stage=\"(\\w+)\"(?:,le=\"([^\"]+)\")?\\} (\\S+)$",
          Pattern.MULTILINE);

  /** Batches up to each edge, in seconds, by stage. */
  private final Map<String, NavigableMap<Double, Double>> upTo = new TreeMap<>();

  private final Map<String, Double> sums = new TreeMap<>();

  /**
   * @param metrics what {@code GET /metrics} answers
   */
  StageTimes(String metrics) {
    SAMPLE.matcher(metrics).results().forEach(this::add);
  }

  static StageTimes of(ControlClient control) throws IOException {
    return new StageTimes(control.metrics());
  }

  private void add(MatchResult sample) {
    double value = Double.parseDouble(sample.group(4));
    if (sample.group(1).equals("sum")) {
      sums.put(sample.group(2), value);
    } else {
      double edge =
          sample.group(3).equals("+Inf")
              ? Double.POSITIVE_INFINITY
              : Double.parseDouble(sample.group(3));
      upTo.computeIfAbsent(sample.group(2), stage -> new TreeMap<>()).put(edge, value);
    }
  }

  private static double at(Map<String, NavigableMap<Double, Double>> of, String stage, double to) {
    return of.getOrDefault(stage, new TreeMap<>()).getOrDefault(to, 0.0);
  }

  private double since(StageTimes before, String stage, double edge) {
    return at(upTo, stage, edge) - at(before.upTo, stage, edge);
  }

  /** Batches of a stage since then. */
  long countSince(StageTimes before, String stage) {
    return (long) since(before, stage, Double.POSITIVE_INFINITY);
  }

  /** Seconds as the buckets have it, evenly spread in each; beyond the last edge that edge. */
  double quantileSince(StageTimes before, String stage, double share) {
    double wanted = share * countSince(before, stage);
    double lower = 0;
    double below = 0;
    for (double edge : upTo.getOrDefault(stage, new TreeMap<>()).keySet()) {
      double seen = since(before, stage, edge);
      if (seen >= wanted && seen > below) {
        return Double.isInfinite(edge)
            ? lower
            : lower + (edge - lower) * (wanted - below) / (seen - below);
      }
      lower = edge;
      below = seen;
    }
    return 0;
  }

  private double meanSince(StageTimes before, String stage) {
    double sum = sums.getOrDefault(stage, 0.0) - before.sums.getOrDefault(stage, 0.0);
    return sum / countSince(before, stage);
  }

  /** Prints where the time of traced batches went since then. */
  void saySince(StageTimes before) {
    for (String stage : STAGES) {
      if (countSince(before, stage) > 0) {
        say(
            "  %-21s p50 %.3f / p99 %.3f / mean %.3f ms over %,d traced batches",
            stage,
            quantileSince(before, stage, 0.5) * 1e3,
            quantileSince(before, stage, 0.99) * 1e3,
            meanSince(before, stage) * 1e3,
            countSince(before, stage));
      }
    }
  }
}
