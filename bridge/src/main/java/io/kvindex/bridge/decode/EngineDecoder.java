// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import io.kvindex.model.SourceType;

/**
 * Decodes the payloads of one engine family. Implementations are stateless and safe for all
 * threads.
 */
public interface EngineDecoder {

  /**
   * Decodes one payload. Never throws for what the bytes hold and takes time and memory linear in
   * their number, whatever lengths they declare.
   *
   * @param payload the last frame of a live or replay message; not changed, not kept
   * @return the batch, or why there is none
   */
  DecodeResult decode(byte[] payload);

  /** The decoder for publishers registered with that type. */
  static EngineDecoder forSource(SourceType type) {
    return switch (type) {
      case SGLANG -> new SglangDecoder();
      case KV_EVENTS -> new EnvelopeDecoder();
      case MOONCAKE -> new MooncakeDecoder();
      case VLLM, TENSORRT_LLM -> new VllmDecoder();
    };
  }
}
