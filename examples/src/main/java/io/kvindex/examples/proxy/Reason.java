// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.proxy;

import java.util.Locale;

/** Why a request went where it went: the value of {@code X-Route-Reason}, counted in metrics. */
enum Reason {
  /** To the engine with the longest match. */
  MATCH,
  /** To another one: the one with the longest match had too much to do, or refused. */
  LOAD,
  /** kvindex answered; no engine has anything of the prompt. Least loaded. */
  NO_MATCH,
  /** Nothing to ask about: not a request with a prompt, or it could not be tokenized. */
  NO_TOKENS,
  /** kvindex can not be reached, or its connection broke. Least loaded, as all that follow. */
  INDEX_AWAY,
  /** kvindex did not answer within the deadline. */
  INDEX_LATE,
  /** kvindex answered with another status than 200. */
  INDEX_REFUSED,
  /** kvindex says that its index is not being kept up. */
  INDEX_STALE,
  /** kvindex says that events were lost of every engine that has a match. */
  INDEX_DEGRADED;

  /** The form in headers and labels. */
  String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
