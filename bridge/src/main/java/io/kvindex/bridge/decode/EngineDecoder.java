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

  /**
   * The decoder for publishers registered with that type.
   *
   * <p>Pools and publishers of the standard envelope use the map form, which the vLLM decoder reads
   * as far as it goes: their own members are not decoded yet.
   */
  static EngineDecoder forSource(SourceType type) {
    return type == SourceType.SGLANG ? new SglangDecoder() : new VllmDecoder();
  }
}
