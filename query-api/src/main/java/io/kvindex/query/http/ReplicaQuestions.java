// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Answers what other replicas of this index ask. Thread-safe; no method blocks. */
public interface ReplicaQuestions {

  /** Where there are no others. */
  ReplicaQuestions NONE = Map::of;

  /** Answers one question. */
  interface Answer {

    /**
     * @param question the request's body
     * @param parameters the request's query string, null if it has none
     * @return the answer's body
     * @throws io.kvindex.query.error.ApiException to refuse
     */
    byte[] to(byte[] question, @Nullable String parameters);
  }

  /** How each path is answered; always the same paths. */
  Map<String, Answer> byPath();
}
