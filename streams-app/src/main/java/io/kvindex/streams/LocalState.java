// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.streams.topology.IndexTopology;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remembers, in the time of a file's last change, until when a replica's local rows followed the
 * changelog. Whoever stays away longer than the changelog keeps tombstones may miss deletions: such
 * rows must be thrown away, or they would claim blocks that are long gone.
 */
final class LocalState {

  private static final Logger LOG = LoggerFactory.getLogger(LocalState.class);

  /** Half of it, since reading up to where the others are takes time too. */
  private static final Duration LONGEST_ABSENCE = IndexTopology.TOMBSTONES_KEPT.dividedBy(2);

  private static final Duration TOUCH_EVERY = Duration.ofSeconds(10);

  private final Path file;
  private Instant touched = Instant.EPOCH;

  LocalState(Path stateDir, String applicationId) {
    file = stateDir.resolve(applicationId + ".followed");
  }

  /** Whether rows found here may lack deletions. */
  boolean isTooOld(Instant now) {
    try {
      if (!Files.exists(file)) {
        return false;
      }
      Duration away = Duration.between(Files.getLastModifiedTime(file).toInstant(), now);
      if (away.compareTo(LONGEST_ABSENCE) > 0) {
        LOG.info(
            "local rows are {} old, more than {}: they are built anew from the changelog",
            away,
            LONGEST_ABSENCE);
        return true;
      }
      return false;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    }
  }

  /** Notes that this replica follows; cheap enough to be called several times a second. */
  void follows(Instant now) {
    if (Duration.between(touched, now).compareTo(TOUCH_EVERY) < 0) {
      return;
    }
    try {
      if (Files.exists(file)) {
        Files.setLastModifiedTime(file, FileTime.from(now));
      } else {
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.createFile(file);
      }
      touched = now;
    } catch (IOException e) {
      LOG.warn("cannot touch {}: rows may be built anew at the next start", file, e);
      touched = now;
    }
  }
}
