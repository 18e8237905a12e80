// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.dynamo;

import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.query.DialectAnswers;
import io.kvindex.query.conductor.BareIndex;
import io.kvindex.query.conductor.BareServer;
import io.kvindex.query.http.QueryAnswers;
import io.kvindex.query.registration.RegistrationSnapshot;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.function.Supplier;

/** Dynamo's dialect, and the conductor's beside it. */
abstract class DynamoFixture extends BareServer {

  static final HashProfile DYNAMO = HashProfile.of(Algorithm.XXH3_DYNAMO);

  @Override
  protected QueryAnswers answers(Supplier<RegistrationSnapshot> registrations, BareIndex over) {
    return DialectAnswers.all(registrations, over);
  }

  void register(String instance, int blockSize, HashProfile profile) {
    register(
        new PublisherId(instance, "default", 0),
        SourceType.VLLM,
        new TableId("default", "m", blockSize, profile),
        List.of(""),
        null);
  }

  /** The answer to {@code /query_by_hash}, which must be one. */
  String byHash(String hashes) throws Exception {
    return ok("/query_by_hash", "{\"model_name\":\"m\",\"block_hashes\":" + hashes + "}");
  }

  String ok(String path, String body) throws Exception {
    HttpResponse<String> answer = post(path, body);
    if (answer.statusCode() != 200) {
      throw new AssertionError(answer.statusCode() + " " + answer.body());
    }
    return answer.body();
  }
}
