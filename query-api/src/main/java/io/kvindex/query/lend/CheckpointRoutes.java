// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.lend;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.parse.QueryParameter;
import io.kvindex.query.reply.ControlReplies;
import io.kvindex.streams.CheckpointLender;
import io.kvindex.streams.view.CheckpointOffer;
import io.kvindex.streams.view.DumpFailedException;
import java.io.IOException;
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
    ObjectNode out = ControlReplies.object();
    out.put("partitions", lender == null ? 0 : lender.partitions());
    ArrayNode checkpoints = out.putArray("checkpoints");
    for (CheckpointOffer offer : lender == null ? List.<CheckpointOffer>of() : lender.offers()) {
      checkpoints
          .addObject()
          .put("partition", offer.partition())
          .put("layout", offer.layout())
          .put("topic_id", offer.topicId())
          .put("offset", offer.offset())
          .put("since", offer.since())
          .put("bytes", offer.bytes())
          .put("busy", offer.busy());
    }
    ControlReplies.send(ctx, Dialect.CONDUCTOR, out);
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
        throw ErrorCode.NOT_READY.because("no checkpoints are lent here");
      }
      loan = lender.lend(partition);
    } catch (DumpFailedException e) {
      throw ErrorCode.NOT_READY.because(String.valueOf(e.getMessage()));
    }
    if (loan == null) {
      throw ErrorCode.TOO_MANY_REQUESTS.because("another checkpoint is being lent");
    }
    return loan;
  }

  private static int partition(Context ctx) {
    int partition = QueryParameter.number(ctx, "partition", -1, 0, Integer.MAX_VALUE);
    if (partition < 0) {
      throw ErrorCode.missing("partition");
    }
    return partition;
  }
}
