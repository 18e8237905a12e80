// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Carries questions about one application's table. */
record AddressedTransport(String application, Transport wire) implements Transport {

  @Override
  public void ask(
      String address,
      String path,
      byte[] body,
      long forNanos,
      BiConsumer<byte @Nullable [], @Nullable Throwable> done) {
    wire.ask(address, path, new Addressed(application, body).encode(), forNanos, done);
  }

  @Override
  public void close() {
    wire.close();
  }
}
