// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import org.jspecify.annotations.Nullable;

/** Carries questions to other replicas. Thread-safe; does not wait. */
@FunctionalInterface
interface Transport extends AutoCloseable {

  /** Takes one answer. */
  interface Reply {

    /**
     * Told once, by any thread, that of the one who asks too; must not wait.
     *
     * @param body of the answer, null = there is none
     * @param problem why not
     */
    void told(byte @Nullable [] body, @Nullable Throwable problem);
  }

  /**
   * Asks.
   *
   * @param address {@code host:port}
   * @param forNanos how long the answer is of use
   */
  void ask(String address, String path, byte[] body, long forNanos, Reply reply);

  /** What is not answered yet is not answered any more. */
  @Override
  default void close() {}
}
