// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/**
 * Batches of a publisher that speaks the standard (RFC 1527): {@code [ms, [maps], rank]}, each
 * event with the whole envelope. One object makes one batch. Not thread-safe.
 */
public final class StandardEvents {

  /** Members after which streams are told apart; the tenant is always {@code default}. */
  public record Stream(
      String model,
      int blockSize,
      @Nullable String salt,
      @Nullable String lora,
      String backend,
      String medium,
      int rank) {}

  private static final int ENVELOPE = 11;

  private final MessageBufferPacker packer = MessagePack.newDefaultBufferPacker();
  private int events;

  /**
   * Adds a stored event.
   *
   * @param base depth of the first block, null = not stated
   * @param parent hash of the block before, null = not stated
   * @param tokens null = none
   */
  public StandardEvents stored(
      Stream stream,
      long id,
      @Nullable Long base,
      @Nullable Long parent,
      int @Nullable [] tokens,
      long... hashes) {
    try {
      envelope(stream, id, "stored", 4);
      hashes(hashes);
      base(base);
      packer.packString("parent_hash");
      number(parent);
      packer.packString("token_ids");
      if (tokens == null) {
        packer.packNil();
      } else {
        packer.packArrayHeader(tokens.length);
        for (int token : tokens) {
          packer.packLong(Integer.toUnsignedLong(token));
        }
      }
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Adds a removed event. */
  public StandardEvents removed(Stream stream, long id, @Nullable Long base, long... hashes) {
    try {
      envelope(stream, id, "removed", 2);
      hashes(hashes);
      base(base);
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Adds a cleared event. */
  public StandardEvents cleared(Stream stream, long id) {
    try {
      envelope(stream, id, "cleared", 0);
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The batch, stamped with the present time. */
  public byte[] batch() {
    try (MessageBufferPacker whole = MessagePack.newDefaultBufferPacker()) {
      whole.packArrayHeader(3).packDouble(System.currentTimeMillis() / 1e3);
      whole.packArrayHeader(events).addPayload(packer.toByteArray());
      whole.packInt(0);
      return whole.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void envelope(Stream stream, long id, String type, int more) throws IOException {
    events++;
    packer.packMapHeader(ENVELOPE + more);
    packer.packString("event_id").packLong(id);
    packer.packString("timestamp").packLong(1); // for information only, so it may be nonsense
    packer.packString("event_type").packString(type);
    packer.packString("model_name").packString(stream.model());
    packer.packString("block_size").packInt(stream.blockSize());
    packer.packString("additional_salt");
    text(stream.salt());
    packer.packString("lora_name");
    text(stream.lora());
    packer.packString("tenant_id").packString("default");
    packer.packString("backend_id").packString(stream.backend());
    packer.packString("medium").packString(stream.medium());
    packer.packString("dp_rank").packInt(stream.rank());
  }

  private void hashes(long... hashes) throws IOException {
    packer.packString("seq_hashes").packArrayHeader(hashes.length);
    for (long hash : hashes) {
      number(hash);
    }
  }

  private void base(@Nullable Long base) throws IOException {
    packer.packString("base_block_idx");
    number(base);
  }

  /** Unsigned. */
  private void number(@Nullable Long value) throws IOException {
    if (value == null) {
      packer.packNil();
    } else if (value >= 0) {
      packer.packLong(value);
    } else {
      packer.packBigInteger(new java.math.BigInteger(Long.toUnsignedString(value)));
    }
  }

  private void text(@Nullable String text) throws IOException {
    if (text == null) {
      packer.packNil();
    } else {
      packer.packString(text);
    }
  }
}
