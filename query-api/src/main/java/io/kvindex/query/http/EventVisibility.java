// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.parse.MinEvent;
import io.kvindex.query.parse.QueryBody;

/** Tells how far engines' events are visible in answers. Thread-safe; no method blocks. */
public interface EventVisibility {

  /** Where nothing is known of any event. */
  EventVisibility UNKNOWN =
      new EventVisibility() {
        @Override
        public boolean isVisible(String tenant, MinEvent event) {
          return false;
        }

        @Override
        public String howFar(String tenant, MinEvent event) {
          return "nothing is known of its publisher here";
        }
      };

  /** Whether answers show the event and all before it. */
  boolean isVisible(String tenant, MinEvent event);

  /**
   * Offset of the events topic up to which answers show the publisher of a visible event, {@link
   * QueryBody#ANY_OFFSET} = not known: an answer that shows this offset shows the event.
   */
  default long visibleFrom(String tenant, MinEvent event) {
    return QueryBody.ANY_OFFSET;
  }

  /** For people: how far its publisher is visible. */
  String howFar(String tenant, MinEvent event);
}
