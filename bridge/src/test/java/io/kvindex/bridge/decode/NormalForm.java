// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.bridge.decode.TokenIds.Fit;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.Parent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import net.openhft.hashing.LongHashFunction;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/**
 * One text form for the vectors' expected events and for ours, so that every member is compared.
 * Left out on purpose: {@code tier} (derived from the medium elsewhere) and {@code sessionId} (no
 * use for it).
 */
final class NormalForm {

  private NormalForm() {}

  static Map<String, Object> ofExpected(JsonNode event) {
    Map<String, Object> form = new LinkedHashMap<>();
    String kind = event.get("kind").asText();
    form.put("kind", kind);
    form.put("medium", text(event, "medium"));
    if (kind.equals("cleared")) {
      return form;
    }
    form.put("hashes", texts(event.get("hashes")));
    if (event.has("objectKey")) {
      form.put("objectKey", text(event, "objectKey"));
      form.put("tenant", text(event, "tenant"));
      form.put("backendId", text(event, "backendId"));
    }
    form.put("group", number(event, "group"));
    if (kind.equals("removed")) {
      form.put("copies", ints(event.path("remainingCopies")));
      return form;
    }
    boolean bigram = event.path("bigram").asBoolean();
    form.put("parent", text(event, "parent"));
    form.put("tokens", ints(event.get(bigram ? "bigramTokens" : "tokens")));
    form.put("bigram", bigram);
    form.put("mismatch", event.path("tokensMismatch").asBoolean());
    form.put("blockSize", event.path("blockSize").asInt(0));
    form.put("loraId", longOf(number(event, "loraId")));
    form.put("loraName", text(event, "loraName"));
    form.put("specKind", text(event, "specKind"));
    form.put("slidingWindow", number(event, "slidingWindow"));
    new ExtraKeys(event).addTo(form);
    return form;
  }

  static Map<String, Object> of(EngineEvent event) {
    Map<String, Object> form = new LinkedHashMap<>();
    if (event instanceof EngineEvent.Enveloped enveloped) {
      return of(enveloped.event()); // EnvelopeDecoderTest looks at the envelope
    } else if (event instanceof EngineEvent.OfObject about) {
      form.putAll(of(about.event()));
      if (about.event() instanceof EngineEvent.Cleared) {
        return form;
      }
      form.put("objectKey", about.object().key());
      form.put("tenant", about.object().tenant());
      form.put("backendId", about.object().backendId());
    } else if (event instanceof EngineEvent.Cleared cleared) {
      form.put("kind", "cleared");
      form.put("medium", cleared.medium());
    } else if (event instanceof EngineEvent.Removed removed) {
      form.put("kind", "removed");
      form.put("medium", removed.scope().medium());
      form.put("hashes", hex(removed.hashes()));
      form.put("group", group(removed.scope()));
      List<Long> copies = new ArrayList<>();
      for (long count : removed.remainingCopies().toArray()) {
        copies.add(count);
      }
      form.put("copies", copies);
    } else if (event instanceof EngineEvent.Stored stored) {
      addStored(form, stored);
    }
    return form;
  }

  private static void addStored(Map<String, Object> form, EngineEvent.Stored stored) {
    form.put("kind", "stored");
    form.put("medium", stored.scope().medium());
    form.put("hashes", hex(stored.hashes()));
    form.put("group", group(stored.scope()));
    Parent parent = stored.parent();
    form.put("parent", parent.isNamed() ? HexFormat.of().toHexDigits(parent.hash()) : null);
    List<Long> tokens = new ArrayList<>();
    int[] all = new int[stored.tokens().size()];
    if (all.length > 0) {
      stored.tokens().reader().next(all);
    }
    for (int token : all) {
      tokens.add(Integer.toUnsignedLong(token));
    }
    form.put("tokens", tokens);
    form.put("bigram", stored.tokens().isBigram());
    Fit fit = stored.tokens().fit();
    form.put("mismatch", fit != Fit.NONE && fit != Fit.EXACT);
    form.put("blockSize", stored.blockSize());
    form.put("loraId", stored.adapter().id() < 0 ? null : stored.adapter().id());
    form.put("loraName", stored.adapter().name());
    form.put("specKind", stored.scope().specKind());
    int window = stored.scope().slidingWindow();
    form.put("slidingWindow", window == 0 ? null : window);
    form.put("salt", stored.salt());
    form.put("extra", hex(stored.extraHashes()));
  }

  private static @Nullable Integer group(EngineEvent.CacheScope scope) {
    return scope.hasGroup() ? scope.group() : null;
  }

  private static List<String> hex(Hashes hashes) {
    List<String> texts = new ArrayList<>();
    for (long hash : hashes.toArray()) {
      texts.add(HexFormat.of().toHexDigits(hash));
    }
    return texts;
  }

  private static @Nullable String text(JsonNode event, String name) {
    return event.hasNonNull(name) ? event.get(name).asText() : null;
  }

  private static @Nullable Long longOf(@Nullable Integer number) {
    return number == null ? null : number.longValue();
  }

  private static @Nullable Integer number(JsonNode event, String name) {
    return event.hasNonNull(name) ? event.get(name).asInt() : null;
  }

  private static List<String> texts(JsonNode list) {
    List<String> texts = new ArrayList<>();
    list.forEach(node -> texts.add(node.asText()));
    return texts;
  }

  private static List<Long> ints(JsonNode list) {
    List<Long> ints = new ArrayList<>();
    list.forEach(node -> ints.add(node.asLong()));
    return ints;
  }

  /** Extra keys of a vector brought to salt and hashes, its elements packed by another packer. */
  private static final class ExtraKeys {
    private final JsonNode event;
    private @Nullable String salt;

    ExtraKeys(JsonNode event) {
      this.event = event;
      this.salt = text(event, "cacheSalt");
    }

    void addTo(Map<String, Object> form) {
      List<String> hashes = new ArrayList<>();
      boolean any = false;
      int block = 0;
      for (JsonNode keys : event.path("extraKeys")) {
        long hash = blockHash(keys, block++ == 0 && event.get("parent").isNull());
        any |= hash != 0;
        hashes.add(HexFormat.of().toHexDigits(hash));
      }
      form.put("salt", salt);
      form.put("extra", any ? hashes : List.of());
    }

    private long blockHash(JsonNode keys, boolean first) {
      List<JsonNode> others = new ArrayList<>();
      keys.forEach(others::add);
      if (!others.isEmpty() && others.get(0).asText().equals(text(event, "loraName"))) {
        others.remove(0);
      }
      if (first) {
        for (int i = others.size() - 1; i >= 0; i--) {
          if (others.get(i).isTextual()) {
            salt = others.remove(i).asText();
            break;
          }
        }
      }
      long hash = 0;
      for (JsonNode other : others) {
        hash = 31 * hash + LongHashFunction.xx3().hashBytes(pack(other));
      }
      return hash;
    }

    private static byte[] pack(JsonNode node) {
      try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
        pack(node, packer);
        return packer.toByteArray();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static void pack(JsonNode node, MessageBufferPacker packer) throws IOException {
      if (node.isTextual()) {
        packer.packString(node.asText());
      } else if (node.isIntegralNumber()) {
        packer.packLong(node.asLong());
      } else if (node.isArray()) {
        packer.packArrayHeader(node.size());
        for (JsonNode element : node) {
          pack(element, packer);
        }
      } else {
        byte[] bytes = HexFormat.of().parseHex(node.get("bytes").asText());
        packer.packBinaryHeader(bytes.length).writePayload(bytes);
      }
    }
  }
}
