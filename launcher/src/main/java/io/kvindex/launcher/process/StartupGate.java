// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a server does with itself before it says that it is ready. */
final class StartupGate {

  private static final Logger LOG = LoggerFactory.getLogger(StartupGate.class);
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final Duration ANSWER = Duration.ofSeconds(15);
  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(25);
  private static final long TELL_EVERY_NS = TimeUnit.SECONDS.toNanos(10);
  private static final int OK = 200;

  private StartupGate() {}

  /**
   * Waits until {@code /ready} says yes, however long restoring takes, and logs what it waits for.
   */
  static void awaitReady(URI server) throws InterruptedException {
    long toldNs = System.nanoTime();
    while (true) {
      HttpResponse<String> answer =
          send(HttpRequest.newBuilder(server.resolve("/ready")).timeout(ANSWER).build());
      if (answer.statusCode() == OK) {
        return;
      }
      if (System.nanoTime() - toldNs > TELL_EVERY_NS) {
        toldNs = System.nanoTime();
        LOG.info("not ready yet: {}", answer.body());
      }
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      LockSupport.parkNanos(POLL_NS);
    }
  }

  private static HttpResponse<String> send(HttpRequest request) throws InterruptedException {
    try {
      return HTTP.send(request, BodyHandlers.ofString());
    } catch (IOException e) {
      throw new IllegalStateException("the HTTP API does not answer itself at " + request.uri(), e);
    }
  }
}
