// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Carries questions about one application's table.
 *
 * @param cluster Kafka's id of the cluster, empty = not known yet
 */
record AddressedTransport(String application, Supplier<String> cluster, Transport wire)
    implements Transport {

  @Override
  public void ask(
      String address,
      String path,
      byte[] body,
      long forNanos,
      BiConsumer<byte @Nullable [], @Nullable Throwable> done) {
    wire.ask(
        address, path, new Addressed(cluster.get(), application, body).encode(), forNanos, done);
  }

  @Override
  public void close() {
    wire.close();
  }
}
