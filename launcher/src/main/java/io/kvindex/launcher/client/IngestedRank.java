// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.sandbox.engine.PayloadPublisher;
import java.io.IOException;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One rank's events on their way: published under their own numbers, so that a number that is
 * missing is a hole, and numbers that begin again at 0 are a new life. One that comes again
 * otherwise is left out. Never further ahead of what answers show than the replay reaches back.
 */
final class IngestedRank implements AutoCloseable {

  private static final int AHEAD = PayloadPublisher.KEPT / 2;
  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(50);

  private final ApiClient api;
  private final ObjectNode registration;
  private final PayloadPublisher publisher;
  private final TrtllmTranslator translator;
  private final Map<String, Long> counts;
  private final int patienceSeconds;
  private long last = -1;
  private @Nullable JsonNode lastObject;
  private int unseen;

  /** The life before the one being sent, null = there was none. */
  private @Nullable Life former;

  /** A process's life as answers show it: a registration's number, then the life's within it. */
  private record Life(long generation, long life) implements Comparable<Life> {

    /** The one whose events answers show, null = nobody's. */
    static @Nullable Life shownBy(JsonNode listener) {
      JsonNode shown = listener.path("visible_incarnation");
      return shown.isMissingNode()
          ? null
          : new Life(shown.path("generation").asLong(), shown.path("life").asLong());
    }

    @Override
    public int compareTo(Life other) {
      return Comparator.comparingLong(Life::generation)
          .thenComparingLong(Life::life)
          .compare(this, other);
    }
  }

  /**
   * Opens the sockets and makes the server follow them.
   *
   * @param registration without the endpoints
   * @param counts what became of events, added to
   */
  IngestedRank(
      ApiClient api,
      ObjectNode registration,
      String host,
      TrtllmTranslator translator,
      Map<String, Long> counts,
      int patienceSeconds)
      throws IOException, InterruptedException {
    this.api = api;
    this.registration = registration;
    this.translator = translator;
    this.counts = counts;
    this.patienceSeconds = patienceSeconds;
    publisher = new PayloadPublisher("ingest-" + registration.path("instance_id").asText(), host);
    try {
      registration
          .put("endpoint", publisher.endpoint())
          .put("replay_endpoint", publisher.replayEndpoint());
      former = Life.shownBy(listener());
      api.post("/register", registration);
    } catch (IOException | InterruptedException e) {
      publisher.close();
      throw e;
    }
  }

  /**
   * Sends one event.
   *
   * @return whether it was; false if its number was there before
   * @throws UnreadableEvent if it says something that cannot be read
   */
  boolean take(long id, JsonNode object) throws IOException, InterruptedException, UnreadableEvent {
    if (id <= last) {
      if (id != 0 || object.equals(lastObject)) {
        counts.merge("skipped_repeated_event_id", 1L, Long::sum);
        return false;
      }
      beginAgain();
    } else if (id > last + 1) {
      counts.merge("missing", id - last - 1, Long::sum);
    }
    publisher.publish(id, translator.translate(object));
    last = id;
    lastObject = object;
    if (++unseen >= AHEAD) {
      awaitVisible();
    }
    return true;
  }

  /** Its numbers begin anew, so it is another process with an empty cache. */
  private void beginAgain() throws IOException, InterruptedException {
    awaitVisible();
    former = Life.shownBy(listener());
    counts.merge("restarts", 1L, Long::sum);
    translator.restart();
    publisher.restart();
    last = -1;
  }

  /**
   * Waits until answers show all that was sent.
   *
   * @throws IOException if that takes too long
   */
  void awaitVisible() throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(patienceSeconds);
    while (!isVisible()) {
      if (System.nanoTime() - deadline > 0) {
        throw new IOException(
            "event "
                + last
                + " is not visible after "
                + patienceSeconds
                + " s; does the bridge reach "
                + publisher.endpoint()
                + "? It says: "
                + listener().path("last_error").asText("nothing"));
      }
      LockSupport.parkNanos(POLL_NS);
    }
    unseen = 0;
  }

  /**
   * The numbers count anew in each life: those of the one before say nothing, and a replica that
   * has just begun may not have told of it yet.
   */
  private boolean isVisible() throws IOException, InterruptedException {
    JsonNode listener = listener();
    Life shown = Life.shownBy(listener);
    return last < 0
        || shown != null
            && shown.generation() >= listener.path("generation").asLong()
            && (former == null || shown.compareTo(former) > 0)
            && listener.path("endpoint").asText().equals(publisher.endpoint())
            && listener.path("visible_event_id").asLong(-1) >= last;
  }

  private JsonNode listener() throws IOException, InterruptedException {
    for (JsonNode worker : api.get("/workers")) {
      if (worker.path("instance_id").equals(registration.path("instance_id"))
          && worker.path("tenant_id").equals(registration.path("tenant_id"))) {
        return worker.path("listeners").path(registration.path("dp_rank").asText());
      }
    }
    return ApiClient.JSON.createObjectNode();
  }

  @Override
  public void close() {
    publisher.close();
  }
}
