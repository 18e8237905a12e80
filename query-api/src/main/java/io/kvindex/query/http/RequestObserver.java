// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import org.eclipse.jetty.server.Request;

/**
 * Is told of every request when its answer was sent. Called by all server threads; must not block.
 */
@FunctionalInterface
public interface RequestObserver {
  /** Attribute of a query's request: the model it names. */
  String MODEL = "kvindex.model";

  /** Watches nothing. */
  RequestObserver NONE = (request, status, nanos) -> {};

  /**
   * @param request valid during the call only
   * @param status as answered
   * @param nanos since its first byte
   */
  void completed(Request request, int status, long nanos);

  /** This one, and then another. */
  default RequestObserver and(RequestObserver other) {
    return (request, status, nanos) -> {
      completed(request, status, nanos);
      other.completed(request, status, nanos);
    };
  }
}
