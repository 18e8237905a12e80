// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.topic;

/**
 * A topic exists in a shape kvindex can not work with; the message names the topic, both values and
 * what is at stake.
 */
public final class TopicMismatchException extends RuntimeException {

  public TopicMismatchException(String message) {
    super(message);
  }
}
