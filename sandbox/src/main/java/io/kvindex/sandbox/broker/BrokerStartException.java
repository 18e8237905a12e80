// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.broker;

import org.jspecify.annotations.Nullable;

/** The embedded broker did not start; the message names the directory or port and what to do. */
public final class BrokerStartException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * @param message for people: what is wrong and what to do about it
   * @param cause what Kafka or the file system said, or null when we noticed it ourselves
   */
  public BrokerStartException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
