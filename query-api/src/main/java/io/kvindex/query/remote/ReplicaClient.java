// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.query.deadline.Deadline;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.eclipse.jetty.client.BufferingResponseListener;
import org.eclipse.jetty.client.BytesRequestContent;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.client.Request;
import org.eclipse.jetty.client.Result;
import org.eclipse.jetty.client.transport.HttpClientTransportOverHTTP;
import org.eclipse.jetty.http.HttpCookieStore;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.util.component.LifeCycle;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.eclipse.jetty.util.thread.ScheduledExecutorScheduler;
import org.jspecify.annotations.Nullable;

/**
 * Sends small messages to other replicas over kept connections. One that does not answer is soon
 * left alone: it gets no more than {@value #AT_A_TIME} questions at a time. Thread-safe; no method
 * waits.
 *
 * <p>Jetty's client, because it tells of an answer on the thread that read it: the JDK's hands each
 * one to the common pool, which on two cores is a new thread for each (java.net.http, JDK 17).
 */
final class ReplicaClient implements Transport {
  /** Questions to one replica that are not answered yet; also the connections to it. */
  static final int AT_A_TIME = 32;

  private static final Duration CONNECT = Duration.ofMillis(200);

  /** Replicas close connections nobody uses after 30 s: not while a question is on its way. */
  private static final Duration IDLE = Duration.ofSeconds(20);

  private static final int THREADS = 8;

  /** Replicas that ever were; their addresses are the group's, so there are few. */
  private final ConcurrentMap<String, Semaphore> places = new ConcurrentHashMap<>();

  private final HttpClient http;

  ReplicaClient() {
    QueuedThreadPool threads = new QueuedThreadPool(THREADS, 2);
    threads.setName("kvindex-replicas");
    threads.setDaemon(true);
    http = new HttpClient(new HttpClientTransportOverHTTP(1));
    http.setExecutor(threads);
    http.setScheduler(new ScheduledExecutorScheduler("kvindex-replicas-timer", true));
    http.setConnectTimeout(CONNECT.toMillis());
    http.setIdleTimeout(IDLE.toMillis());
    http.setMaxConnectionsPerDestination(AT_A_TIME);
    http.setMaxRequestsQueuedPerDestination(AT_A_TIME);
    http.setFollowRedirects(false);
    http.setUserAgentField(null);
    http.setHttpCookieStore(new HttpCookieStore.Empty());
    http.getContentDecoderFactories().clear();
    try {
      http.start();
    } catch (Exception e) {
      throw new IllegalStateException("no client for other replicas: " + e, e);
    }
    http.getProtocolHandlers().clear(); // which start() puts there: an answer is what it says it is
  }

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
    Request request;
    try {
      request = request(address, path, body, forNanos);
    } catch (RuntimeException e) {
      place.release();
      done.accept(null, e);
      return;
    }
    request.send(new Answer(place, done));
  }

  private Request request(String address, String path, byte[] body, long forNanos) {
    long millis = Math.max(1, TimeUnit.NANOSECONDS.toMillis(forNanos));
    return http.newRequest("http://" + address + path)
        .method(HttpMethod.POST)
        .timeout(Math.max(1, forNanos), TimeUnit.NANOSECONDS)
        .headers(fields -> fields.put(Deadline.HEADER, millis))
        .body(new BytesRequestContent("application/octet-stream", body));
  }

  /** Takes one answer. */
  private static final class Answer extends BufferingResponseListener {
    private final Semaphore place;
    private final BiConsumer<byte @Nullable [], @Nullable Throwable> done;

    Answer(Semaphore place, BiConsumer<byte @Nullable [], @Nullable Throwable> done) {
      super(AnswerWriter.MAX_BYTES);
      this.place = place;
      this.done = done;
    }

    @Override
    public void onComplete(Result result) {
      place.release();
      if (result.isFailed()) {
        done.accept(null, result.getFailure());
      } else if (result.getResponse().getStatus() == 200) {
        done.accept(getContent(), null);
      } else {
        done.accept(null, new RefusedException("it answered " + result.getResponse().getStatus()));
      }
    }
  }

  @Override
  public void close() {
    LifeCycle.stop(http);
  }
}
