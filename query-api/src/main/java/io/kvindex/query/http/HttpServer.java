// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.javalin.Javalin;
import io.javalin.config.JavalinConfig;
import io.javalin.config.RoutesConfig;
import io.javalin.router.ParsedEndpoint;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * The HTTP server. Start it once, close it once; {@link #close()} waits for running requests for a
 * moment. Thread-safe.
 */
public final class HttpServer implements AutoCloseable {
  private static final int INPUT_BUFFER = 64 << 10;
  private static final int SELECTORS = 1;
  private static final int ACCEPT_QUEUE = 1024;

  private final Javalin javalin;
  private final HotRoutes hot;

  private HttpServer(Javalin javalin, HotRoutes hot) {
    this.javalin = javalin;
    this.hot = hot;
  }

  /** Listens and serves where nothing is known of events; see the other one. */
  public static HttpServer start(
      HttpSettings settings,
      QueryAnswers answers,
      Consumer<RoutesConfig> routes,
      MeterRegistry registry) {
    return start(
        settings, answers, EventVisibility.UNKNOWN, routes, RequestObserver.NONE, registry);
  }

  /**
   * Listens and serves.
   *
   * @param answers answers the query routes
   * @param events what queries with a {@code min_event} wait for
   * @param routes adds all other routes
   * @param observer told of every request
   * @throws io.javalin.util.JavalinException if the address is not free
   */
  public static HttpServer start(
      HttpSettings settings,
      QueryAnswers answers,
      EventVisibility events,
      Consumer<RoutesConfig> routes,
      RequestObserver observer,
      MeterRegistry registry) {
    return start(settings, answers, events, ReplicaQuestions.NONE, routes, observer, registry);
  }

  /**
   * The same for one of several replicas.
   *
   * @param questions answers what the others ask
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
              ControlErrors.install(config, hot.meters());
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
    for (String path : HotRoutes.paths()) {
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
    javalin.stop();
  }
}
