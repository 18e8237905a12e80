// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.view;

/** A partition's rows could not be read to their end: it was closed, or is not loaded yet. */
public final class DumpFailedException extends Exception {

  private static final long serialVersionUID = 1;

  public DumpFailedException(String message) {
    super(message);
  }

  public DumpFailedException(String message, Throwable cause) {
    super(message, cause);
  }
}
