// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.dialect;

import io.kvindex.model.Media;
import io.kvindex.model.Media.Tier;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Who holds which blocks of one prompt, and each dialect's numbers by its documents' definition,
 * block by block: no hashes, no index, no runs. Source: references 000, 002, 003; C++ Conductor.
 *
 * @param blockSize tokens per block
 * @param blocks of the prompt
 * @param ranks registered ranks by instance
 * @param pools of instances that name theirs; all pools serve the others
 * @param copies who holds what
 */
record DialectModel(
    int blockSize,
    int blocks,
    SortedMap<String, Set<Integer>> ranks,
    Map<String, Set<String>> pools,
    List<Copies> copies) {

  /** What one owner holds in one context. */
  record Copies(
      String tenant,
      Name name,
      String holder,
      int rank,
      String medium,
      boolean pool,
      Set<Integer> blocks) {}

  /** A context's names, empty = none. */
  record Name(String lora, String namespace, String salt) {}

  private boolean holds(
      String tenant, Set<Name> names, int block, java.util.function.Predicate<Copies> who) {
    return copies.stream()
        .anyMatch(
            one ->
                one.tenant().equals(tenant)
                    && names.contains(one.name())
                    && one.blocks().contains(block)
                    && who.test(one));
  }

  private boolean serves(Copies pool, String instance) {
    @Nullable Set<String> named = pools.get(instance);
    return pool.pool() && (named == null || named.contains(pool.holder()));
  }

  private boolean counts(Copies one, String instance) {
    return one.pool() ? serves(one, instance) : one.holder().equals(instance);
  }

  /** {@code {tenant: {instance: {longest_matched, GPU, DP, CPU, DISK, ...}}}}. */
  Map<String, Object> conductor(String tenant, String lora, String salt) {
    Set<Name> names =
        salt.isEmpty()
            ? Set.of(new Name(lora, "", ""))
            : Set.of(new Name(lora, salt, ""), new Name(lora, "", salt));
    Map<String, Object> rows = new TreeMap<>();
    ranks.forEach(
        (instance, registered) -> {
          int longest = 0;
          while (longest < blocks && holds(tenant, names, longest, one -> counts(one, instance))) {
            longest++;
          }
          Map<String, Object> row = new TreeMap<>(Map.of("GPU", 0, "CPU", 0, "DISK", 0));
          for (Copies one : copies) {
            String key = Media.standard().answerKey(one.medium());
            int count = 0;
            for (int block = 0; block < longest; block++) {
              count +=
                  holds(
                          tenant,
                          names,
                          block,
                          other ->
                              counts(other, instance)
                                  && Media.standard().answerKey(other.medium()).equals(key))
                      ? blockSize
                      : 0;
            }
            if (count > 0) {
              row.put(key, count);
            }
          }
          Map<String, Object> dp = new TreeMap<>();
          for (int rank : registered) {
            int count = 0;
            for (int block = 0; block < longest; block++) {
              count += holds(tenant, names, block, one -> own(one, instance, rank)) ? blockSize : 0;
            }
            dp.put("" + rank, count);
          }
          row.put("DP", dp);
          row.put("longest_matched", longest * blockSize);
          rows.put(instance, row);
        });
    return Map.of(tenant, rows);
  }

  private static boolean own(Copies one, String instance, int rank) {
    return !one.pool() && one.holder().equals(instance) && one.rank() == rank;
  }

  /** Blocks from the start a rank's cursor reaches through each tier. */
  private int[] waterfall(String tenant, Name name, String instance, int rank) {
    int[] reached = new int[Tier.values().length];
    int at = 0;
    for (Tier tier : Tier.values()) {
      while (at < blocks
          && holds(
              tenant,
              Set.of(name),
              at,
              one ->
                  Media.standard().tier(one.medium()) == tier
                      && (own(one, instance, rank)
                          || tier != Tier.DEVICE && serves(one, instance)))) {
        at++;
      }
      reached[tier.ordinal()] = at;
    }
    return reached;
  }

  /** {@code {"instances": {id: {longest_matched, dp, rank_matches, gpu, cpu, disk}}}}. */
  Map<String, Object> binary(String tenant, String lora, String salt) {
    Map<String, Object> rows = new TreeMap<>();
    ranks.forEach(
        (instance, registered) -> {
          Map<String, Object> dp = new TreeMap<>();
          Map<String, Object> matches = new TreeMap<>();
          int[] most = new int[Tier.values().length];
          for (int rank : registered) {
            int[] own = waterfall(tenant, new Name(lora, "", salt), instance, rank);
            dp.put("" + rank, own[0] * blockSize);
            matches.put("" + rank, tiers(own, Tier.DISK));
            for (int i = 0; i < most.length; i++) {
              most[i] = Math.max(most[i], own[i]);
            }
          }
          Map<String, Object> row = tiers(most, Tier.DISK);
          row.put("dp", dp);
          row.put("rank_matches", matches);
          row.put("longest_matched", most[Tier.DISK.ordinal()] * blockSize);
          // An instance not registered for the adapter is a row only where it holds something.
          if (lora.isEmpty() || most[Tier.DISK.ordinal()] > 0) {
            rows.put(instance, row);
          }
        });
    return Map.of("instances", rows);
  }

  /** {@code {scores, frequencies, instances}}. */
  Map<String, Object> dynamo(String tenant, String lora, String salt) {
    Map<String, Object> scores = new TreeMap<>();
    Map<String, Object> rows = new TreeMap<>();
    ranks.forEach(
        (instance, registered) -> {
          Map<String, Object> score = new TreeMap<>();
          Map<String, Object> dp = new TreeMap<>();
          int[] most = new int[Tier.values().length];
          for (int rank : registered) {
            int[] own = waterfall(tenant, new Name(lora, "", salt), instance, rank);
            if (own[0] > 0) {
              score.put("" + rank, own[0] * blockSize);
            }
            if (own[Tier.EXTERNAL.ordinal()] > 0) {
              dp.put("" + rank, own[0] * blockSize);
            }
            for (int i = 0; i < most.length; i++) {
              most[i] = Math.max(most[i], own[i]);
            }
          }
          if (!score.isEmpty()) {
            scores.put(instance, score);
          }
          if (!dp.isEmpty()) {
            Map<String, Object> row = tiers(most, Tier.EXTERNAL);
            row.put("dp", dp);
            row.put("longest_matched", most[Tier.EXTERNAL.ordinal()] * blockSize);
            rows.put(instance, row);
          }
        });
    return Map.of("scores", scores, "frequencies", List.of(), "instances", rows);
  }

  private Map<String, Object> tiers(int[] reached, Tier last) {
    Map<String, Object> numbers = new LinkedHashMap<>();
    numbers.put("gpu", reached[Tier.DEVICE.ordinal()] * blockSize);
    numbers.put("cpu", reached[Tier.HOST.ordinal()] * blockSize);
    numbers.put("disk", reached[last.ordinal()] * blockSize);
    return numbers;
  }

  /** All names somebody holds something under. */
  Set<Name> names() {
    Set<Name> names = new TreeSet<>(java.util.Comparator.comparing(Name::toString));
    copies.forEach(one -> names.add(one.name()));
    return names;
  }
}
