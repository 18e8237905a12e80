// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import java.io.IOException;

/** What a peer sends is no dump, or more than is taken. */
final class MalformedDumpException extends IOException {

  private static final long serialVersionUID = 1;

  MalformedDumpException(String message) {
    super(message);
  }
}
