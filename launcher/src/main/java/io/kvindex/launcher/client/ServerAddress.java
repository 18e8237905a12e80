// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import java.net.URI;
import java.net.URISyntaxException;

/** Where a server is, as people say it. */
public final class ServerAddress {

  private ServerAddress() {}

  /**
   * Reads it. A path is refused: it would be left out, and another server asked.
   *
   * @param what it is, for the message
   * @throws IllegalArgumentException if it is no http or https URL of a host
   */
  public static URI of(String what, String text) {
    String wrong = what + " must be http://HOST:PORT, got " + text;
    try {
      URI uri = new URI(text);
      boolean http = "http".equalsIgnoreCase(uri.getScheme());
      boolean root = "".equals(uri.getPath()) || "/".equals(uri.getPath());
      if ((http || "https".equalsIgnoreCase(uri.getScheme())) && uri.getHost() != null && root) {
        return uri;
      }
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(wrong, e);
    }
    throw new IllegalArgumentException(wrong);
  }
}
