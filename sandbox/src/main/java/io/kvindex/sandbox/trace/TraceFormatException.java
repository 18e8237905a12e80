// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.trace;

import java.io.IOException;

/** A line of a trace is no request; the message names source, line and reason. */
public final class TraceFormatException extends IOException {
  private static final long serialVersionUID = 1L;

  TraceFormatException(String message, Exception cause) {
    super(message, cause);
  }
}
