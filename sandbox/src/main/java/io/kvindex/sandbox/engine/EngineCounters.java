// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

/**
 * What an engine has sent over all its lives, withheld batches included: what a complete index must
 * have seen. A removal is one physical copy of one block.
 *
 * @param batches batches given a sequence number
 * @param withheldBatches those of them kept from the live stream, in the replay buffer only
 * @param storedEvents stored events
 * @param removedEvents removed events
 * @param clearedEvents cleared events
 * @param gpuBlocksStored blocks in stored events of the device
 * @param gpuBlocksRemoved blocks in removed events of the device
 * @param hostBlocksStored blocks in stored events of the host tier
 * @param hostBlocksRemoved blocks in removed events of the host tier
 */
public record EngineCounters(
    long batches,
    long withheldBatches,
    long storedEvents,
    long removedEvents,
    long clearedEvents,
    long gpuBlocksStored,
    long gpuBlocksRemoved,
    long hostBlocksStored,
    long hostBlocksRemoved) {

  /** All events. */
  public long events() {
    return storedEvents + removedEvents + clearedEvents;
  }

  static EngineCounters zero() {
    return new EngineCounters(0, 0, 0, 0, 0, 0, 0, 0, 0);
  }

  EngineCounters plusBatch(boolean withheld) {
    return new EngineCounters(
        batches + 1,
        withheldBatches + (withheld ? 1 : 0),
        storedEvents,
        removedEvents,
        clearedEvents,
        gpuBlocksStored,
        gpuBlocksRemoved,
        hostBlocksStored,
        hostBlocksRemoved);
  }

  EngineCounters plus(EngineEvent event) {
    boolean stored = event instanceof EngineEvent.Stored;
    boolean removed = event instanceof EngineEvent.Removed;
    return new EngineCounters(
        batches,
        withheldBatches,
        storedEvents + (stored ? 1 : 0),
        removedEvents + (removed ? 1 : 0),
        clearedEvents + (stored || removed ? 0 : 1),
        gpuBlocksStored + blocks(event, true, Medium.GPU),
        gpuBlocksRemoved + blocks(event, false, Medium.GPU),
        hostBlocksStored + blocks(event, true, Medium.HOST),
        hostBlocksRemoved + blocks(event, false, Medium.HOST));
  }

  private static int blocks(EngineEvent event, boolean stored, Medium medium) {
    if (event instanceof EngineEvent.Stored s) {
      return stored && s.medium() == medium ? s.blocks().size() : 0;
    }
    if (event instanceof EngineEvent.Removed r) {
      return !stored && r.medium() == medium ? 1 : 0;
    }
    return 0;
  }
}
