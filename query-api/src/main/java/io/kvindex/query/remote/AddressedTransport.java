// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Carries questions about the tables of one log.
 *
 * @param log Kafka's id of the events topic, empty = not known yet
 */
record AddressedTransport(Supplier<String> log, Transport wire) implements Transport {

  @Override
  public void ask(
      String address,
      String path,
      byte[] body,
      long forNanos,
      BiConsumer<byte @Nullable [], @Nullable Throwable> done) {
    wire.ask(address, path, new Addressed(log.get(), body).encode(), forNanos, done);
  }

  @Override
  public void close() {
    wire.close();
  }
}
