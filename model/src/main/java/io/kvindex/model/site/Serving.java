// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.site;

import java.util.Objects;

/**
 * Which application's table a site's replicas answer from.
 *
 * @param number how often that was changed, from 0; of two statements the one with the higher
 *     number counts
 * @param application its id in Kafka
 */
public record Serving(long number, String application) {

  /** Application id where nobody ever said otherwise. */
  public static final String DEFAULT_APPLICATION = "kvindex";

  /** What holds until somebody says otherwise. */
  public static final Serving DEFAULT = new Serving(0, DEFAULT_APPLICATION);

  public Serving {
    Objects.requireNonNull(application, "application");
    if (number < 0 || application.isBlank()) {
      throw new IllegalArgumentException(
          "a site is served by application `" + application + "`, change " + number);
    }
  }

  /** The next change, to another application. */
  public Serving next(String other) {
    return new Serving(number + 1, other);
  }
}
