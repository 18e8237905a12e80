// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

/** How an event is laid out; the batch around it is an array in both. */
public enum EventForm {
  /** Positional array, tag first: vLLM before #42892, SGLang before #37482. */
  ARRAY,
  /** Map with a {@code type} key: vLLM from 0.24-0.26 on, SGLang from September 2026 on. */
  MAP
}
