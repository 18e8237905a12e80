// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.registration;

import java.util.Locale;

/** In what ways one block may be cut into several objects of a store, outermost first. */
public enum ShardDimension {
  /** Tensor parallel rank, or range of attention heads. */
  TP,
  /** Prefill context parallel rank. */
  PCP,
  /** Decode context parallel rank. */
  DCP,
  /** Pipeline parallel rank. */
  PP,
  /** Layer, where each is put by itself. */
  LAYERS,
  /** Keys and values, where they are objects of their own: 2. */
  KV;

  /** Name in registrations. */
  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
