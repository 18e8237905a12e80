// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

/**
 * How often a {@link LossyProxy} does what to a message; each a probability from 0 to 1, tried in
 * this order, at most one a message.
 *
 * @param dropped never passed on
 * @param duplicated passed on twice
 * @param delayed passed on after some of those behind it
 * @param truncated passed on with half of its payload
 */
public record Faults(double dropped, double duplicated, double delayed, double truncated) {

  /** Passes everything on as it is. */
  public static final Faults NONE = new Faults(0, 0, 0, 0);

  public Faults {
    double sum = dropped + duplicated + delayed + truncated;
    if (dropped < 0 || duplicated < 0 || delayed < 0 || truncated < 0 || sum > 1) {
      throw new IllegalArgumentException("no probabilities: " + sum);
    }
  }
}
