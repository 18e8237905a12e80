// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

/**
 * Sound msgpack that is not the event it claims to be. Carries no stack trace: it is thrown for
 * what strangers send, and never leaves this package.
 */
@SuppressWarnings("serial") // never serialised
final class MalformedEvent extends RuntimeException {

  private final SkipReason reason;

  MalformedEvent() {
    this(SkipReason.MALFORMED);
  }

  MalformedEvent(SkipReason reason) {
    super("malformed event", null, false, false);
    this.reason = reason;
  }

  /** What the event is counted as. */
  SkipReason reason() {
    return reason;
  }
}
