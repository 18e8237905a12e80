// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.parse.MinEvent;
import io.kvindex.query.parse.QueryBody.EventPlace;
import org.jspecify.annotations.Nullable;

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

  /** Up to where answers show the publisher of a visible event, null = not known. */
  default @Nullable EventPlace place(String tenant, MinEvent event) {
    return null;
  }

  /** For people: how far its publisher is visible. */
  String howFar(String tenant, MinEvent event);
}
