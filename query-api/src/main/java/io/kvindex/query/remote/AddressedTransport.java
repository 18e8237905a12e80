// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Carries questions about the tables of one site.
 *
 * @param cluster Kafka's id of the cluster, empty = not known yet
 */
record AddressedTransport(Supplier<String> cluster, Transport wire) implements Transport {

  @Override
  public void ask(
      String address,
      String path,
      byte[] body,
      long forNanos,
      BiConsumer<byte @Nullable [], @Nullable Throwable> done) {
    wire.ask(address, path, new Addressed(cluster.get(), body).encode(), forNanos, done);
  }

  @Override
  public void close() {
    wire.close();
  }
}
