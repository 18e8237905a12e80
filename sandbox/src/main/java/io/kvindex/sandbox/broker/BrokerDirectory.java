// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.broker;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.stream.Stream;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.MetadataVersion;
import org.jspecify.annotations.Nullable;

/**
 * The broker's data directory, held by one process at a time.
 *
 * <pre>
 * dataDir/
 *   broker.lock   locked while a broker runs; holds its process id
 *   kafka/        Kafka's log directory; formatted beside and renamed, so it is whole or absent
 * </pre>
 */
final class BrokerDirectory implements AutoCloseable {
  private static final String LOCK = "broker.lock";
  private static final String KAFKA = "kafka";
  private static final String KAFKA_UNFINISHED = "kafka.unfinished";
  private static final String META = "meta.properties";

  private final Path root;
  private final FileChannel lockFile;
  private final FileLock lock;

  private BrokerDirectory(Path root, FileChannel lockFile, FileLock lock) {
    this.root = root;
    this.lockFile = lockFile;
    this.lock = lock;
  }

  /** Creates the directory when absent, refuses a foreign one, takes the lock. */
  static BrokerDirectory open(Path root) {
    try {
      Files.createDirectories(root);
      refuseForeign(root);
      return lock(root);
    } catch (IOException e) {
      throw new BrokerStartException("cannot use data directory " + root + ": " + e, e);
    }
  }

  private static void refuseForeign(Path root) throws IOException {
    try (Stream<Path> entries = Files.list(root)) {
      List<String> names = entries.map(p -> String.valueOf(p.getFileName())).sorted().toList();
      if (!names.isEmpty() && !names.contains(LOCK) && !names.contains(KAFKA)) {
        throw new BrokerStartException(
            "data directory "
                + root
                + " holds other files ("
                + names.get(0)
                + "...) and no broker"
                + " data: name an empty or absent directory",
            null);
      }
    }
  }

  private static BrokerDirectory lock(Path root) throws IOException {
    FileChannel file =
        FileChannel.open(
            root.resolve(LOCK),
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE);
    try {
      FileLock lock = file.tryLock();
      if (lock != null) {
        file.truncate(0);
        String pid = Long.toString(ProcessHandle.current().pid());
        file.write(ByteBuffer.wrap(pid.getBytes(UTF_8)), 0);
        return new BrokerDirectory(root, file, lock);
      }
    } catch (OverlappingFileLockException e) {
      // Held by this very process: answered below like any other holder.
    }
    String holder = Files.readString(root.resolve(LOCK));
    file.close();
    throw new BrokerStartException(
        "data directory "
            + root
            + " is in use by another broker (process "
            + holder
            + "): stop it"
            + " or name another directory",
        null);
  }

  /** Kafka's log directory, formatted on first use and checked on each later one. */
  Path kafkaLogs(BrokerOptions options) {
    Path logs = root.resolve(KAFKA);
    try {
      if (Files.exists(logs)) {
        check(logs.resolve(META), options);
      } else {
        format(logs, options);
      }
      return logs;
    } catch (BrokerStartException e) {
      throw e;
    } catch (Exception e) { // Formatter.run declares it
      throw new BrokerStartException("cannot prepare broker data in " + logs + ": " + e, e);
    }
  }

  private void format(Path logs, BrokerOptions options) throws Exception {
    BrokerCluster cluster = options.cluster();
    Path unfinished = root.resolve(KAFKA_UNFINISHED);
    deleteTree(unfinished);
    Files.createDirectories(unfinished);
    new Formatter()
        .setPrintStream(new PrintStream(OutputStream.nullOutputStream(), false, UTF_8))
        .setNodeId(options.nodeId())
        .setClusterId(cluster == null ? Uuid.randomUuid().toString() : cluster.clusterId())
        .addDirectory(unfinished.toString())
        .setMetadataLogDirectory(unfinished.toString())
        .setControllerListenerName(BrokerSettings.CONTROLLER_LISTENER)
        .setReleaseVersion(MetadataVersion.LATEST_PRODUCTION)
        .run();
    Files.move(unfinished, logs, StandardCopyOption.ATOMIC_MOVE);
  }

  /** Kafka itself would halt the process without a word to the user on most of these. */
  private static void check(Path meta, BrokerOptions options) throws IOException {
    Properties properties = new Properties();
    try (Reader reader = Files.newBufferedReader(meta)) {
      properties.load(reader);
    } catch (IOException | IllegalArgumentException e) {
      throw damaged(meta, "cannot be read (" + e + ")", e);
    }
    String nodeId = properties.getProperty("node.id");
    String clusterId = properties.getProperty("cluster.id");
    if (clusterId == null || nodeId == null) {
      throw damaged(meta, "has no cluster.id or node.id", null);
    }
    if (!nodeId.equals(Integer.toString(options.nodeId()))) {
      throw damaged(
          meta,
          "belongs to node " + nodeId + " of a Kafka cluster, this one is node " + options.nodeId(),
          null);
    }
    BrokerCluster cluster = options.cluster();
    if (cluster != null && !clusterId.equals(cluster.clusterId())) {
      throw damaged(meta, "belongs to another Kafka cluster than " + cluster.name(), null);
    }
  }

  private static BrokerStartException damaged(Path meta, String what, @Nullable Exception cause) {
    return new BrokerStartException(
        "broker data is damaged or foreign: "
            + meta
            + " "
            + what
            + ". Restore it from a backup, or"
            + " move "
            + Objects.requireNonNull(meta.getParent())
            + " away to start empty",
        cause);
  }

  static void deleteTree(Path tree) throws IOException {
    if (!Files.exists(tree)) {
      return;
    }
    try (Stream<Path> paths = Files.walk(tree)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }

  /** Gives the directory free; the data stays. */
  @Override
  public void close() {
    try {
      lock.release();
      lockFile.close();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot unlock " + root, e);
    }
  }
}
