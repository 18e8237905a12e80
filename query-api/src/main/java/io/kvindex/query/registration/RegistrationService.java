// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import io.kvindex.model.PublisherId;
import io.kvindex.model.registration.Registration;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;

/**
 * Decides what a registration means beside those there are, writes it, and answers once it is
 * durable and visible here. An equal registration is never written again: a new record would be a
 * new generation and hide everything the publisher announced so far. Thread-safe; calls block.
 */
public final class RegistrationService implements AutoCloseable {
  private static final int STRIPES = 64;

  private final RegistrationTable table;
  private final RegistrationLog log;
  private final long timeoutNanos;
  // Two requests about one publisher through this replica go one after the other. Through two
  // replicas they may cross: the later record wins, as it would a moment later (see Generations).
  private final ReentrantLock[] stripes = new ReentrantLock[STRIPES];

  /**
   * @param clientConfig Kafka client settings, at least {@code bootstrap.servers}
   * @param timeout longest time a request may wait; beyond it is 503
   */
  public RegistrationService(
      RegistrationTable table, Map<String, Object> clientConfig, Duration timeout) {
    this.table = table;
    this.timeoutNanos = timeout.toNanos();
    log = new RegistrationLog(clientConfig, timeout);
    for (int i = 0; i < STRIPES; i++) {
      stripes[i] = new ReentrantLock();
    }
  }

  /** Registers; returns when it is visible here. */
  public void register(RegisterRequest request) {
    PublisherId publisher = request.registration().publisher();
    exclusively(publisher, deadline -> register(request, deadline));
  }

  /**
   * Registers where a dialect has rules of its own.
   *
   * @param rule called with what is registered anywhere just before; throws to refuse
   */
  void register(RegisterRequest request, BiConsumer<RegistrationSnapshot, Registration> rule) {
    exclusively(
        request.registration().publisher(),
        deadline -> {
          rule.accept(table.snapshot(), request.registration());
          register(request, deadline);
        });
  }

  private void register(RegisterRequest request, long deadline) throws InterruptedException {
    Registration wanted = request.registration();
    RegistrationSnapshot snapshot = table.snapshot();
    RegistrationConflicts.checkProfile(snapshot, wanted);
    Registered current = snapshot.get(wanted.publisher());
    if (current == null) {
      write(wanted.publisher(), wanted, deadline);
      return;
    }
    Registration old = current.registration();
    Map<String, String> differences = RegistrationConflicts.differences(old, wanted);
    String lora = wanted.loraNames().get(0);
    if (!differences.isEmpty()) {
      if (!request.replace()) {
        throw RegistrationConflicts.conflict(old, differences);
      }
      write(wanted.publisher(), wanted, deadline);
    } else if (!old.loraNames().contains(lora)
        || !old.options()
            .loraPaths()
            .entrySet()
            .containsAll(wanted.options().loraPaths().entrySet())) {
      Set<String> names = new LinkedHashSet<>(old.loraNames());
      names.add(lora);
      Map<String, String> paths = new HashMap<>(old.options().loraPaths());
      paths.putAll(wanted.options().loraPaths());
      write(wanted.publisher(), current.withAdapters(List.copyOf(names), paths), deadline);
    } else {
      settle(wanted.publisher(), deadline);
    }
  }

  /**
   * A record that was crossed by another replica's began a generation although it names an older
   * one. Who has seen the record between them knows; once the topic is compacted nobody can see it
   * any more. So it is written again with the name it should have.
   */
  private void settle(PublisherId publisher, long deadline) throws InterruptedException {
    Registered now = table.snapshot().get(publisher);
    if (now != null && now.isCrossed()) {
      writeOnce(publisher, now.withLoraNames(now.registration().loraNames()), deadline);
    }
  }

  /**
   * Unregisters; returns when that is visible here.
   *
   * @return whether the publisher is gone; false if only an adapter is
   */
  public boolean unregister(UnregisterRequest request) {
    boolean[] gone = new boolean[1];
    exclusively(request.publisher(), deadline -> gone[0] = unregister(request, deadline) == null);
    return gone[0];
  }

  /**
   * Unregisters whole publishers; returns when that is visible here.
   *
   * @param choice called with what is registered anywhere; throws to refuse
   */
  void unregister(Function<RegistrationSnapshot, List<PublisherId>> choice) {
    long deadline = System.nanoTime() + timeoutNanos;
    try {
      if (!table.refresh(deadline)) {
        throw RegistrationLog.notAcknowledged();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw RegistrationLog.notAcknowledged();
    }
    for (PublisherId publisher : choice.apply(table.snapshot())) {
      exclusively(publisher, until -> write(publisher, null, until));
    }
  }

  /** What is left of the publisher. */
  private @Nullable Registration unregister(UnregisterRequest request, long deadline)
      throws InterruptedException {
    PublisherId publisher = request.publisher();
    Registered current = table.snapshot().get(publisher);
    @Nullable String lora = request.loraName();
    if (current == null || (lora != null && !current.registration().loraNames().contains(lora))) {
      throw ApiException.of(
          ErrorCode.SERVICE_NOT_FOUND, "service not found: " + publisher.displayName());
    }
    List<String> names = new ArrayList<>(current.registration().loraNames());
    names.remove(lora);
    Registration left = lora == null || names.isEmpty() ? null : current.withLoraNames(names);
    write(publisher, left, deadline);
    return left;
  }

  private void write(PublisherId publisher, @Nullable Registration registration, long deadline)
      throws InterruptedException {
    writeOnce(publisher, registration, deadline);
    settle(publisher, deadline);
  }

  private void writeOnce(PublisherId publisher, @Nullable Registration registration, long deadline)
      throws InterruptedException {
    RecordMetadata written = log.write(publisher, registration, deadline);
    if (!table.awaitOffset(written.partition(), written.offset(), deadline)) {
      throw RegistrationLog.notAcknowledged();
    }
  }

  private void exclusively(PublisherId publisher, Step step) {
    long deadline = System.nanoTime() + timeoutNanos;
    ReentrantLock stripe = stripes[Math.floorMod(publisher.hashCode(), STRIPES)];
    try {
      if (!stripe.tryLock(timeoutNanos, TimeUnit.NANOSECONDS)) {
        throw RegistrationLog.notAcknowledged();
      }
      try {
        // What another replica has written must be seen first, or it would be written again.
        if (!table.refresh(deadline)) {
          throw RegistrationLog.notAcknowledged();
        }
        step.run(deadline);
      } finally {
        stripe.unlock();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw RegistrationLog.notAcknowledged();
    }
  }

  @Override
  public void close() {
    log.close();
  }

  @FunctionalInterface
  private interface Step {
    void run(long deadlineNanos) throws InterruptedException;
  }
}
