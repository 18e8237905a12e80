// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import java.util.List;

/**
 * Payloads of publishers that speak the standard itself (RFC 1527): the batches of vLLM, each event
 * a map with the whole envelope. An event without a number of its own is left out, as nothing says
 * where in its stream it belongs.
 */
public final class EnvelopeDecoder implements EngineDecoder {

  /** The standard has no positional form, so nothing is expected at any place. */
  private static final EventLayout LAYOUT = new EventLayout(List.of(), List.of());

  @Override
  public DecodeResult decode(byte[] payload) {
    return new BatchReader(payload, LAYOUT, true).read();
  }
}
