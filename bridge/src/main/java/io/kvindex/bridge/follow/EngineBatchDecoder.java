// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.decode.BatchRejected;
import io.kvindex.bridge.decode.DecodeResult;
import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.normalise.Learned;
import io.kvindex.bridge.normalise.LowerTierWatch;
import io.kvindex.bridge.normalise.NormalisedBatch;
import io.kvindex.bridge.normalise.NormalisedBatch.BlockSizeMismatch;
import io.kvindex.bridge.normalise.Normaliser;
import io.kvindex.bridge.normalise.Remark;
import io.kvindex.model.registration.Registration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Decodes what inference engines send: their wire form taken away, then brought to normal form. */
public final class EngineBatchDecoder implements BatchDecoder {

  private final EngineDecoder decoder;
  private final Normaliser normaliser;
  private final LowerTierWatch watch;
  private final Learned learned;
  private final int blockSize;

  /**
   * @param learned what the publisher's batches taught before; goes on learning
   */
  public EngineBatchDecoder(Registration registration, Learned learned) {
    decoder = EngineDecoder.forSource(registration.type());
    normaliser = new Normaliser(registration, learned);
    watch = new LowerTierWatch(registration);
    this.learned = learned;
    blockSize = registration.table().blockSize();
  }

  @Override
  public Parsed parse(String topic, byte[] payload) {
    DecodeResult result = decoder.decode(payload);
    return result instanceof EngineBatch batch
        ? new Read(topic, batch)
        : new Rejected(((BatchRejected) result).reason().label());
  }

  private final class Read implements Parsed {

    private final String topic;
    private final EngineBatch batch;

    private Read(String topic, EngineBatch batch) {
      this.topic = topic;
      this.batch = batch;
    }

    @Override
    public long sourceMicros() {
      return batch.timestampMicros();
    }

    @Override
    public @Nullable String rejected() {
      return null;
    }

    @Override
    public Decoded toNormalForm() {
      NormalisedBatch normal = normaliser.normalise(topic, batch);
      Map<String, Long> skipped = new HashMap<>();
      normal.skipped().forEach((reason, count) -> skipped.put(reason.label(), (long) count));
      Map<String, Long> remarks = new HashMap<>();
      normal.remarks().forEach((remark, count) -> remarks.put(remark.label(), (long) count));
      if (watch.suspects(normal.events()) && !learned.isConnector()) {
        remarks.put(Remark.UNVERIFIED_TIER.label(), 1L);
      }
      return new Decoded(
          normal.timestampMicros(),
          normal.events(),
          skipped,
          remarks,
          null,
          text(normal.mismatch()),
          normaliser.takeNotice(),
          normal.numbers(),
          normal.doubtful());
    }
  }

  private @Nullable String text(@Nullable BlockSizeMismatch mismatch) {
    if (mismatch == null) {
      return normaliser.profileProblem();
    }
    String text =
        "events have block_size " + mismatch.stated() + ", registered is " + blockSize + ": ";
    return mismatch.stated() > blockSize && mismatch.stated() % blockSize == 0
        ? text
            + "register the events' size, which is "
            + mismatch.stated() / blockSize
            + " times yours (dcp x pcp)"
        : text + "register the events' size";
  }
}
