// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.member;

import io.kvindex.model.kafka.ClientKind;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has a process that does no more work leave its Kafka group at once, whose members would wait for
 * it for the session timeout (6 s). There are two signs of it:
 *
 * <ul>
 *   <li>Its port is closed. Where one listened, and whose machine now refuses connections to that
 *       port, no process is: the kernel of a machine answers so at once, also while its processes
 *       starve, and never for one that stands still.
 *   <li>It stands still. Whoever used to answer over HTTP, whose machine still takes connections,
 *       and who then owes an answer for half the session timeout, is not going to do the group's
 *       work either. Whoever asks has to have been awake himself for all of that time.
 * </ul>
 *
 * <p>A machine that is silent proves nothing, and the timeout has to do. Were one taken for dead
 * that is not, it would join anew: each group fences what it did meanwhile, as after a timeout. It
 * is judged again only after it was seen alive.
 *
 * <p>Each process watches the two that follow it in the order of their names, so that two watch it,
 * however many there are.
 */
public final class MemberWatch implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(MemberWatch.class);
  private static final int WATCHED = 2;
  private static final long LOOK_EVERY_MS = 250;
  private static final long HOSTS_EVERY_NS = TimeUnit.SECONDS.toNanos(3);

  /** Looks that are further apart than this: the process that looks has been standing still. */
  private static final long AWAKE_NS = TimeUnit.SECONDS.toNanos(1);

  private final Group group;
  private final MemberName own;
  private final long silenceNs;
  private final Runnable onRemoved;

  private final Map<MemberName, Watched> watched = new LinkedHashMap<>();
  private Map<MemberName, String> hosts = Map.of();
  private long nextHostsNs = System.nanoTime();
  private long lastLookNs = nextHostsNs;

  private final ScheduledExecutorService looks =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "kvindex-members");
            thread.setDaemon(true);
            return thread;
          });

  /**
   * @param group closed with this object
   * @param own name of this process
   * @param session after how much silence Kafka has a member leave
   * @param onRemoved called by the thread of this object for each process that had to leave
   */
  MemberWatch(Group group, MemberName own, Duration session, Runnable onRemoved) {
    this.group = group;
    this.own = own;
    this.silenceNs = session.dividedBy(2).toNanos();
    this.onRemoved = onRemoved;
  }

  /**
   * A watch that does not look yet.
   *
   * @param kafka settings of all Kafka clients of the site
   * @param groupId group the process is a member of
   * @param name of the process there, null = none
   * @param session after how much silence Kafka has a member of the group leave
   * @param onRemoved called by another thread for each process that had to leave
   * @return null where the name is none of {@link MemberName}: who chose his own wants to be waited
   *     for
   */
  public static @Nullable MemberWatch of(
      Map<String, ?> kafka,
      String groupId,
      @Nullable String name,
      Duration session,
      Runnable onRemoved) {
    MemberName own = name == null ? null : MemberName.of(name);
    return own == null
        ? null
        : new MemberWatch(
            new AdminGroup(Admin.create(ClientKind.ADMIN.settings(kafka, Map.of())), groupId),
            own,
            session,
            onRemoved);
  }

  /** Looks from now on, in the background. */
  public void start() {
    looks.scheduleWithFixedDelay(
        this::lookSafely, LOOK_EVERY_MS, LOOK_EVERY_MS, TimeUnit.MILLISECONDS);
  }

  private void lookSafely() {
    try {
      look(System.nanoTime());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException | RuntimeException e) {
      LOG.debug("members not looked at", e);
    }
  }

  /** One look. */
  void look(long nowNs) throws InterruptedException, ExecutionException, TimeoutException {
    if (nowNs - nextHostsNs >= 0) {
      nextHostsNs = nowNs + HOSTS_EVERY_NS;
      hosts = processes(group.hosts());
      watch(next());
    }
    boolean awake = nowNs - lastLookNs < AWAKE_NS;
    lastLookNs = nowNs;
    for (Map.Entry<MemberName, Watched> one : watched.entrySet()) {
      if (!awake) {
        one.getValue().restart(nowNs);
      }
      look(one.getKey(), one.getValue(), nowNs);
    }
  }

  private void look(MemberName member, Watched known, long nowNs)
      throws InterruptedException, ExecutionException, TimeoutException {
    String dead = known.look(isOnThisMachine(member), nowNs);
    if (dead != null) {
      remove(member, dead); // if Kafka does not answer it is judged again, not forgiven
      known.forgive();
    }
  }

  private void watch(List<MemberName> members) {
    for (MemberName former : List.copyOf(watched.keySet())) {
      Watched gone = members.contains(former) ? null : watched.remove(former);
      if (gone != null) {
        gone.close();
      }
    }
    members.forEach(
        member -> watched.computeIfAbsent(member, added -> new Watched(added, silenceNs)));
  }

  private static Map<MemberName, String> processes(Map<String, String> members) {
    Map<MemberName, String> processes = new HashMap<>();
    members.forEach(
        (name, host) -> {
          MemberName process = MemberName.of(name);
          if (process != null) {
            processes.put(process, host);
          }
        });
    return processes;
  }

  /** Those behind this process in the ring of all. */
  private List<MemberName> next() {
    NavigableMap<String, MemberName> ring = new TreeMap<>();
    hosts.keySet().forEach(member -> ring.put(member.text(), member));
    ring.remove(own.text());
    return Stream.concat(
            ring.tailMap(own.text()).values().stream(), ring.headMap(own.text()).values().stream())
        .limit(WATCHED)
        .toList();
  }

  private boolean isOnThisMachine(MemberName member) {
    String here = hosts.get(own);
    return here != null && here.equals(hosts.get(member));
  }

  private void remove(MemberName dead, String why)
      throws InterruptedException, ExecutionException, TimeoutException {
    Set<String> members = members(dead);
    if (members.isEmpty()) {
      return; // gone by itself, or the other one that watches it was faster
    }
    LOG.warn(
        "{}:{} {}: members={} of its group leave at once", dead.host(), dead.port(), why, members);
    group.remove(members);
    onRemoved.run();
  }

  private Set<String> members(MemberName process)
      throws InterruptedException, ExecutionException, TimeoutException {
    return group.hosts().keySet().stream()
        .filter(name -> process.equals(MemberName.of(name)))
        .collect(Collectors.toSet());
  }

  /**
   * Looks no more, and has what is still there of this process leave: one that was stopped while it
   * joined does not know yet that it is a member. Waits 7 s at most.
   */
  @Override
  public void close() {
    looks.shutdownNow();
    try {
      if (looks.awaitTermination(1, TimeUnit.SECONDS)) {
        watched.values().forEach(Watched::close);
      }
      Set<String> left = members(own);
      if (!left.isEmpty()) {
        group.remove(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException | RuntimeException e) {
      LOG.debug("not known whether members are left", e);
    } finally {
      group.close();
    }
  }
}
