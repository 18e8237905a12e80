// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.ZMQ;

/**
 * Ends a ZeroMQ context without waiting for ever. JeroMQ waits until its reaper has closed all
 * sockets ({@code zmq.Ctx.terminate}, 0.6.0), without a limit; where the reaper has died, or a
 * socket was left open, whoever waits would never come back.
 */
final class ContextEnd {
  private static final Logger LOG = LoggerFactory.getLogger(ContextEnd.class);

  private ContextEnd() {}

  /**
   * Ends it in a thread of its own and waits for that.
   *
   * @return whether it has ended; else that thread goes on waiting, and goes with the process
   */
  static boolean within(Duration longest, ZMQ.Context context) throws InterruptedException {
    Thread thread = new Thread(context::term, "zmq-term");
    thread.setDaemon(true);
    thread.start();
    thread.join(longest.toMillis());
    if (thread.isAlive()) {
      LOG.warn(
          "ZeroMQ still holds sockets after {} s; they are closed when this process ends",
          longest.toSeconds());
      return false;
    }
    return true;
  }
}
