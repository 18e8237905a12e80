// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.normalise.Learned;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.PromptHasher;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import java.io.IOException;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/** A store as vLLM sends it, in map form, and its decoding. */
final class VllmStore {

  static final int[] TOKENS = {0, 1, 2, 3, 4, 5, 6, 7};
  static final int SIZE = 4;

  private long[] hashes = {7, 8};
  private @Nullable Long parent;
  private int[] tokens = TOKENS;
  private @Nullable String lora;
  private @Nullable Integer loraId;
  private List<String> firstKeys = List.of();
  private String medium = "GPU";
  private @Nullable String path;
  private boolean tagged;
  private boolean pairs;

  VllmStore hashes(long... value) {
    hashes = value;
    return this;
  }

  VllmStore of(HashProfile profile) {
    String salt = firstKeys.isEmpty() ? null : firstKeys.get(0);
    PromptHasher hasher = PromptHasher.of(profile);
    if (tagged) {
      hasher.beginTagged(lora, path, salt);
    } else {
      hasher.begin(lora, salt);
    }
    return hashes(hasher.next(TOKENS, 0, SIZE), hasher.next(TOKENS, SIZE, SIZE));
  }

  /**
   * As vLLM hashes since 0.32.
   *
   * @param loraPath of the adapter, null if there is none
   */
  VllmStore tagged(@Nullable String loraPath) {
    path = loraPath;
    tagged = true;
    return this;
  }

  VllmStore parent(long value) {
    parent = value;
    return this;
  }

  VllmStore tokens(int... value) {
    tokens = value;
    return this;
  }

  VllmStore pairs() {
    pairs = true;
    return this;
  }

  VllmStore lora(String value) {
    lora = value;
    return this;
  }

  VllmStore loraId(int value) {
    loraId = value;
    return this;
  }

  VllmStore salt(String value) {
    firstKeys = List.of(value);
    return this;
  }

  VllmStore firstKeys(String... values) {
    firstKeys = List.of(values);
    return this;
  }

  VllmStore medium(String value) {
    medium = value;
    return this;
  }

  byte[] payload() {
    try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
      out.packArrayHeader(2).packDouble(1.5).packArrayHeader(1).packMapHeader(9);
      out.packString("type").packString("BlockStored");
      out.packString("block_hashes").packArrayHeader(hashes.length);
      for (long hash : hashes) {
        packHash(out, hash);
      }
      out.packString("parent_block_hash");
      packHash(out, parent);
      out.packString("token_ids");
      packTokens(out);
      out.packString("block_size").packInt(SIZE);
      out.packString("lora_id");
      if (loraId == null) {
        out.packNil();
      } else {
        out.packInt(loraId);
      }
      out.packString("medium").packString(medium);
      out.packString("lora_name");
      if (lora == null) {
        out.packNil();
      } else {
        out.packString(lora);
      }
      out.packString("extra_keys");
      packKeys(out);
      return out.toByteArray();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private void packKeys(MessageBufferPacker out) throws IOException {
    out.packArrayHeader(hashes.length);
    for (int i = 0; i < hashes.length; i++) {
      List<String> keys = i == 0 ? firstKeys : List.of();
      if (lora == null && keys.isEmpty()) {
        out.packNil();
        continue;
      }
      out.packArrayHeader(keys.size() + (lora == null ? 0 : 1));
      if (lora != null) {
        out.packString(lora);
      }
      for (String key : keys) {
        out.packString(key);
      }
    }
  }

  private void packTokens(MessageBufferPacker out) throws IOException {
    int count = pairs ? tokens.length - 1 : tokens.length;
    out.packArrayHeader(count);
    for (int i = 0; i < count; i++) {
      if (pairs) {
        out.packArrayHeader(2).packInt(tokens[i]).packInt(tokens[i + 1]);
      } else {
        out.packInt(tokens[i]);
      }
    }
  }

  private static void packHash(MessageBufferPacker out, @Nullable Long hash) throws IOException {
    if (hash == null) {
      out.packNil();
    } else {
      out.packBigInteger(new BigInteger(Long.toUnsignedString(hash)));
    }
  }

  static long[] engineHashes(HashProfile profile, @Nullable String lora, @Nullable String salt) {
    PromptHasher hasher = PromptHasher.of(profile);
    hasher.begin(lora, salt);
    return new long[] {hasher.next(TOKENS, 0, SIZE), hasher.next(TOKENS, SIZE, SIZE)};
  }

  static PayloadDecoder decoder(HashProfile profile, SourceType type) {
    return decoder(profile, type, new Learned());
  }

  static PayloadDecoder decoder(HashProfile profile, SourceType type, Learned learned) {
    return decoder(profile, type, learned, Map.of());
  }

  static PayloadDecoder decoder(
      HashProfile profile, SourceType type, Learned learned, Map<String, String> loraPaths) {
    return new PayloadDecoder(
        new Registration(
            new PublisherId("engine-1", "default", 0),
            "tcp://127.0.0.1:5557",
            null,
            type,
            new TableId("default", "model", SIZE, profile),
            List.of(""),
            null,
            SourceOptions.defaultFor(type).withLoraPaths(loraPaths),
            null),
        learned);
  }
}
