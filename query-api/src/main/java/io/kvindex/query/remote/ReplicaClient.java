// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.query.deadline.Deadline;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends small messages to other replicas over kept connections. One that does not answer is soon
 * left alone: it gets no more than {@value #AT_A_TIME} questions at a time. Thread-safe; no method
 * waits.
 */
final class ReplicaClient implements Transport {
  /** Questions to one replica that are not answered yet; also the connections to it. */
  static final int AT_A_TIME = 32;

  private static final Duration CONNECT = Duration.ofMillis(200);
  private static final int THREADS = 2;

  /** Replicas that ever were; their addresses are the group's, so there are few. */
  private final ConcurrentMap<String, Semaphore> places = new ConcurrentHashMap<>();

  private final ExecutorService threads =
      Executors.newFixedThreadPool(
          THREADS,
          task -> {
            Thread thread = new Thread(task, "kvindex-replicas");
            thread.setDaemon(true);
            return thread;
          });
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(CONNECT)
          .executor(threads)
          .build();

  /** A replica said no. */
  static final class RefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    RefusedException(String message) {
      super(message, null, false, false);
    }
  }

  @Override
  public void ask(
      String address,
      String path,
      byte[] body,
      long forNanos,
      BiConsumer<byte @Nullable [], @Nullable Throwable> done) {
    Semaphore place = places.computeIfAbsent(address, one -> new Semaphore(AT_A_TIME));
    if (!place.tryAcquire()) {
      done.accept(
          null, new RefusedException(AT_A_TIME + " questions wait for its answers already"));
      return;
    }
    CompletableFuture<HttpResponse<byte[]>> answer;
    try {
      answer = http.sendAsync(request(address, path, body, forNanos), BodyHandlers.ofByteArray());
    } catch (RuntimeException e) {
      place.release();
      done.accept(null, e);
      return;
    }
    answer.whenComplete(
        (response, failure) -> {
          place.release();
          if (response == null) {
            done.accept(null, failure);
          } else if (response.statusCode() == 200) {
            done.accept(response.body(), null);
          } else {
            done.accept(null, new RefusedException("it answered " + response.statusCode()));
          }
        });
  }

  private static HttpRequest request(String address, String path, byte[] body, long forNanos) {
    long millis = Math.max(1, TimeUnit.NANOSECONDS.toMillis(forNanos));
    return HttpRequest.newBuilder(URI.create("http://" + address + path))
        .timeout(Duration.ofNanos(forNanos))
        .header("Content-Type", "application/octet-stream")
        .header(Deadline.HEADER, Long.toString(millis))
        .POST(BodyPublishers.ofByteArray(body))
        .build();
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
