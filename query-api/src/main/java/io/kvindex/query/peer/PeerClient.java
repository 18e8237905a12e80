// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;

/** Asks a peer for its dump, within bounds of time and length. Thread-safe. */
final class PeerClient {

  /**
   * Bounds of one dump.
   *
   * @param connect longest wait for a connection
   * @param silence longest wait for the next bytes
   * @param whole longest time for all of it
   * @param bytes longest body
   * @param blocks blocks kept of it at most
   */
  record Bounds(Duration connect, Duration silence, Duration whole, long bytes, long blocks) {
    static final Bounds DEFAULT =
        new Bounds(
            Duration.ofSeconds(3),
            Duration.ofSeconds(10),
            Duration.ofMinutes(5),
            4L << 30,
            2L << 20);
  }

  private static final int MAX_PORT = 65_535;

  private final Bounds bounds;

  PeerClient(Bounds bounds) {
    this.bounds = bounds;
  }

  /**
   * A peer's address without what does not belong to it.
   *
   * @throws IllegalArgumentException if it is no http or https URL
   */
  static String normal(String url) {
    String text = trimmed(url);
    try {
      URI uri = new URI(text);
      boolean http = "http".equalsIgnoreCase(uri.getScheme());
      boolean https = "https".equalsIgnoreCase(uri.getScheme());
      boolean place = uri.getHost() != null && uri.getPort() <= MAX_PORT;
      if ((http || https) && place && uri.getQuery() == null && uri.getFragment() == null) {
        return text;
      }
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("not a URL", e);
    }
    throw new IllegalArgumentException("not an http URL with a host");
  }

  /** The same without slashes at its end. */
  static String trimmed(String url) {
    String text = url.strip();
    while (text.endsWith("/")) {
      text = text.substring(0, text.length() - 1);
    }
    return text;
  }

  /**
   * Reads a peer's dump.
   *
   * @throws IOException if it is not there, too slow, too long, or no dump
   */
  DumpReader.Dump dump(String peer) throws IOException {
    HttpURLConnection connection =
        (HttpURLConnection) URI.create(peer + "/dump").toURL().openConnection();
    connection.setConnectTimeout((int) bounds.connect().toMillis());
    connection.setReadTimeout((int) bounds.silence().toMillis());
    connection.setInstanceFollowRedirects(false);
    connection.setRequestProperty("Accept", "application/json");
    try {
      int status = connection.getResponseCode();
      if (status != HttpURLConnection.HTTP_OK) {
        throw new IOException("status " + status);
      }
      try (InputStream body = new Bounded(connection.getInputStream(), bounds)) {
        return DumpReader.read(body, bounds.blocks());
      }
    } finally {
      connection.disconnect();
    }
  }

  /** Ends a body that is too long, or trickles. */
  private static final class Bounded extends FilterInputStream {
    private final Bounds bounds;
    private final long startNs = System.nanoTime();
    private long bytes;

    Bounded(InputStream in, Bounds bounds) {
      super(in);
      this.bounds = bounds;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] to, int from, int length) throws IOException {
      if (System.nanoTime() - startNs > bounds.whole().toNanos()) {
        throw new IOException("not done within " + bounds.whole());
      }
      int read = super.read(to, from, length);
      bytes += Math.max(0, read);
      if (bytes > bounds.bytes()) {
        throw new IOException("longer than " + bounds.bytes() + " bytes");
      }
      return read;
    }
  }
}
