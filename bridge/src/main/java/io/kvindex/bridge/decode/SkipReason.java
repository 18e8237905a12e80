// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import java.util.Locale;

/** Why a single event of a good batch was left out. */
public enum SkipReason {
  /** A tag this version does not know. */
  UNKNOWN_TAG,
  /** No tag, a required member missing, or a member of an impossible type or value. */
  MALFORMED;

  /** Name in metrics. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
