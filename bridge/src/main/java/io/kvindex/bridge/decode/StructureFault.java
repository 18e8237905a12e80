// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

/**
 * The bytes are no msgpack value. Carries no stack trace: it is thrown for what strangers send, and
 * never leaves this package.
 */
@SuppressWarnings("serial") // never serialised
final class StructureFault extends RuntimeException {

  private final RejectReason reason;

  StructureFault(RejectReason reason) {
    super(reason.label(), null, false, false);
    this.reason = reason;
  }

  RejectReason reason() {
    return reason;
  }
}
