// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Carries questions to other replicas. Thread-safe; does not wait. */
interface Transport extends AutoCloseable {

  /**
   * Asks.
   *
   * @param address {@code host:port}
   * @param forNanos how long the answer is of use
   * @param done told once the body of the answer, or why there is none; on any thread, this one
   *     too; must not wait
   */
  void ask(
      String address,
      String path,
      byte[] body,
      long forNanos,
      BiConsumer<byte @Nullable [], @Nullable Throwable> done);

  /** What is not answered yet is not answered any more. */
  @Override
  void close();
}
