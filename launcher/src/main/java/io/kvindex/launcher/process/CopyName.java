// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;

/** The name of a copy that nobody named: made up once, and kept in the data directory. */
final class CopyName {

  private static final String FILE = "copy";
  private static final int RANDOM_BYTES = 6;

  private CopyName() {}

  /**
   * Reads it, or makes it up.
   *
   * @throws IOException if the directory can not be read or written
   */
  static String of(Path dataDir) throws IOException {
    Path file = dataDir.resolve(FILE);
    if (Files.exists(file)) {
      String name = Files.readString(file).strip();
      if (!name.isEmpty()) {
        return name;
      }
    }
    byte[] random = new byte[RANDOM_BYTES];
    new SecureRandom().nextBytes(random);
    String name = "index-" + HexFormat.of().formatHex(random);
    keep(dataDir, name);
    return name;
  }

  /** Has whoever uses the directory next, and does not say a name, go on with this one. */
  static void keep(Path dataDir, String name) throws IOException {
    Files.createDirectories(dataDir);
    Files.writeString(dataDir.resolve(FILE), name + "\n");
  }
}
