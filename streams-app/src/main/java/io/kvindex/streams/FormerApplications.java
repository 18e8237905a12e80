// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Applications whose tables served here before, and are of no use to anybody. */
final class FormerApplications {

  private static final Logger LOG = LoggerFactory.getLogger(FormerApplications.class);

  private FormerApplications() {}

  /**
   * Deletes what they have left: one that was killed could not do so itself.
   *
   * @param serving keeps what it has
   */
  static void delete(Path stateDir, String serving, MeterRegistry metrics) {
    RebuiltRows rebuilt = new RebuiltRows(metrics);
    for (String other : applications(stateDir)) {
      if (!other.equals(serving)) {
        try {
          new LocalState(stateDir, other, rebuilt).delete();
          LOG.info("deleted the rows of application {}, which serves no more", other);
        } catch (IOException e) {
          LOG.warn(
              "the rows of application {} under {} can not be deleted, they are of no use: {}",
              other,
              stateDir,
              e.toString());
        }
      }
    }
  }

  private static List<String> applications(Path stateDir) {
    if (!Files.isDirectory(stateDir)) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(stateDir)) {
      return all.map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(LocalState.IDENTITY))
          .map(name -> name.substring(0, name.length() - LocalState.IDENTITY.length()))
          .sorted()
          .toList();
    } catch (IOException e) {
      LOG.warn("what is under {} can not be listed: {}", stateDir, e.toString());
      return List.of();
    }
  }
}
