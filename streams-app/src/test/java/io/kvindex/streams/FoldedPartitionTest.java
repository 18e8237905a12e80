// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.streams.checkpoint.Checkpoint;
import io.kvindex.streams.checkpoint.JournalLimits;
import io.kvindex.streams.fold.Limits;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Journal;
import java.nio.file.Path;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FoldedPartitionTest {

  @TempDir Path dir;

  private FoldedPartition load(long first) throws Exception {
    FoldedPartition.Shared shared =
        new FoldedPartition.Shared(
            new Epochs(),
            new Journal.Pieces(),
            (outcome, n) -> {},
            Limits.DEFAULT,
            JournalLimits.DEFAULT);
    Checkpoint checkpoint = Checkpoint.open(dir.resolve("0"), new Uuid(1, 2), 0);
    return FoldedPartition.load(0, shared, checkpoint, first, (done, of) -> {});
  }

  /** Else it would wait for them for ever, and seem to lack nothing beside who has them. */
  @Test
  void shouldLackAndNotAwaitWhatIsBeforeItsBeginning_whenNoRecordHasComeYet() throws Exception {
    FoldedPartition table = load(100);
    assertThat(table.view().since()).isEqualTo(100);
    assertThat(table.view().takenOffset()).isEqualTo(99);
    table.close();
    FoldedPartition again = load(0);
    assertThat(again.view().since()).as("nothing was written").isZero();
    assertThat(again.view().takenOffset()).isNegative();
    again.close();
  }
}
