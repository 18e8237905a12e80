// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

/** Frames of a replay reply, as a DEALER sees them. */
public enum ReplayFraming {
  /** {@code ["", topic, seq, payload]}, end {@code ["", "", ff x 8, ""]}: vLLM #45177, v0.26. */
  VLLM_026,
  /** {@code ["", seq, payload]}, end {@code ["", ff x 8, ""]}: vLLM before 0.26, SGLang. */
  OLD
}
