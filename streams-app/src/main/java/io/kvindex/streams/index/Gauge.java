// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.concurrent.atomic.AtomicLong;

/** A figure one thread changes and any thread reads, possibly a moment late. */
final class Gauge extends AtomicLong {

  private static final long serialVersionUID = 1;

  void add(long difference) {
    setOpaque(getPlain() + difference);
  }
}
