// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.row.OwnerRow;
import io.kvindex.streams.row.PublisherRow;
import io.kvindex.streams.row.TableRow;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OwnersTest {

  private static final Incarnation LIFE = new Incarnation(1, 1, 0);

  private final Tables tables = new Tables(new Epochs());
  private final Publishers publishers = new Publishers();
  private final Owners owners = new Owners(tables, publishers);

  @BeforeEach
  void hasTable() {
    tables.foldTable(1, new TableRow(new TableId("default", "model", 2, HashProfile.XXH3_DEFAULT)));
  }

  private static OwnerRow expiringAt(long ms) {
    return new OwnerRow(1, 1, 0, "CPU", null, true, LIFE, false, ms, false);
  }

  private void publisherComes() {
    publishers.fold(1, new PublisherRow(new PublisherId("e", "default", 0), LIFE, 0, false));
  }

  @Test
  void shouldNameOwnersByNumber_whenSomeWaitedForTheirPublisher() {
    owners.fold(2, expiringAt(OwnerRow.NEVER));
    owners.fold(7, expiringAt(OwnerRow.NEVER));
    publisherComes();
    owners.fold(5, expiringAt(OwnerRow.NEVER));
    owners.fold(9, expiringAt(OwnerRow.NEVER));
    owners.settle();
    assertThat(owners.live(1)).extracting(OwnerState::id).containsExactly(2, 5, 7, 9);
  }

  @Test
  void shouldKeepNoExpiredOwners_whenNobodyAsksWhoIsDue() {
    publisherComes();
    for (int id = 1; id <= 1_000; id++) {
      owners.fold(id, expiringAt(id * 1_000L));
      if (id > 8) {
        owners.fold(id - 8, expiringAt((id - 8) * 1_000L).died());
        owners.fold(id - 8, null);
      }
    }
    assertThat(owners.expiring()).isEqualTo(8);
    assertThat(owners.due(995_000)).extracting(OwnerState::id).containsExactly(993, 994, 995);
  }
}
