// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class AbandonedTransactionsTest {

  private static final String DEAD = new UUID(1, 1).toString();
  private static final String ALIVE = new UUID(2, 2).toString();

  private final Site site = new Site();
  private final AbandonedTransactions transactions =
      new AbandonedTransactions(site, "kvindex", () -> true);

  @Test
  void shouldFence_whenTheProcessIsNoMemberAnyMore() throws Exception {
    site.ongoing = Set.of("kvindex-" + DEAD + "-1", "kvindex-" + ALIVE + "-1");
    site.members = Set.of("kvindex-" + ALIVE + "-StreamThread-1-consumer");
    transactions.look();
    assertThat(site.fenced).containsExactly("kvindex-" + DEAD + "-1");
  }

  @Test
  void shouldLeaveOthersAlone_whenTheyAreOfAnotherApplication() throws Exception {
    site.ongoing =
        Set.of(
            "kvindex-table-1-" + DEAD + "-1",
            "my-kvindex-" + DEAD + "-1",
            "kvindex-bridge-7",
            "kvindex-" + ALIVE + "-1");
    site.members = Set.of("kvindex-" + ALIVE + "-StreamThread-1-consumer");
    transactions.look();
    assertThat(site.fenced).isEmpty();
  }

  @Test
  void shouldLeaveAllAlone_whenNobodySaysWhoIsThere() throws Exception {
    site.ongoing = Set.of("kvindex-" + DEAD + "-1");
    transactions.look();
    site.members = Set.of("a-client-id-of-the-site");
    transactions.look();
    assertThat(site.fenced).isEmpty();
  }

  @Test
  void shouldLeaveAllAlone_whenOneMemberHasANameOfItsOwn() throws Exception {
    site.ongoing = Set.of("kvindex-" + DEAD + "-1", "kvindex-" + ALIVE + "-1");
    site.members = Set.of("kvindex-" + ALIVE + "-StreamThread-1-consumer", "my-consumer");
    transactions.look();
    assertThat(site.fenced).as("my-consumer may be either").isEmpty();
  }

  private static final class Site implements ProducersOfApp {
    private Set<String> ongoing = Set.of();
    private Set<String> members = Set.of();
    private final Set<String> fenced = new TreeSet<>();

    @Override
    public Set<String> ongoing() {
      return ongoing;
    }

    @Override
    public Set<String> members() {
      return members;
    }

    @Override
    public void fence(Set<String> transactionalIds) {
      fenced.addAll(transactionalIds);
    }
  }
}
