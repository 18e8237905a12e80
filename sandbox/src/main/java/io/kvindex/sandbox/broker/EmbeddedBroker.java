// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.broker;

import io.kvindex.sandbox.broker.BrokerSettings.Ports;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.common.utils.Time;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A real Kafka broker in this JVM: KRaft, broker and controller in one node, durable in its data
 * directory across restarts and crashes, closed cleanly by {@link #close}. It has no
 * authentication; keep it on loopback.
 *
 * <p>Once running, a fatal fault (a full or failing disk) still makes Kafka halt the whole JVM with
 * status 1 after an ERROR line: a broker that goes on without its log would lose acknowledged data.
 *
 * <p>The only class that touches Kafka's server classes, which carry no compatibility promise
 * (written for 4.3.1). Thread-safe.
 */
public final class EmbeddedBroker implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(EmbeddedBroker.class);

  /** Starts are serialised: the procedure that replaces Kafka's halt is JVM-wide. */
  private static final Object STARTING = new Object();

  /** Free ports are looked for so often, as they may be taken before Kafka listens there. */
  private static final int MOST_TRIES = 3;

  private final BrokerDirectory directory;
  private final KafkaRaftServer server;
  private final String bootstrapServers;
  private final AtomicBoolean closed = new AtomicBoolean();

  private EmbeddedBroker(BrokerDirectory directory, KafkaRaftServer server, String bootstrap) {
    this.directory = directory;
    this.server = server;
    this.bootstrapServers = bootstrap;
  }

  /** Starts a broker on {@code dataDir}, on loopback and a free port. */
  public static EmbeddedBroker start(Path dataDir) {
    return start(BrokerOptions.in(dataDir));
  }

  /**
   * Starts a broker and returns when it accepts clients: 2-3 s in a cold JVM, 0.2 s in a warm one,
   * up to 4 s after a crash. A node of a cluster waits until more than half of them run, for five
   * minutes at most.
   *
   * @throws BrokerStartException when the directory is held by another broker, damaged or foreign,
   *     or the port is taken
   */
  public static EmbeddedBroker start(BrokerOptions options) {
    return start(options, EmbeddedBroker::ports);
  }

  /**
   * @param free finds ports
   */
  static EmbeddedBroker start(BrokerOptions options, Function<BrokerOptions, Ports> free) {
    BrokerDirectory directory = BrokerDirectory.open(options.dataDir());
    try {
      Path logs = directory.kafkaLogs(options);
      if (options.cluster() != null) {
        LOG.info("node {} waits for more than half of the cluster", options.nodeId());
      }
      for (int tries = 1; ; tries++) {
        Ports ports = free.apply(options);
        try {
          return start(options, directory, logs, ports);
        } catch (BrokerStartException e) {
          if (tries == MOST_TRIES || !mayBePortTaken(e)) {
            throw e;
          }
          LOG.info("a port that was free may be another process's by now: with others once more");
        }
      }
    } catch (RuntimeException | Error e) {
      directory.close();
      throw e;
    }
  }

  private static EmbeddedBroker start(
      BrokerOptions options, BrokerDirectory directory, Path logs, Ports ports) {
    long startedNs = System.nanoTime();
    String bootstrap = BrokerSettings.at(options.host(), ports.clients());
    KafkaRaftServer server =
        run(new KafkaConfig(BrokerSettings.of(options, logs, ports), false), options);
    LOG.info(
        "embedded broker ready bootstrap={} dataDir={} startMs={}",
        bootstrap,
        options.dataDir(),
        (System.nanoTime() - startedNs) / 1_000_000);
    return new EmbeddedBroker(directory, server, bootstrap);
  }

  /** Kafka's controller halts where it cannot listen, and does not say why it does. */
  private static boolean mayBePortTaken(BrokerStartException failure) {
    Throwable cause = failure.getCause();
    while (cause != null && !(cause instanceof BindException || cause instanceof Halted)) {
      cause = cause.getCause();
    }
    return cause != null;
  }

  /** Kafka halts the process when its start fails; here that must be an exception instead. */
  private static KafkaRaftServer run(KafkaConfig config, BrokerOptions options) {
    synchronized (STARTING) {
      Exit.setHaltProcedure(EmbeddedBroker::refuseHalt);
      Exit.setExitProcedure(EmbeddedBroker::refuseHalt);
      KafkaRaftServer server = null;
      try {
        server = new KafkaRaftServer(config, Time.SYSTEM);
        server.startup();
        return server;
      } catch (RuntimeException | Error e) {
        shutdownQuietly(server);
        throw new BrokerStartException(
            "the embedded broker did not start on "
                + options.dataDir()
                + " ("
                + e
                + "); Kafka's"
                + " log lines above name the cause",
            e);
      } finally {
        Exit.resetHaltProcedure();
        Exit.resetExitProcedure();
      }
    }
  }

  private static void refuseHalt(int status, @Nullable String message) {
    throw new Halted(status, message);
  }

  /** What Kafka's end of the process has become. */
  private static final class Halted extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    Halted(int status, @Nullable String message) {
      super("broker halted with status " + status + (message == null ? "" : ": " + message));
    }
  }

  private static void shutdownQuietly(@Nullable KafkaRaftServer server) {
    if (server == null) {
      return;
    }
    try {
      server.shutdown();
    } catch (RuntimeException e) {
      LOG.debug("shutdown after a failed start", e);
    }
  }

  /** All are probed first: Kafka's own answer to a taken one is a halt. */
  private static Ports ports(BrokerOptions options) {
    BrokerCluster cluster = options.cluster();
    try (ServerSocket clients = new ServerSocket();
        ServerSocket controller = new ServerSocket()) {
      bind(clients, options.host(), options.port());
      bind(
          controller,
          cluster == null ? options.host() : cluster.controllerHost(),
          cluster == null ? 0 : cluster.controllerPort());
      return new Ports(clients.getLocalPort(), controller.getLocalPort());
    } catch (IOException e) {
      throw new BrokerStartException("no socket to be had: " + e.getMessage(), e);
    }
  }

  private static void bind(ServerSocket socket, String host, int port) {
    try {
      socket.bind(new InetSocketAddress(host, port));
    } catch (IOException e) {
      throw new BrokerStartException(
          "cannot listen on " + BrokerSettings.at(host, port) + ": " + e.getMessage(), e);
    }
  }

  /** What clients put into {@code bootstrap.servers}: {@code host:port}. */
  public String bootstrapServers() {
    return bootstrapServers;
  }

  /** Stops the broker cleanly (controlled shutdown, logs flushed) and frees the directory. */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    try {
      server.shutdown();
      server.awaitShutdown();
    } finally {
      directory.close();
    }
  }
}
