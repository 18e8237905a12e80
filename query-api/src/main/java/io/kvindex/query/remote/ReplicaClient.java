// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.query.deadline.Deadline;
import java.io.EOFException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.client.BufferingResponseListener;
import org.eclipse.jetty.client.BytesRequestContent;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.client.Request;
import org.eclipse.jetty.client.Result;
import org.eclipse.jetty.client.transport.HttpClientTransportOverHTTP;
import org.eclipse.jetty.http.HttpCookieStore;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.util.SocketAddressResolver;
import org.eclipse.jetty.util.component.LifeCycle;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.eclipse.jetty.util.thread.ScheduledExecutorScheduler;
import org.eclipse.jetty.util.thread.Scheduler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends small messages to other replicas over kept connections. One that does not answer is soon
 * left alone: it gets no more than {@value #AT_A_TIME} questions at a time. Thread-safe; asking
 * does not wait.
 *
 * <p>Jetty's client, because it tells of an answer on the thread that read it: the JDK's hands each
 * one to the common pool, which on two cores is a new thread for each (java.net.http, JDK 17).
 */
final class ReplicaClient implements Transport {
  private static final Logger LOG = LoggerFactory.getLogger(ReplicaClient.class);

  /** Questions to one replica that are not answered yet; also the connections to it. */
  static final int AT_A_TIME = 32;

  private static final Duration CONNECT = Duration.ofMillis(200);

  /** Replicas close connections nobody uses after 30 s: not while a question is on its way. */
  private static final Duration IDLE = Duration.ofSeconds(20);

  /** How long what is known of an address is kept that nobody asks. */
  private static final Duration KEEP_UNUSED = Duration.ofMinutes(1);

  private static final Duration LOOK_UP = Duration.ofSeconds(1);
  private static final Duration STOP = Duration.ofMillis(500);
  private static final int THREADS = 8;
  private static final int NAME_THREADS = 2;

  /** Most bytes of an answer; those of walks are bounded where they are written. */
  private static final int ANSWER_BYTES = 64 << 20;

  /** Questions under way, by address; an address nobody asks is not there. */
  private final ConcurrentMap<String, Integer> underWay = new ConcurrentHashMap<>();

  /**
   * Where names are looked up: a name server that is silent must not take the threads that read
   * answers. No more wait for these than questions to all replicas may be under way.
   */
  private final ThreadPoolExecutor names =
      new ThreadPoolExecutor(
          NAME_THREADS,
          NAME_THREADS,
          1,
          TimeUnit.MINUTES,
          new LinkedBlockingQueue<>(),
          task -> {
            Thread thread = new Thread(task, "kvindex-replica-names");
            thread.setDaemon(true);
            return thread;
          });

  private final HttpClient http = new HttpClient(new HttpClientTransportOverHTTP(1));

  ReplicaClient() {
    names.allowCoreThreadTimeOut(true);
    QueuedThreadPool threads = new QueuedThreadPool(THREADS, 2);
    threads.setName("kvindex-replicas");
    threads.setDaemon(true);
    threads.setStopTimeout(STOP.toMillis());
    Scheduler timer = new ScheduledExecutorScheduler("kvindex-replicas-timer", true);
    http.setExecutor(threads);
    http.setScheduler(timer);
    http.setSocketAddressResolver(
        new SocketAddressResolver.Async(names, timer, LOOK_UP.toMillis()));
    http.setConnectTimeout(CONNECT.toMillis());
    http.setIdleTimeout(IDLE.toMillis());
    http.setMaxConnectionsPerDestination(AT_A_TIME);
    http.setDestinationIdleTimeout(
        KEEP_UNUSED.toMillis()); // else addresses that ever were stay for ever
    http.setMaxRequestsQueuedPerDestination(AT_A_TIME);
    http.setFollowRedirects(false);
    http.setUserAgentField(null);
    http.setHttpCookieStore(new HttpCookieStore.Empty());
    try {
      http.start();
    } catch (Exception e) {
      throw new IllegalStateException("no client for other replicas: " + e, e);
    }
    // Both are put there by the start: an answer is what it says it is.
    http.getProtocolHandlers().clear();
    http.getContentDecoderFactories().clear();
  }

  /** There is no answer; as text it is what users read. */
  private static class UnansweredException extends Exception {
    private static final long serialVersionUID = 1L;

    UnansweredException(String message) {
      super(message, null, false, false);
    }

    @Override
    public String toString() {
      return String.valueOf(getMessage());
    }
  }

  /** There is none because the replica said no: so it lives. */
  static final class RefusedException extends UnansweredException {
    private static final long serialVersionUID = 1L;

    RefusedException(String message) {
      super(message);
    }
  }

  @Override
  public void ask(String address, String path, byte[] body, long forNanos, Reply reply) {
    if (!enters(address)) {
      reply.told(
          null, new UnansweredException(AT_A_TIME + " questions wait for its answers already"));
      return;
    }
    Request request;
    try {
      request = request(address, path, body, forNanos);
    } catch (RuntimeException e) {
      leaves(address);
      reply.told(null, e);
      return;
    }
    request.send(
        new BufferingResponseListener(ANSWER_BYTES) {
          @Override
          public void onComplete(Result result) {
            leaves(address);
            if (result.isFailed()) {
              reply.told(null, inPlainWords(result.getFailure()));
            } else if (result.getResponse().getStatus() == 200) {
              reply.told(getContent(), null);
            } else {
              int status = result.getResponse().getStatus();
              reply.told(null, new RefusedException("it answered " + status));
            }
          }
        });
  }

  private boolean enters(String address) {
    boolean[] may = {false};
    underWay.compute(
        address,
        (same, count) -> {
          may[0] = count == null || count < AT_A_TIME;
          return may[0] ? Integer.valueOf(count == null ? 1 : count + 1) : count;
        });
    return may[0];
  }

  private void leaves(String address) {
    underWay.computeIfPresent(address, (same, count) -> count == 1 ? null : count - 1);
  }

  private Request request(String address, String path, byte[] body, long forNanos) {
    long millis = Math.max(1, TimeUnit.NANOSECONDS.toMillis(forNanos));
    return http.newRequest("http://" + address + path)
        .method(HttpMethod.POST)
        .timeout(millis, TimeUnit.MILLISECONDS) // Jetty counts in these, and 0 is for ever
        .headers(fields -> fields.put(Deadline.HEADER, millis))
        .body(new BytesRequestContent("application/octet-stream", body));
  }

  /** Users read it; Jetty's own texts show its insides. */
  private static Throwable inPlainWords(Throwable failure) {
    if (failure instanceof TimeoutException) {
      return new UnansweredException("no answer in time");
    }
    if (failure instanceof EOFException || failure instanceof ClosedChannelException) {
      return new UnansweredException("it closed the connection");
    }
    if (failure instanceof RejectedExecutionException) {
      return new UnansweredException("this replica asks nobody any more: it is being stopped");
    }
    return failure;
  }

  /** Waits for its threads, half a second at most. */
  @Override
  public void close() {
    try {
      LifeCycle.stop(http);
    } catch (RuntimeException e) {
      LOG.warn("connections to other replicas were not closed in order", e);
    }
    names.shutdownNow();
  }
}
