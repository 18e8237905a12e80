// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.metrics;

import java.util.Locale;

/** What metrics and records name in small letters: constants of enums. */
public interface Labelled {

  /** The constant's own name. */
  String name();

  /** Its name in metrics, and in progress and quarantine records. */
  default String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
