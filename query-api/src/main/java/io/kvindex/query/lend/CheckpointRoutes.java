// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.lend;

import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.reply.JsonBuffer;
import io.kvindex.streams.CheckpointLender;
import io.kvindex.streams.view.CheckpointOffer;
import io.kvindex.streams.view.DumpFailedException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code GET /replica/checkpoints}, {@code GET /replica/checkpoint}. One checkpoint is lent at a
 * time, so that one server thread at most is kept by it.
 */
public final class CheckpointRoutes {

  private static final Logger LOG = LoggerFactory.getLogger(CheckpointRoutes.class);

  private static final byte[] TRUE = "true".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] FALSE = "false".getBytes(StandardCharsets.US_ASCII);

  private final @Nullable CheckpointLender lender;

  /**
   * @param lender null = nothing is lent
   */
  public CheckpointRoutes(@Nullable CheckpointLender lender) {
    this.lender = lender;
  }

  /** Adds the routes. */
  public void addTo(RoutesConfig routes) {
    routes.get("/replica/checkpoints", this::list);
    routes.get("/replica/checkpoint", this::lend);
  }

  private void list(Context ctx) {
    JsonBuffer out = new JsonBuffer().raw('{').name("partitions");
    out.number(lender == null ? 0 : lender.partitions());
    out.raw(',').name("checkpoints").raw('[');
    List<CheckpointOffer> offers = lender == null ? List.of() : lender.offers();
    for (int i = 0; i < offers.size(); i++) {
      if (i > 0) {
        out.raw(',');
      }
      write(offers.get(i), out);
    }
    ctx.contentType("application/json").result(out.raw(']').raw('}').asText());
  }

  private static void write(CheckpointOffer offer, JsonBuffer out) {
    out.raw('{').name("partition").number(offer.partition());
    out.raw(',').name("layout").number(offer.layout());
    out.raw(',').name("topic_id").string(offer.topicId());
    out.raw(',').name("offset").number(offer.offset());
    out.raw(',').name("since").number(offer.since());
    out.raw(',').name("bytes").number(offer.bytes());
    out.raw(',').name("busy").raw(offer.busy() ? TRUE : FALSE).raw('}');
  }

  private void lend(Context ctx) {
    int partition = partition(ctx);
    try (CheckpointLender.Loan loan = loan(partition)) {
      ctx.contentType("application/octet-stream");
      try {
        loan.sendTo(ctx.outputStream());
      } catch (IOException e) {
        // Whoever reads finds the end missing.
        LOG.info(
            "a checkpoint of partition {} was not read to its end: {}", partition, e.toString());
      }
    }
  }

  private CheckpointLender.Loan loan(int partition) {
    CheckpointLender.Loan loan;
    try {
      if (lender == null) {
        throw ApiException.of(ErrorCode.NOT_READY, "no checkpoints are lent here");
      }
      loan = lender.lend(partition);
    } catch (DumpFailedException e) {
      ApiException refused = ApiException.of(ErrorCode.NOT_READY, String.valueOf(e.getMessage()));
      refused.addSuppressed(e);
      throw refused;
    }
    if (loan == null) {
      throw ApiException.of(ErrorCode.TOO_MANY_REQUESTS, "another checkpoint is being lent");
    }
    return loan;
  }

  private static int partition(Context ctx) {
    @Nullable String text = ctx.queryParam("partition");
    if (text == null) {
      throw ApiException.missing("partition");
    }
    if (!text.matches("[0-9]{1,6}")) {
      throw ApiException.field(
          ErrorCode.INVALID_VALUE,
          "partition",
          "`partition` must be a number, got " + ApiException.echo(text));
    }
    return Integer.parseInt(text);
  }
}
