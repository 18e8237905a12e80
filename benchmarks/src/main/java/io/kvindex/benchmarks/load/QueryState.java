// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

/** Publishes the state of a {@link LoadShape} batch by batch, no faster than it becomes visible. */
final class QueryState {
  /** Blocks of one stored event: a prefill chunk of 1,024 tokens. */
  private static final int CHUNK_BLOCKS = 64;

  private final LoadShape shape;
  private final Fleet fleet;
  private final int window;
  private final BatchWriter writer = new BatchWriter();
  private long residencies;

  /**
   * @param window batches a publisher may have under way
   */
  QueryState(LoadShape shape, Fleet fleet, int window) {
    this.shape = shape;
    this.fleet = fleet;
    this.window = window;
  }

  /** Returns when all is visible; the number of block copies stored. */
  long build() {
    for (int stem = 0; stem < shape.stems(); stem++) {
      long[] hashes = shape.stem(stem, shape.stemBlocks());
      for (int instance = 0; instance < shape.instances(); instance++) {
        int device = shape.deviceBlocksOfStem(stem, instance);
        store(instance, hashes, 0, device, 0, true);
        store(instance, hashes, device, hashes.length, 0, false);
      }
    }
    fleet.awaitAllVisible(); // tails hang below stems
    for (int prompt = 0; prompt < shape.prompts(); prompt++) {
      long[] hashes = tail(prompt);
      long parent = shape.stemHash(shape.stemOf(prompt), shape.stemBlocks() - 1);
      for (int instance = 0; instance < shape.instances(); instance++) {
        int held = shape.tailBlocksHeld(prompt, instance);
        store(instance, hashes, 0, held, parent, shape.tailOnDevice(prompt, instance));
      }
    }
    fleet.awaitAllVisible();
    return residencies;
  }

  private void store(
      int instance, long[] hashes, int from, int to, long parentOfFirst, boolean device) {
    for (int at = from; at < to; at += CHUNK_BLOCKS) {
      int count = Math.min(CHUNK_BLOCKS, to - at);
      long parent = at == 0 ? parentOfFirst : hashes[at - 1];
      writer.begin(System.currentTimeMillis() / 1e3, 1);
      writer.stored(
          hashes,
          at,
          count,
          parent == 0,
          parent,
          LoadShape.BLOCK_SIZE,
          device,
          (block, offset) -> LoadShape.token(hashes[block], offset));
      fleet.awaitWindow(instance, window);
      fleet.get(instance).publish(writer.end(), count);
      residencies += count;
    }
    fleet.get(instance).serve();
  }

  private long[] tail(int prompt) {
    long[] hashes = new long[shape.tailBlocks()];
    for (int i = 0; i < hashes.length; i++) {
      hashes[i] = shape.tailHash(prompt, i);
    }
    return hashes;
  }
}
