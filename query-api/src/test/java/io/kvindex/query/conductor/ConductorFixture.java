// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.conductor;

import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.query.DialectAnswers;
import io.kvindex.query.http.QueryAnswers;
import io.kvindex.query.registration.RegistrationSnapshot;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The conductor dialect. */
abstract class ConductorFixture extends BareServer {

  static final String ZERO =
      "{\"longest_matched\":0,\"GPU\":0,\"DP\":{\"0\":0},\"CPU\":0,\"DISK\":0}";
  static final int[] SIX = {101, 15, 100, 55, 89, 63};

  @Override
  protected QueryAnswers answers(Supplier<RegistrationSnapshot> registrations, BareIndex over) {
    return DialectAnswers.all(registrations, over);
  }

  void register(String instance, int rank, int blockSize) {
    register(instance, rank, blockSize, SourceType.VLLM, null);
  }

  void register(
      String instance, int rank, int blockSize, SourceType type, @Nullable String namespace) {
    register(new PublisherId(instance, "default", rank), "m", blockSize, type, namespace);
  }

  void register(String tenant, String instance, String model, int blockSize, SourceType type) {
    register(new PublisherId(instance, tenant, 0), model, blockSize, type, null);
  }

  private void register(
      PublisherId publisher,
      String model,
      int blockSize,
      SourceType type,
      @Nullable String namespace) {
    TableId table = new TableId(publisher.tenantId(), model, blockSize, HashProfile.XXH3_DEFAULT);
    register(publisher, type, table, List.of(""), namespace);
  }

  static PublisherId rank0(String instance) {
    return new PublisherId(instance, "default", 0);
  }

  HttpResponse<String> query(String members, int[] tokens) throws Exception {
    return post(
        "/query", "{\"model\":\"m\"," + members + "\"token_ids\":" + Arrays.toString(tokens) + "}");
  }
}
