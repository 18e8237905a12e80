// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.PartitionView.State;
import java.lang.reflect.Proxy;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LocalViewsTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final LocalViews views = new LocalViews();

  /** Knows its state, how far it is, and nothing else. */
  private static PartitionView view(State state, boolean complete) {
    return view(state, complete, new AtomicLong());
  }

  private static PartitionView view(State state, boolean complete, AtomicLong applied) {
    return (PartitionView)
        Proxy.newProxyInstance(
            LocalViewsTest.class.getClassLoader(),
            new Class<?>[] {PartitionView.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "state" -> state;
                  case "complete" -> complete;
                  case "appliedOffset" -> applied.get();
                  case "hashCode" -> System.identityHashCode(proxy);
                  case "equals" -> proxy == arguments[0];
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  @Test
  void shouldGiveMemoryBack_whenAPartitionHasBeenElsewhereForAMinute() {
    views.take(1, view(State.CLOSED, true));
    views.take(2, view(State.LIVE, true));
    views.forgetGone(partition -> true, 0);
    views.forgetGone(partition -> true, 59 * SECOND);
    assertThat(views.served()).containsOnlyKeys(1, 2);
    views.forgetGone(partition -> true, 61 * SECOND);
    assertThat(views.served()).containsOnlyKeys(2);
    assertThat(views.newest(1)).isNull();
  }

  @Test
  void shouldForgetAtOnce_whenAPartitionWentBeforeAllOfItWasKnown() {
    views.take(1, view(State.CLOSED, false));
    views.take(2, view(State.RESTORING, false));
    views.forgetGone(partition -> true, 0);
    assertThat(views.served()).containsOnlyKeys(2);
    assertThat(views.newest(1)).isNull();
  }

  @Test
  void shouldKeepIt_whenNobodyElseHasIt() {
    views.take(1, view(State.CLOSED, true));
    views.forgetGone(partition -> true, 0);
    views.forgetGone(partition -> false, 30 * SECOND);
    views.forgetGone(partition -> true, 70 * SECOND);
    views.forgetGone(partition -> true, 129 * SECOND);
    assertThat(views.served()).containsOnlyKeys(1);
  }

  @Test
  void shouldServeTheFormerView_whenItsSuccessorIsNotComplete() {
    PartitionView former = view(State.CLOSED, true);
    PartitionView successor = view(State.RESTORING, false);
    views.take(1, former);
    views.take(1, successor);
    assertThat(views.served()).containsEntry(1, former);
    assertThat(views.newest(1)).isSameAs(successor);
  }

  /** As when the changelog was deleted and created again while this process stood still. */
  @Test
  void shouldServeTheFormerView_untilItsSuccessorKnowsNoLess() {
    PartitionView former = view(State.CLOSED, true, new AtomicLong(1_000));
    AtomicLong applied = new AtomicLong(-1);
    PartitionView successor = view(State.LIVE, true, applied);
    views.take(1, former);
    views.take(1, successor);
    assertThat(views.served()).containsEntry(1, former);
    applied.set(999);
    views.take(1, successor);
    assertThat(views.served()).containsEntry(1, former);
    applied.set(1_000);
    views.take(1, successor);
    assertThat(views.served()).containsEntry(1, successor);
  }

  @Test
  void shouldServeWhatIsCompleteInsteadOfWhatIsNot_howeverFarThatWas() {
    PartitionView former = view(State.RESTORING, false, new AtomicLong(1_000));
    PartitionView successor = view(State.LIVE, true, new AtomicLong(10));
    views.take(1, former);
    views.take(1, successor);
    assertThat(views.served()).containsEntry(1, successor);
  }
}
