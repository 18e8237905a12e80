// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.member;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** What is known of one process that is watched. For one thread. */
final class Watched implements AutoCloseable {

  /** Looks in a row that have to find its port closed. */
  static final int REFUSALS = 2;

  private final MemberName process;
  private final long silenceNs;
  private boolean listened;
  private int refusals;
  private @Nullable Pulse pulse;

  /**
   * @param silenceNs for how long it may owe an answer
   */
  Watched(MemberName process, long silenceNs) {
    this.process = process;
    this.silenceNs = silenceNs;
  }

  /**
   * Looks at it.
   *
   * @param sameMachine see {@link Port#of}
   * @return what shows that it does no more work, null = nothing does
   */
  @Nullable String look(boolean sameMachine, long nowNs) {
    if (pulse != null) {
      pulse.look(nowNs);
    }
    boolean connected = pulse != null && pulse.isConnected();
    Port port = connected ? Port.OPEN : Port.of(process, sameMachine);
    refusals = listened && port == Port.CLOSED ? refusals + 1 : 0;
    listened |= port == Port.OPEN;
    if (refusals >= REFUSALS) {
      return "does not listen any more";
    }
    if (pulse == null && port == Port.OPEN) {
      pulse = Pulse.of(process);
    }
    return pulse == null ? null : silence(pulse, nowNs);
  }

  private @Nullable String silence(Pulse asking, long nowNs) {
    long owedNs = asking.owedNs(nowNs);
    return owedNs < silenceNs
        ? null
        : "stands still, it answers nothing since " + TimeUnit.NANOSECONDS.toMillis(owedNs) + " ms";
  }

  /** Whoever looks has been standing still himself: its silence counts from now. */
  void restart(long nowNs) {
    if (pulse != null) {
      pulse.restart(nowNs);
    }
  }

  /** Judges it no more until it is seen alive again. */
  void forgive() {
    listened = false;
    refusals = 0;
    if (pulse != null) {
      pulse.forgive();
    }
  }

  @Override
  public void close() {
    if (pulse != null) {
      pulse.close();
    }
  }
}
