// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.event;

/**
 * Bytes that should be one of our records are not. The message says what is wrong, never the bytes.
 */
public final class MalformedRecordException extends RuntimeException {

  public MalformedRecordException(String message) {
    super(message);
  }

  public MalformedRecordException(String message, Throwable cause) {
    super(message, cause);
  }
}
