// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Parts of a process, closed in the opposite order of their start; one that fails does not keep the
 * others open.
 */
final class Closing implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Closing.class);

  private final Deque<AutoCloseable> parts = new ArrayDeque<>();

  synchronized <T extends AutoCloseable> T add(T part) {
    parts.push(part);
    return part;
  }

  @Override
  public synchronized void close() {
    while (!parts.isEmpty()) {
      AutoCloseable part = parts.pop();
      try {
        part.close();
      } catch (Exception e) {
        LOG.error("{} did not close cleanly", part.getClass().getSimpleName(), e);
      }
    }
  }
}
