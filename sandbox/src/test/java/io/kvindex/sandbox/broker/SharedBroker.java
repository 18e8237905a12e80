// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.broker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One embedded broker for all tests of a JVM, started by the first who asks, stopped and its files
 * deleted when the JVM ends. Tests keep apart by topic and application names: {@link #unique}.
 * Thread-safe.
 */
public final class SharedBroker {
  private static final AtomicLong NAMES = new AtomicLong();

  private SharedBroker() {}

  /** The running broker's {@code bootstrap.servers}. */
  public static String bootstrapServers() {
    return Holder.BROKER.bootstrapServers();
  }

  /** A topic, group or application name nobody else in this JVM has. */
  public static String unique(String prefix) {
    return prefix.toLowerCase(Locale.ROOT) + "-" + NAMES.incrementAndGet();
  }

  private static final class Holder {
    static final EmbeddedBroker BROKER = startForJvm();

    private static EmbeddedBroker startForJvm() {
      try {
        Path dataDir = Files.createTempDirectory("kvindex-broker");
        EmbeddedBroker broker = EmbeddedBroker.start(dataDir);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> end(broker, dataDir), "broker-end"));
        return broker;
      } catch (IOException e) {
        throw new UncheckedIOException("no temporary directory for the shared broker", e);
      }
    }

    private static void end(EmbeddedBroker broker, Path dataDir) {
      broker.close();
      try {
        BrokerDirectory.deleteTree(dataDir);
      } catch (IOException e) {
        // The JVM is ending and nobody reads a log any more; the system's temp cleaner takes it.
      }
    }
  }
}
