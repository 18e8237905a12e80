// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.zmq.IoLoop;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.model.registration.Endpoint;
import io.kvindex.model.registration.Registration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The event socket of one publisher: opened as soon as it can be, and aware of new connections. For
 * its loop's thread only, except the listener's methods.
 */
final class Subscription implements IoLoop.Listener {

  private static final Logger LOG = LoggerFactory.getLogger(Subscription.class);

  private final Registration registration;
  private final Followers site;
  private final IoLoop loop;
  private final FollowStatus status;
  private final IoLoop.Reader reader;
  private final Later later;
  private final Runnable changed;
  private final AtomicBoolean newConnection = new AtomicBoolean();
  private boolean open;

  /**
   * @param changed told, by any thread, that there is a new connection
   */
  Subscription(
      Registration registration,
      Followers site,
      IoLoop loop,
      FollowStatus status,
      IoLoop.Reader reader,
      Later later,
      Runnable changed) {
    this.registration = registration;
    this.site = site;
    this.loop = loop;
    this.status = status;
    this.reader = reader;
    this.later = later;
    this.changed = changed;
  }

  /**
   * Opens it; tries again later where that is not possible now.
   *
   * @param prepare what else has to work before
   */
  void open(Runnable prepare) {
    if (open) {
      return;
    }
    Endpoint endpoint;
    try {
      endpoint = Endpoint.parse(registration.endpoint());
    } catch (IllegalArgumentException e) { // registered before there was a check
      status.failed("can not follow " + registration.endpoint() + ": " + e.getMessage());
      return;
    }
    try {
      prepare.run();
      loop.subscribe(
          endpoint,
          registration.options().topic(),
          site.limits.socketHighWaterMark(),
          this,
          reader);
      open = true;
      status.phase(PublisherState.PENDING);
    } catch (RuntimeException e) {
      status.failed("can not follow " + registration.endpoint() + ": " + e.getMessage());
      LOG.debug("publisher={}", registration.publisher(), e);
      later.run(() -> open(prepare), site.limits.retry());
    }
  }

  /** Whether there was a new connection since the last call. */
  boolean takeNewConnection() {
    return newConnection.getAndSet(false);
  }

  void close() {
    if (open) {
      loop.unsubscribe(reader);
      open = false;
    }
  }

  @Override
  public void connected() {
    status.connected(true);
    newConnection.set(true);
    changed.run();
  }

  @Override
  public void disconnected() {
    status.connected(false);
    status.problem("connection to " + registration.endpoint() + " was lost");
  }

  @Override
  public void unresolved(String problem) {
    status.failed("can not follow " + registration.endpoint() + ": " + problem);
  }
}
