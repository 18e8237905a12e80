// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.streams.checkpoint.JournalLimits;
import io.kvindex.streams.fold.Limits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a copy, or of a process that has a part of one.
 *
 * @param kafka settings of all its Kafka clients; {@code bootstrap.servers} at least
 * @param copy its name: letters, digits, {@code . _ -}, at most {@value #LONGEST} characters
 * @param directory where checkpoints are, this process's own
 * @param advertise {@code host:port} other replicas reach this one at, null = none
 * @param maxLag how long a record may wait in the log, or Kafka be silent, before answers are stale
 * @param limits bounds of what is kept beside the blocks
 * @param journal how often checkpoints are written
 * @param starts offsets at which partitions without a checkpoint begin; the others begin where the
 *     log does
 * @param borrowFrom where checkpoints come from that this process has none of, and from nowhere
 *     else: {@code http://HOST:PORT} of another one, or a directory; null = from other replicas
 */
public record CopyConfig(
    Map<String, Object> kafka,
    String copy,
    Path directory,
    @Nullable String advertise,
    Duration maxLag,
    Limits limits,
    JournalLimits journal,
    Map<Integer, Long> starts,
    @Nullable String borrowFrom) {

  /** Longest name of a copy. */
  public static final int LONGEST = 100;

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1," + LONGEST + "}");
  private static final Duration MAX_LAG = Duration.ofSeconds(2);

  public CopyConfig {
    kafka = Map.copyOf(kafka);
    starts = Map.copyOf(starts);
    if (!kafka.containsKey("bootstrap.servers")) {
      throw new IllegalArgumentException("kafka settings need bootstrap.servers");
    }
    if (!NAME.matcher(copy).matches()) {
      throw new IllegalArgumentException(
          "a copy's name has 1 to "
              + LONGEST
              + " letters, digits, dots, dashes or underscores, got `"
              + copy
              + "`");
    }
    if (maxLag.toMillis() < 1) {
      throw new IllegalArgumentException("the lag allowed must be positive: " + maxLag);
    }
  }

  /** Defaults. */
  public static CopyConfig of(Map<String, Object> kafka, String copy, Path directory) {
    return new CopyConfig(
        kafka,
        copy,
        directory,
        null,
        MAX_LAG,
        Limits.DEFAULT,
        JournalLimits.DEFAULT,
        Map.of(),
        null);
  }

  /** The same with an address for other replicas. */
  public CopyConfig advertisedAs(@Nullable String hostAndPort) {
    return new CopyConfig(
        kafka, copy, directory, hostAndPort, maxLag, limits, journal, starts, borrowFrom);
  }

  /** The same with another bound in time. */
  public CopyConfig lagging(Duration longest) {
    return new CopyConfig(
        kafka, copy, directory, advertise, longest, limits, journal, starts, borrowFrom);
  }

  /** The same where partitions begin at some offset. */
  public CopyConfig startingAt(Map<Integer, Long> offsets) {
    return new CopyConfig(
        kafka, copy, directory, advertise, maxLag, limits, journal, offsets, borrowFrom);
  }

  /** The same that borrows from there. */
  public CopyConfig borrowingFrom(@Nullable String place) {
    return new CopyConfig(
        kafka, copy, directory, advertise, maxLag, limits, journal, starts, place);
  }

  /**
   * Name of this process among those of its copy, the same after a restart. Kafka takes no colons
   * in such a name.
   */
  String member() {
    return advertise == null ? copy : advertise.replaceAll("[^A-Za-z0-9._-]", "-");
  }

  /** The name of its group. */
  public String applicationId() {
    return "kvindex-" + copy;
  }
}
