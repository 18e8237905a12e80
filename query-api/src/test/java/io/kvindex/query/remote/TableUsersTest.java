// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TableUsersTest {

  private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

  private final TableUsers users = new TableUsers();

  private List<String> after(Map<String, String> serving, List<String> members, long now) {
    return users.after(serving, "former", members, now, 5 * MINUTE);
  }

  @Test
  void shouldCountAReplicaTheGroupHasForgotten_untilItSaysThatItServesAnother() {
    users.note(List.of("a:1", "b:1"));
    assertThat(after(Map.of("a:1", "next"), List.of(), 0)).containsExactly("b:1");
    assertThat(after(Map.of("b:1", "former"), List.of(), MINUTE)).containsExactly("b:1");
    assertThat(after(Map.of("b:1", "next"), List.of(), 2 * MINUTE)).isEmpty();
    assertThat(users.known()).isEmpty();
  }

  @Test
  void shouldForgetIt_whenItHasBeenSilentForLongWithoutABreak() {
    users.note(List.of("a:1"));
    assertThat(after(Map.of(), List.of(), 0)).containsExactly("a:1");
    assertThat(after(Map.of("a:1", "former"), List.of(), 4 * MINUTE)).containsExactly("a:1");
    assertThat(after(Map.of(), List.of(), 6 * MINUTE)).containsExactly("a:1");
    assertThat(after(Map.of(), List.of(), 11 * MINUTE)).containsExactly("a:1");
    assertThat(after(Map.of(), List.of(), 11 * MINUTE + 1)).isEmpty();
    assertThat(users.known()).isEmpty();
  }

  @Test
  void shouldCountASilentMember_howeverLong() {
    users.note(List.of("a:1"));
    assertThat(after(Map.of(), List.of("a:1"), 0)).containsExactly("a:1");
    assertThat(after(Map.of(), List.of("a:1"), 60 * MINUTE)).containsExactly("a:1");
  }

  /** It may go back to the table, when that is to serve again. */
  @Test
  void shouldAskAMemberAgain_whenItHasSaidThatItServesAnother() {
    users.note(List.of("a:1"));
    assertThat(after(Map.of("a:1", "next"), List.of("a:1"), 0)).isEmpty();
    assertThat(users.known()).containsExactly("a:1");
  }
}
