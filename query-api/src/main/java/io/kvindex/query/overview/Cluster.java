// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.overview;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** Tells of all replicas and what they hold. Thread-safe; does not wait. */
@FunctionalInterface
public interface Cluster {

  /** Where nothing is known of any. */
  Cluster UNKNOWN =
      () -> {
        ObjectNode out = JsonNodeFactory.instance.objectNode();
        out.putArray("replicas");
        out.putArray("partitions");
        return out;
      };

  /** Body of {@code GET /cluster}. */
  ObjectNode describe();
}
