// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import java.time.Duration;

/** What has to be done before the next batch is looked at. */
sealed interface Decision {

  /** Nothing: the batch is dealt with. */
  Decision GO_ON = new GoOn();

  /** The batch was taken or dropped. */
  record GoOn() implements Decision {}

  /**
   * The replay has to be read; a live batch waits meanwhile.
   *
   * @param delay how long to wait before
   */
  record Ask(Duration delay) implements Decision {}

  /**
   * Nothing is missing as far as the replay knows, which is asked again unless live batches tell.
   */
  record AskIfQuiet() implements Decision {}

  /**
   * The engine is not the one that sent what came before; a live batch waits meanwhile.
   *
   * @param evidence how that shows, for people
   */
  record EndLife(String evidence) implements Decision {}
}
