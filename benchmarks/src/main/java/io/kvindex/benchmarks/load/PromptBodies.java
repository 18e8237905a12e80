// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.nio.ByteBuffer;

/**
 * Every request of a load in one form, as bytes ready to send: a head per request, the shared
 * stem's tokens, the tail's. Direct and shared between connections, which take duplicates.
 */
final class PromptBodies {
  private final LoadShape shape;
  private final WireForm form;
  private final BlockHasher hasher = new BlockHasher();
  private final ByteBuffer[] heads;
  private final ByteBuffer[] stems;
  private final ByteBuffer[] tails;
  private final ByteBuffer between = new RequestBytes().text(",").direct();
  private final ByteBuffer behind = new RequestBytes().text("]}").direct();

  PromptBodies(LoadShape shape, WireForm form, String host) {
    this.shape = shape;
    this.form = form;
    stems = new ByteBuffer[shape.stems()];
    long[] stemEnds = new long[stems.length];
    for (int s = 0; s < stems.length; s++) {
      stems[s] = stem(s, stemEnds);
    }
    tails = new ByteBuffer[shape.prompts()];
    for (int p = 0; p < tails.length; p++) {
      tails[p] = tail(p, stemEnds[shape.stemOf(p)]);
    }
    heads = new ByteBuffer[shape.prompts()];
    for (int r = 0; r < heads.length; r++) {
      heads[r] = head(r, host);
    }
  }

  WireForm form() {
    return form;
  }

  /** Buffers a request is made of. */
  int parts() {
    int prompts = form.promptsARequest();
    return prompts == 1 ? 3 : 1 + 3 * prompts;
  }

  /** The prompt at a place of a request; requests are as many as prompts. */
  int prompt(int request, int place) {
    return (request + place) % shape.prompts();
  }

  /** The parts of a request, from their beginning. */
  void fill(int request, ByteBuffer[] parts) {
    int at = 0;
    parts[at++] = heads[request].duplicate();
    int prompts = form.promptsARequest();
    for (int i = 0; i < prompts; i++) {
      int prompt = prompt(request, i);
      parts[at++] = stems[shape.stemOf(prompt)].duplicate();
      parts[at++] = tails[prompt].duplicate();
      if (prompts > 1) {
        parts[at++] = (i + 1 < prompts ? between : behind).duplicate();
      }
    }
  }

  /** A whole request in one piece, for the check before a load. */
  byte[] request(int request) {
    ByteBuffer[] parts = new ByteBuffer[parts()];
    fill(request, parts);
    int length = 0;
    for (ByteBuffer part : parts) {
      length += part.remaining();
    }
    ByteBuffer all = ByteBuffer.allocate(length);
    for (ByteBuffer part : parts) {
      all.put(part);
    }
    return all.array();
  }

  private ByteBuffer head(int request, String host) {
    boolean batch = form.promptsARequest() > 1;
    String opening = batch ? "{\"queries\":[" : "";
    int length = opening.length();
    for (int i = 0; i < form.promptsARequest(); i++) {
      int prompt = prompt(request, i);
      length += stems[shape.stemOf(prompt)].capacity() + tails[prompt].capacity();
      length += batch ? between.capacity() : 0;
    }
    length += batch ? behind.capacity() - between.capacity() : 0;
    return new RequestBytes().text(form.head(host) + length + "\r\n\r\n" + opening).direct();
  }

  /**
   * @param ends where the stem's last rolling hash goes
   */
  private ByteBuffer stem(int stem, long[] ends) {
    RequestBytes out = new RequestBytes();
    form.open(out, shape.promptBlocks() * form.items().perBlock);
    for (int block = 0; block < shape.stemBlocks(); block++) {
      ends[stem] = append(out, shape.stemHash(stem, block), block == 0, ends[stem]);
    }
    return out.direct();
  }

  private ByteBuffer tail(int prompt, long stemEnd) {
    RequestBytes out = new RequestBytes();
    long seq = stemEnd;
    for (int block = 0; block < shape.tailBlocks(); block++) {
      seq = append(out, shape.tailHash(prompt, block), false, seq);
    }
    form.close(out);
    return out.direct();
  }

  /** The rolling hash up to the block appended. */
  private long append(RequestBytes out, long engineHash, boolean first, long parentSeq) {
    long local = hasher.local(engineHash);
    long seq = hasher.rolled(first, parentSeq, local);
    switch (form.items()) {
      case SEQUENCE_HASHES -> form.item(out, seq, first);
      case LOCAL_HASHES -> form.item(out, local, first);
      case TOKENS -> {
        for (int k = 0; k < LoadShape.BLOCK_SIZE; k++) {
          form.item(out, LoadShape.token(engineHash, k), first && k == 0);
        }
      }
    }
    return seq;
  }
}
