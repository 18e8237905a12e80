// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

/**
 * Sound msgpack that is not the event it claims to be. One shared instance without a stack trace:
 * it is thrown for what strangers send, and never leaves this package.
 */
@SuppressWarnings("serial") // never serialised
final class MalformedEvent extends RuntimeException {

  static final MalformedEvent INSTANCE = new MalformedEvent();

  private MalformedEvent() {
    super("malformed event", null, false, false);
  }
}
