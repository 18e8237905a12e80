// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.launcher.rewind.Comparison;
import io.kvindex.launcher.rewind.Replica;
import io.kvindex.launcher.rewind.Replica.Part;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Compares everything while nobody publishes: what each replica holds by its digests with the
 * others, and all answers and numbers of blocks with the engines. For one thread.
 */
final class RoundCheck {

  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final long WITHIN_MS = 90_000;
  private static final int BATCH = 100;

  /** Problems named of a round. */
  private static final int MOST = 20;

  private final DrillLoad load;
  private final Set<String> degraded;
  private final TruthCheck exactly = new TruthCheck(0);
  private final List<Replica> tables;

  /**
   * @param degraded engines whose blocks nobody promises: only that all replicas say the same
   */
  RoundCheck(DrillLoad load, Set<String> degraded) {
    this.load = load;
    this.degraded = degraded;
    this.tables = load.replicas().stream().map(one -> Replica.at(one.uri().toString())).toList();
  }

  /**
   * What was found.
   *
   * @param round from 1
   * @param owners whose digests were compared, each once
   * @param copies replicas that hold a partition, the fewest
   * @param blocks the engines hold that are not degraded
   * @param rows compared with the engines
   * @param problems what was wrong, empty = nothing
   */
  record Result(int round, int owners, int copies, long blocks, long rows, List<String> problems) {}

  /** Holds the load meanwhile. */
  Result run(int round) throws IOException, InterruptedException {
    load.hold();
    try {
      return check(round);
    } finally {
      load.release();
    }
  }

  private Result check(int round) throws IOException, InterruptedException {
    List<String> problems = new ArrayList<>();
    load.engines().forEach(DrillEngine::check);
    if (!Patience.await(load, WITHIN_MS, () -> missing() == null)) {
      problems.add("not all that was sent is visible: " + missing());
    }
    // The last look is the one that counts: one may be a record behind.
    Looks[] last = {new Looks(List.of(), "not looked at")};
    if (!Patience.await(load, WITHIN_MS, () -> (last[0] = look()).difference() == null)) {
      problems.add("digests differ: " + last[0].difference());
    }
    long rows = 0;
    for (RouterReplica replica : load.replicas()) {
      try {
        rows += compare(replica, problems);
      } catch (IOException e) {
        problems.add(replica.name() + " did not answer: " + e);
      }
    }
    Map<Integer, Part> parts = last[0].all();
    return new Result(
        round,
        parts.values().stream().mapToInt(part -> part.owners().size()).sum(),
        last[0].copies(),
        exact(load.engines()).stream().mapToLong(DrillEngine::blocks).sum(),
        rows,
        problems);
  }

  /** Whose last event a replica does not show; null = nobody's. */
  @Nullable String missing() throws InterruptedException {
    for (RouterReplica replica : load.replicas()) {
      try {
        Map<String, Long> visible = new SiteApi(replica.uri(), TIMEOUT).visible();
        for (DrillEngine engine : load.engines()) {
          long shown = visible.getOrDefault(engine.name(), -1L);
          if (shown != engine.lastSequence()) {
            return replica.name()
                + " shows event "
                + shown
                + " of "
                + engine.name()
                + ", it sent "
                + engine.lastSequence();
          }
        }
      } catch (IOException e) {
        return e.toString();
      }
    }
    return null;
  }

  /**
   * One look at all replicas.
   *
   * @param difference what is not as it has to be, null = nothing
   */
  private record Looks(List<Map<Integer, Part>> byReplica, @Nullable String difference) {

    /** Each partition once. */
    Map<Integer, Part> all() {
      Map<Integer, Part> all = new TreeMap<>();
      byReplica.forEach(all::putAll);
      return all;
    }

    int copies() {
      return all().keySet().stream()
          .mapToInt(one -> (int) byReplica.stream().filter(parts -> parts.containsKey(one)).count())
          .min()
          .orElse(0);
    }
  }

  private Looks look() throws InterruptedException {
    List<Map<Integer, Part>> all = new ArrayList<>();
    try {
      for (Replica replica : tables) {
        Map<Integer, Part> parts = replica.digests(Map.of());
        // What is left for a minute of a partition that went elsewhere: its rows are closed, and
        // whoever has them now is counted.
        parts.values().removeIf(part -> part.error() != null);
        all.add(parts);
      }
    } catch (IOException e) {
      return new Looks(all, e.toString());
    }
    return new Looks(all, difference(all));
  }

  /** Partitions that can not be compared or differ, and in which owners. */
  private static String problems(Comparison both) {
    StringJoiner all = new StringJoiner("; ");
    both.both()
        .forEach(
            (partition, pair) -> {
              if (pair.problem() != null) {
                all.add("partition " + partition + ": " + pair.problem());
              } else if (!pair.isSame()) {
                all.add(
                    "partition "
                        + partition
                        + (pair.sameStreams() ? "" : ", positions or gaps of streams")
                        + ", owners "
                        + pair.differing().stream().map(pair::owner).toList());
              }
            });
    return all.toString();
  }

  private @Nullable String difference(List<Map<Integer, Part>> all) {
    for (int a = 0; a < all.size(); a++) {
      for (int b = a + 1; b < all.size(); b++) {
        Comparison both = Comparison.of(all.get(a), all.get(b), false);
        if (!both.both().isEmpty() && !both.isSame()) {
          return load.replicas().get(a).name()
              + " and "
              + load.replicas().get(b).name()
              + ": "
              + problems(both);
        }
      }
    }
    Looks looks = new Looks(all, null);
    int least = Math.min(2, all.size());
    if (looks.copies() < least) {
      return "a partition is held by " + looks.copies() + " replicas, it should be " + least;
    }
    Map<String, Long> counted = new TreeMap<>();
    for (Part part : looks.all().values()) {
      for (JsonNode owner : part.owners().values()) {
        counted.merge(owner.path("instance_id").asText(), owner.path("blocks").asLong(), Long::sum);
      }
    }
    for (DrillEngine engine : exact(load.engines())) {
      long blocks = counted.getOrDefault(engine.name(), 0L);
      if (blocks != engine.blocks()) {
        return engine.name() + " holds " + engine.blocks() + " blocks, the tables say " + blocks;
      }
    }
    return null;
  }

  private long compare(RouterReplica replica, List<String> problems)
      throws IOException, InterruptedException {
    SiteApi api = new SiteApi(replica.uri(), TIMEOUT);
    long rows = 0;
    for (Table table : load.tables()) {
      List<Question> questions = Questions.all(table);
      for (int i = 0; i < questions.size(); i += BATCH) {
        List<Question> some = questions.subList(i, Math.min(questions.size(), i + BATCH));
        List<JsonNode> answers = api.queries(some);
        for (int k = 0; k < some.size(); k++) {
          rows += compare(replica, some.get(k), answers.get(k), problems);
        }
      }
    }
    return rows;
  }

  private int compare(
      RouterReplica replica, Question question, JsonNode answer, List<String> problems) {
    JsonNode rows = answer.path("body").path(Table.TENANT);
    long now = System.nanoTime();
    List<DrillEngine> engines = exact(question.table().engines());
    for (DrillEngine engine : engines) {
      Held held = engine.held(question.text());
      JsonNode row = rows.path(engine.name());
      if (exactly.judge(held, row, now, now) != TruthCheck.Verdict.RIGHT
          && problems.size() < MOST) {
        problems.add(
            replica.name()
                + " answers "
                + answer.path("status")
                + " "
                + row
                + " for "
                + engine.name()
                + ", "
                + question.text()
                + ", which holds "
                + (held == null ? 0 : held.now())
                + " blocks");
      }
    }
    return engines.size();
  }

  private List<DrillEngine> exact(List<DrillEngine> engines) {
    return engines.stream().filter(engine -> !degraded.contains(engine.name())).toList();
  }
}
