// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.site;

/** A topic is not the one the site's positions belong to; the message says what to do. */
public final class TopicRecreatedException extends RuntimeException {

  TopicRecreatedException(String message) {
    super(message);
  }
}
