// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Takes ZMQ messages apart. Stateless; safe for all threads.
 *
 * <pre>
 * live           topic | sequence | payload [| stream id...]
 * replay (new)   ""    | topic    | sequence | payload          vLLM from 0.26
 * replay (old)   ""    | sequence | payload                     older vLLM, SGLang
 * replay's end   ""    [| ""]     | ff x 8   | ""
 * </pre>
 *
 * A sequence is 8 bytes, big-endian, unsigned. Source: {@code ZmqEventPublisher} of both engines.
 */
public final class Frames {

  private static final byte[] EMPTY = new byte[0];
  private static final int LIVE_FRAMES = 3;
  private static final int NEW_REPLAY_FRAMES = 4;
  private static final long END_SEQUENCE = -1;

  private Frames() {}

  /**
   * A message of the PUB socket.
   *
   * @param micros when it was read, microseconds since the epoch
   */
  public static Frame live(List<byte[]> frames, long micros) {
    if (frames.size() < LIVE_FRAMES) {
      return Frame.Bad.TOO_FEW_FRAMES;
    }
    return batch(frames.get(0), frames.get(1), frames.get(2), micros);
  }

  /**
   * A message a DEALER received from the replay socket, identity taken off. Read from the right, so
   * that both framings fit.
   *
   * @param micros when it was read, microseconds since the epoch
   */
  public static Frame replay(List<byte[]> frames, long micros) {
    int size = frames.size();
    if (size < 2) {
      return Frame.Bad.TOO_FEW_FRAMES;
    }
    byte[] payload = frames.get(size - 1);
    if (payload.length == 0) { // a batch is never empty; the oldest engines end without a sequence
      return Frame.End.INSTANCE;
    }
    byte[] topic = size >= NEW_REPLAY_FRAMES ? frames.get(size - 3) : EMPTY;
    return batch(topic, frames.get(size - 2), payload, micros);
  }

  private static Frame batch(byte[] topic, byte[] sequence, byte[] payload, long micros) {
    if (sequence.length != Long.BYTES) {
      return Frame.Bad.BAD_SEQUENCE;
    }
    long number = ByteBuffer.wrap(sequence).getLong();
    if (number == END_SEQUENCE) {
      return Frame.Bad.BAD_SEQUENCE;
    }
    return new RawBatch(new String(topic, StandardCharsets.UTF_8), number, payload, micros);
  }
}
