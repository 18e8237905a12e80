// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

/**
 * Sound msgpack that is not the event it claims to be. Carries no stack trace: it is thrown for
 * what strangers send, and never leaves this package.
 */
@SuppressWarnings("serial") // never serialised
final class MalformedEvent extends RuntimeException {

  MalformedEvent() {
    super("malformed event", null, false, false);
  }
}
