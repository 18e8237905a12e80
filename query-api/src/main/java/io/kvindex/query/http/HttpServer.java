// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.javalin.Javalin;
import io.javalin.config.JavalinConfig;
import io.javalin.config.RoutesConfig;
import io.javalin.router.ParsedEndpoint;
import io.javalin.util.JavalinException;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.reply.ControlReplies;
import io.micrometer.core.instrument.MeterRegistry;
import java.nio.ByteBuffer;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The HTTP server. Start it once, close it once; {@link #close()} waits for running requests for a
 * moment. Thread-safe.
 */
public final class HttpServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HttpServer.class);
  private static final int INPUT_BUFFER = 64 << 10;
  private static final int SELECTORS = 1;
  private static final int ACCEPT_QUEUE = 1024;

  private final Javalin javalin;
  private final HotRoutes hot;

  private HttpServer(Javalin javalin, HotRoutes hot) {
    this.javalin = javalin;
    this.hot = hot;
  }

  /** Listens and serves where nothing is known of events and replicas; see the other one. */
  public static HttpServer start(
      HttpSettings settings,
      QueryAnswers answers,
      Consumer<RoutesConfig> routes,
      MeterRegistry registry) {
    return start(
        settings,
        answers,
        EventVisibility.UNKNOWN,
        ReplicaQuestions.NONE,
        routes,
        RequestObserver.NONE,
        registry);
  }

  /**
   * Listens and serves.
   *
   * @param answers answers the query routes
   * @param events what queries with a {@code min_event} wait for
   * @param questions answers what other replicas ask
   * @param routes adds all other routes
   * @param observer told of every request
   * @throws JavalinException if the address is not free
   */
  public static HttpServer start(
      HttpSettings settings,
      QueryAnswers answers,
      EventVisibility events,
      ReplicaQuestions questions,
      Consumer<RoutesConfig> routes,
      RequestObserver observer,
      MeterRegistry registry) {
    HotRoutes hot = new HotRoutes(answers, events, questions, settings, observer, registry);
    Javalin javalin =
        Javalin.create(
            config -> {
              quiet(config);
              jetty(config, settings, hot);
              config.http.maxRequestSize = settings.maxBodyBytes();
              ControlErrors.install(config, hot.meters);
              routes.accept(config.routes);
            });
    return new HttpServer(javalin.start(), hot);
  }

  private static void quiet(JavalinConfig config) {
    config.startup.showJavalinBanner = false;
    config.startup.showOldJavalinVersionWarning = false;
    config.startup.startupWatcherEnabled = false;
    config.http.prefer405over404 = true;
    config.http.defaultContentType = "application/json";
    config.http.compressionStrategy = io.javalin.compression.CompressionStrategy.NONE;
  }

  private static void jetty(JavalinConfig config, HttpSettings settings, HotRoutes hot) {
    QueuedThreadPool threads = new QueuedThreadPool(settings.maxThreads(), 4);
    threads.setName("http");
    config.jetty.threadPool = threads;
    config.jetty.modifyHttpConfiguration(
        http -> {
          http.setSendServerVersion(false);
          http.setSendDateHeader(false);
          http.setInputBufferSize(INPUT_BUFFER);
        });
    config.jetty.modifyServer(
        server -> {
          server.setHandler(hot);
          server.setErrorHandler(new JettyErrors());
          server.setStopTimeout(2_000);
        });
    config.jetty.addConnector((server, http) -> connector(server, http, settings));
  }

  private static ServerConnector connector(
      Server server, HttpConfiguration http, HttpSettings settings) {
    HttpConnectionFactory factory = new HttpConnectionFactory(http);
    factory.setInputBufferSize(INPUT_BUFFER);
    ServerConnector connector = new ServerConnector(server, 1, SELECTORS, factory);
    connector.setHost(settings.bind());
    connector.setPort(settings.port());
    connector.setAcceptQueueSize(ACCEPT_QUEUE);
    connector.setIdleTimeout(settings.idleTimeout().toMillis());
    return connector;
  }

  /** The port in use. */
  public int port() {
    return javalin.port();
  }

  /** Methods served, by path: Javalin's and the hot ones in front of it. */
  public SortedMap<String, SortedSet<String>> routes() {
    SortedMap<String, SortedSet<String>> routes = new TreeMap<>();
    for (String path : hot.paths) {
      routes.computeIfAbsent(path, p -> new TreeSet<>()).add(HotRoutes.METHOD);
    }
    for (ParsedEndpoint one : javalin.unsafe.internalRouter.allHttpHandlers()) {
      routes
          .computeIfAbsent(one.endpoint.path, p -> new TreeSet<>())
          .add(one.endpoint.method.name());
    }
    return routes;
  }

  @Override
  public void close() {
    hot.endWaits();
    try {
      javalin.stop();
    } catch (JavalinException e) { // it is stopped all the same
      LOG.warn("requests were cut off that did not end in time: {}", e.toString());
    }
  }

  /** Gives Jetty's own refusals (a broken request line, a header too long) the common body. */
  private static final class JettyErrors extends ErrorHandler {

    @Override
    protected void generateResponse(
        Request request,
        Response response,
        int status,
        @Nullable String message,
        @Nullable Throwable cause,
        Callback callback) {
      response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/json");
      response.write(true, body(status, message), callback);
    }

    @Override
    public ByteBuffer badMessageError(
        int status, @Nullable String reason, HttpFields.Mutable fields) {
      fields.put(HttpHeader.CONTENT_TYPE, "application/json");
      return body(status, reason);
    }

    private static ByteBuffer body(int status, @Nullable String message) {
      ErrorCode code = status >= 500 ? ErrorCode.INTERNAL : ErrorCode.BAD_REQUEST;
      String text = status >= 500 || message == null ? "HTTP status " + status : message;
      byte[] body =
          ControlReplies.encoded(
              ControlReplies.of(code.because(text), Dialect.CONDUCTOR), Dialect.CONDUCTOR);
      return ByteBuffer.wrap(body);
    }
  }
}
