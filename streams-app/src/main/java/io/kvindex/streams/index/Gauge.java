// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** A figure one thread changes and any thread reads, possibly a moment late. */
final class Gauge {

  private static final VarHandle VALUE;

  static {
    try {
      VALUE = MethodHandles.lookup().findVarHandle(Gauge.class, "value", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @SuppressWarnings("UnusedVariable") // read and written through VALUE
  private long value;

  void add(long difference) {
    VALUE.setOpaque(this, (long) VALUE.getOpaque(this) + difference);
  }

  long get() {
    return (long) VALUE.getOpaque(this);
  }
}
