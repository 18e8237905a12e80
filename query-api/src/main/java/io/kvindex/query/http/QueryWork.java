// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.dialect.Dialect;

/** What is done with a body that was read; may pause until an event is visible. */
interface QueryWork {

  /**
   * Begins, or goes on where it paused.
   *
   * @param mayPause whether there is time to wait for events
   * @return true when the reply is complete, false to be called again once {@link #mayGoOn}
   * @throws io.kvindex.query.error.ApiException to refuse the request
   */
  boolean proceed(boolean mayPause);

  /** Whether what it paused for has happened. Any thread. */
  boolean mayGoOn();

  /** Counts the answer. */
  void answered(long nanos);

  /** Whose words a refusal has to be in; known once it has begun, whatever came of it. */
  Dialect dialect();
}
