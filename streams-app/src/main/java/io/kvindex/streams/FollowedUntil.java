// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import org.jspecify.annotations.Nullable;

/**
 * Until when rows followed their changelog, in a file beside them. Its own time is not enough: a
 * copy of the directory may get a new one. For one thread.
 */
final class FollowedUntil {

  private static final Duration WRITE_EVERY = Duration.ofSeconds(10);

  private final Path file;
  private Instant written = Instant.EPOCH;

  FollowedUntil(Path file) {
    this.file = file;
  }

  /** Null = nobody has written it down. */
  @Nullable Instant read() throws IOException {
    if (!Files.exists(file)) {
      return null;
    }
    Instant changed = Files.getLastModifiedTime(file).toInstant();
    try {
      return Instant.parse(Files.readString(file).strip());
    } catch (DateTimeParseException | CharacterCodingException e) {
      return changed; // it was being written when the machine lost its power
    }
  }

  /**
   * Writes it down, if that was long enough ago.
   *
   * @return false if it was not
   */
  boolean write(Instant now) throws IOException {
    if (Duration.between(written, now).compareTo(WRITE_EVERY) < 0) {
      return false;
    }
    written = now;
    Files.createDirectories(file.getParent());
    Files.writeString(file, now.toString());
    return true;
  }

  @Override
  public String toString() {
    return file.toString();
  }
}
