// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.streams.checkpoint.Checkpoint;
import io.kvindex.streams.checkpoint.JournalLimits;
import io.kvindex.streams.fixture.RandomLog;
import io.kvindex.streams.fold.Limits;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Journal;
import io.kvindex.streams.view.CheckpointOffer;
import io.kvindex.streams.view.DumpFailedException;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class CheckpointLenderTest {

  private static final Uuid TOPIC = new Uuid(1, 2);
  private static final int RECORDS = 300;

  @TempDir Path dir;

  private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
  private final AtomicBoolean running = new AtomicBoolean(true);
  private final AtomicBoolean inUse = new AtomicBoolean(true);
  private FoldedPartition table;
  private Thread fold;
  private CheckpointLender lender;

  /** A table that was folded, of which nothing is on the disk yet. */
  @BeforeEach
  void fold() throws Exception {
    FoldedPartition.Shared shared =
        new FoldedPartition.Shared(
            new Epochs(),
            new Journal.Pieces(),
            (outcome, n) -> {},
            Limits.DEFAULT,
            JournalLimits.DEFAULT,
            metrics);
    table =
        new FoldedPartition(
            0, shared, Checkpoint.open(dir.resolve("0"), TOPIC, 0), -1, (done, of) -> {});
    RandomLog log = new RandomLog(new Random(3));
    for (int i = 0; i < RECORDS; i++) {
      table.fold(i, i, null, EventRecordCodec.encode(log.next()), i * 31L);
    }
    Files.createDirectories(dir.resolve("lent").resolve("0"));
    fold =
        new Thread(
            () -> {
              while (running.get()) {
                table.idle();
                Thread.onSpinWait();
              }
            });
    fold.start();
    lender = new CheckpointLender(dir.resolve("lent"), 2, this::inUse, p -> p == 1, metrics);
  }

  private @Nullable FoldedPartition inUse(int partition) {
    return partition == 0 && inUse.get() ? table : null;
  }

  @AfterEach
  void close() throws Exception {
    running.set(false);
    fold.join();
    table.close();
  }

  private int counted(String result) {
    return (int) metrics.counter("kvindex.lent", "result", result).count();
  }

  @Test
  void shouldLendWhatIsFoldedByNow_oneAtATime() throws Exception {
    assertThat(dir.resolve("lent")).as("of a process that was killed").doesNotExist();
    ByteArrayOutputStream sent = new ByteArrayOutputStream();
    try (CheckpointLender.Loan loan = Objects.requireNonNull(lender.lend(0))) {
      assertThat(lender.lend(0)).isNull();
      assertThat(lender.offers()).allMatch(CheckpointOffer::busy);
      loan.sendTo(sent);
    }
    assertThat(dir.resolve("lent")).isEmptyDirectory();
    assertThat(sent.size()).isGreaterThan(10_000);
    assertThat(counted("whole")).isOne();
    assertThat(counted("busy")).isOne();
    CheckpointOffer offer = lender.offers().get(0);
    assertThat(offer.offset()).isEqualTo(RECORDS - 1);
    assertThat(offer.busy()).isFalse();
    assertThat(lender.offers().get(1))
        .as("being loaded")
        .isEqualTo(new CheckpointOffer(1, 0, "", -1, 0, 0, true));
  }

  @Test
  void shouldLeaveNothingAndLendAgain_whenTheBorrowerGoesAway() throws Exception {
    OutputStream broken =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("reset");
          }
        };
    try (CheckpointLender.Loan loan = Objects.requireNonNull(lender.lend(0))) {
      assertThatThrownBy(() -> loan.sendTo(broken)).hasMessage("reset");
    }
    assertThat(dir.resolve("lent")).isEmptyDirectory();
    assertThat(counted("aborted")).isOne();
    Objects.requireNonNull(lender.lend(0)).close();
  }

  @Test
  void shouldSayWhy_whenThereIsNothingToLend() throws Exception {
    inUse.set(false);
    for (int partition : new int[] {0, 1, 7}) {
      assertThatThrownBy(() -> lender.lend(partition))
          .isInstanceOf(DumpFailedException.class)
          .hasMessage("there is no checkpoint of partition " + partition + " here yet");
    }
    assertThat(counted("not_ready")).isEqualTo(3);
    inUse.set(true);
    Objects.requireNonNull(lender.lend(0)).close();
  }
}
