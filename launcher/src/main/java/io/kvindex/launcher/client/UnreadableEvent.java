// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

/**
 * An event that says something of its blocks which cannot be read; left out it would be a lie, so
 * the file is refused. The message says which member and why.
 */
final class UnreadableEvent extends Exception {

  private static final long serialVersionUID = 1L;

  UnreadableEvent(String message) {
    super(message);
  }
}
