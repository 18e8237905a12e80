// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;

/** Reads a server's {@code /dump} and forgets it. */
record DumpReading(long bytes, double seconds) {

  /** What is done in the middle of a dump, while its reader has stopped. */
  interface Pause {
    void run() throws IOException;
  }

  static DumpReading of(String host, int port) throws IOException {
    return of(host, port, Long.MAX_VALUE, () -> {});
  }

  /**
   * @param pauseAt bytes after which nothing is read until {@code pause} has run
   */
  static DumpReading of(String host, int port, long pauseAt, Pause pause) throws IOException {
    long start = System.nanoTime();
    HttpURLConnection connection =
        (HttpURLConnection)
            URI.create("http://" + host + ":" + port + "/dump").toURL().openConnection();
    byte[] buffer = new byte[1 << 16];
    long bytes = 0;
    boolean paused = false;
    try (InputStream in = connection.getInputStream()) {
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        bytes += n;
        if (!paused && bytes >= pauseAt) {
          paused = true;
          pause.run();
        }
      }
    }
    return new DumpReading(bytes, (System.nanoTime() - start) / 1e9);
  }
}
