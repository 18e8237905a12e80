// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;

/** Where checkpoints come from, as flags say it. */
final class Lenders {

  private Lenders() {}

  /**
   * Another process's address, or a directory.
   *
   * @param flag for messages
   * @throws IllegalArgumentException if it is neither
   */
  static String of(String flag, String value) {
    if (value.contains("://")) {
      return http(flag, value);
    }
    if (!Files.isDirectory(Path.of(value))) {
      throw new IllegalArgumentException(
          flag + " must be http://HOST:PORT or a directory, got " + value);
    }
    return Path.of(value).toAbsolutePath().toString();
  }

  /** Another process's address. */
  static String http(String flag, String value) {
    try {
      URI uri = URI.create(value);
      if ("http".equals(uri.getScheme()) && uri.getHost() != null && uri.getPort() > 0) {
        return value;
      }
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(flag + " must be http://HOST:PORT, got " + value, e);
    }
    throw new IllegalArgumentException(flag + " must be http://HOST:PORT, got " + value);
  }
}
