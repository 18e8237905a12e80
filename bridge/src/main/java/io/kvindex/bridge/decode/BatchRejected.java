// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

/**
 * A payload that is no event batch as a whole. Its sequence still counts as seen: asking for it
 * again would bring the same bytes.
 *
 * @param reason what is wrong with it
 */
public record BatchRejected(RejectReason reason) implements DecodeResult {

  @Override
  public long timestampMicros() {
    return 0;
  }
}
