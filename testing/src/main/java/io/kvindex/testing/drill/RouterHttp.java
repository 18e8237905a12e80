// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.client.BufferingResponseListener;
import org.eclipse.jetty.client.BytesRequestContent;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.client.Result;
import org.eclipse.jetty.client.transport.HttpClientTransportOverHTTP;
import org.eclipse.jetty.http.HttpCookieStore;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.util.component.LifeCycle;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * A router's kept connections. Judges share the machine with what they judge: with the JDK's client
 * the drill takes a quarter more of it. Thread-safe; asking does not wait.
 */
final class RouterHttp implements AutoCloseable {

  private static final String JSON = "application/json";
  private static final int THREADS = 8;

  /** To each replica; one that stands still keeps what it was asked. */
  private static final int CONNECTIONS = 1_000;

  private static final int ANSWER_BYTES = 64 << 20;

  /** Replicas close connections nobody uses after 30 s: not while a question is on its way. */
  private static final Duration IDLE = Duration.ofSeconds(20);

  private final HttpClient http = new HttpClient(new HttpClientTransportOverHTTP(1));

  /** A complete answer, of whatever status. */
  record Reply(int status, HttpFields headers, byte[] body) {

    /** Value of a header, empty = there is none. */
    String header(String name) {
      String value = headers.get(name);
      return value == null ? "" : value;
    }
  }

  RouterHttp() {
    QueuedThreadPool threads = new QueuedThreadPool(THREADS, 2);
    threads.setName("drill-router");
    threads.setDaemon(true);
    http.setExecutor(threads);
    http.setIdleTimeout(IDLE.toMillis());
    http.setMaxConnectionsPerDestination(CONNECTIONS);
    http.setMaxRequestsQueuedPerDestination(CONNECTIONS);
    http.setFollowRedirects(false);
    http.setHttpCookieStore(new HttpCookieStore.Empty());
    try {
      http.start();
    } catch (Exception e) {
      throw new IllegalStateException("no client for routers: " + e, e);
    }
    http.getProtocolHandlers().clear();
    http.getContentDecoderFactories().clear();
  }

  /**
   * Asks; fails with an {@link IOException}.
   *
   * @param body JSON
   * @param timeout for the whole answer
   */
  CompletableFuture<Reply> post(URI uri, byte[] body, Duration timeout) {
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    http.POST(uri)
        .body(new BytesRequestContent(JSON, body))
        .timeout(timeout.toMillis(), TimeUnit.MILLISECONDS)
        .send(
            new BufferingResponseListener(ANSWER_BYTES) {
              @Override
              public void onComplete(Result result) {
                if (result.isFailed()) {
                  reply.completeExceptionally(failure(result.getFailure(), timeout));
                } else {
                  reply.complete(
                      new Reply(
                          result.getResponse().getStatus(),
                          result.getResponse().getHeaders(),
                          getContent()));
                }
              }
            });
    return reply;
  }

  private static IOException failure(Throwable cause, Duration timeout) {
    return cause instanceof TimeoutException
        ? new IOException("timed out after " + timeout.toMillis() + " ms", cause)
        : cause instanceof IOException io ? io : new IOException(cause.toString(), cause);
  }

  @Override
  public void close() {
    LifeCycle.stop(http);
  }
}
