// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.chaos;

/**
 * Numbers that tests turn down, so that what takes long or much to happen happens in seconds. Each
 * is a system property for the whole process and for tests only; unset, the code's own number
 * counts.
 */
public enum Knob {
  /** Most bytes on their way to Kafka, at least 1 MiB: {@code Bridge.inFlightBytes}. */
  SEND_BUDGET_BYTES("kvindex.unsafe.send-budget-bytes");

  private final String property;

  Knob(String property) {
    this.property = property;
  }

  /** The option that makes a JVM use that number. */
  public String option(long value) {
    return "-D" + property + "=" + value;
  }

  /** The number given to this process, else the code's own. */
  public long or(long own) {
    return Long.getLong(property, own);
  }
}
