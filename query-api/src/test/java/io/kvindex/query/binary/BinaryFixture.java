// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.binary;

import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.query.DialectAnswers;
import io.kvindex.query.conductor.BareIndex;
import io.kvindex.query.conductor.BareServer;
import io.kvindex.query.http.QueryAnswers;
import io.kvindex.query.packed.Packed;
import io.kvindex.query.registration.RegistrationSnapshot;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The binary dialect. */
abstract class BinaryFixture extends BareServer {
  static final int BLOCK = 16;

  @Override
  protected QueryAnswers answers(Supplier<RegistrationSnapshot> registrations, BareIndex over) {
    return DialectAnswers.all(registrations, over);
  }

  void register(String instance, int rank, String... loras) {
    register(
        new PublisherId(instance, "default", rank),
        SourceType.VLLM,
        new TableId("default", "m", BLOCK, HashProfile.XXH3_DEFAULT),
        loras.length == 0 ? List.of("") : List.of(loras),
        null);
  }

  static int[] tokens(int count) {
    int[] tokens = new int[count];
    for (int i = 0; i < count; i++) {
      tokens[i] = i % 3 == 0 ? i : 100_000 + i;
    }
    return tokens;
  }

  HttpResponse<byte[]> query(@Nullable Object... more) throws Exception {
    Map<String, @Nullable Object> body = Packed.members("model", "m", "block_size", BLOCK);
    body.putAll(Packed.members(more));
    return post("/query", Packed.of(body));
  }

  HttpResponse<byte[]> post(String path, byte[] body) throws Exception {
    return send("POST", path, BodyPublishers.ofByteArray(body), "application/msgpack");
  }

  /**
   * @param type {@code Content-Type}, of requests without a body {@code Accept}
   */
  HttpResponse<byte[]> send(String method, String path, BodyPublisher body, String type)
      throws Exception {
    String header = body.contentLength() == 0 ? "Accept" : "Content-Type";
    return client.send(
        request(path).header(header, type).method(method, body).build(),
        BodyHandlers.ofByteArray());
  }
}
