// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.digest;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.kvindex.model.TableId;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.parse.HashText;
import io.kvindex.query.parse.QueryParameter;
import io.kvindex.query.reply.ControlReplies;
import io.kvindex.streams.view.DumpFailedException;
import io.kvindex.streams.view.HeldBlock;
import io.kvindex.streams.view.OwnerDigest;
import io.kvindex.streams.view.OwnerIdentity;
import io.kvindex.streams.view.PartitionDigest;
import io.kvindex.streams.view.PartitionView;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * {@code GET /digests}, {@code GET /digests/blocks}: of the partitions this replica has. All rows
 * of their checkpoints are read for it, by one thread of its own, one request after the other;
 * those that would wait behind too many are refused. Hashes are unsigned numbers, as everywhere in
 * the API; sums are 16 hex digits.
 */
public final class DigestRoutes {

  private static final int WAITING = 4;
  private static final int DEFAULT_LIMIT = 1_000;
  private static final int MAX_LIMIT = 10_000;

  private static final HexFormat HEX = HexFormat.of();

  /** Hashes compare as unsigned numbers: the last of them. */
  private static final long LAST_HASH = -1;

  private final IndexAccess index;
  private final ThreadPoolExecutor reader;

  public DigestRoutes(IndexAccess index) {
    this.index = index;
    reader =
        new ThreadPoolExecutor(
            1,
            1,
            10,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(WAITING),
            task -> {
              Thread thread = new Thread(task, "kvindex-digests");
              thread.setDaemon(true);
              return thread;
            });
    reader.allowCoreThreadTimeOut(true);
  }

  /** Adds the routes. */
  public void addTo(RoutesConfig routes) {
    routes.get("/digests", ctx -> answer(ctx, digests(ctx)));
    routes.get("/digests/blocks", ctx -> answer(ctx, blocks(ctx)));
  }

  /** Queries must not wait for a thread that reads rows for seconds. */
  private void answer(Context ctx, Supplier<ObjectNode> body) {
    CompletableFuture<ObjectNode> read;
    try {
      read = CompletableFuture.supplyAsync(body, reader);
    } catch (RejectedExecutionException e) {
      throw ErrorCode.TOO_MANY_REQUESTS.because(
          WAITING + " requests for digests are waiting already");
    }
    ctx.future(
        () -> read.thenAccept(json -> ctx.contentType("application/json").result(json.toString())));
  }

  private Supplier<ObjectNode> digests(Context ctx) {
    Predicate<OwnerIdentity> wanted = wanted(ctx);
    return () -> {
      ObjectNode out = ControlReplies.object().put("copy", index.copy());
      ArrayNode partitions = out.putArray("partitions");
      index.partitions().stream()
          .sorted(Comparator.comparingInt(PartitionView::partition))
          .forEach(view -> describe(view, wanted, partitions.addObject()));
      return out;
    };
  }

  private static void describe(
      PartitionView view, Predicate<OwnerIdentity> wanted, ObjectNode out) {
    out.put("partition", view.partition()).put("state", view.isClosed() ? "closed" : "live");
    PartitionDigest digest;
    try {
      digest = view.digest(wanted);
    } catch (DumpFailedException e) {
      out.put("error", String.valueOf(e.getMessage()));
      return;
    }
    out.put("since", digest.since())
        .put("applied_offset", digest.appliedOffset())
        .put("streams", digest.streams())
        .put("held_back", digest.held())
        .put("positions", HEX.toHexDigits(digest.positions()));
    ArrayNode owners = out.putArray("owners");
    Comparator<OwnerDigest> byPublisher = Comparator.comparing(one -> one.owner().publisher());
    digest.owners().stream()
        .sorted(byPublisher.thenComparing(one -> one.owner().id()))
        .forEach(one -> describe(one, owners.addObject()));
  }

  private static void describe(OwnerDigest digest, ObjectNode out) {
    OwnerIdentity owner = digest.owner();
    TableId table = owner.table();
    out.put("id", owner.id())
        .put("tenant_id", table.tenantId())
        .put("model", table.model())
        .put("block_size", table.blockSize())
        .put("hash_profile", table.hashProfile().label())
        .put("instance_id", owner.publisher().instanceId())
        .put("dp_rank", owner.publisher().dpRank())
        .put("rank", owner.rank());
    if (owner.medium() != null) {
      out.put("medium", owner.medium());
    }
    if (owner.backendId() != null) {
      out.put("backend_id", owner.backendId());
    }
    out.put("pool", owner.pool()).put("generation", owner.generation()).put("life", owner.life());
    if (owner.expiresAtMs() != 0) {
      out.put("expires_at_ms", owner.expiresAtMs());
    }
    out.put("blocks", digest.blocks())
        .put("waiting", digest.waiting())
        .put("digest", HEX.toHexDigits(digest.sum()));
  }

  private static Predicate<OwnerIdentity> wanted(Context ctx) {
    @Nullable String tenant = ctx.queryParam("tenant_id");
    @Nullable String model = ctx.queryParam("model");
    @Nullable String instance = ctx.queryParam("instance_id");
    int blockSize = QueryParameter.number(ctx, "block_size", 0, 1, Integer.MAX_VALUE);
    return owner ->
        (tenant == null || tenant.equals(owner.table().tenantId()))
            && (model == null || model.equals(owner.table().model()))
            && (blockSize == 0 || blockSize == owner.table().blockSize())
            && (instance == null || instance.equals(owner.publisher().instanceId()));
  }

  private Supplier<ObjectNode> blocks(Context ctx) {
    @Nullable String owner = ctx.queryParam("owner");
    if (owner == null) {
      throw ErrorCode.MISSING.member("owner", "is missing: see GET /digests");
    }
    int limit = QueryParameter.number(ctx, "limit", DEFAULT_LIMIT, 1, MAX_LIMIT);
    @Nullable String after = ctx.queryParam("after");
    long last = after == null ? 0 : hash(after);
    return () -> {
      if (after != null && last == LAST_HASH) {
        return describe(owner, List.of(), false);
      }
      List<HeldBlock> found = blocks(owner, after == null ? 0 : last + 1, limit);
      return describe(owner, found, found.size() >= limit);
    };
  }

  private List<HeldBlock> blocks(String owner, long from, int limit) {
    @Nullable String problem = null;
    for (PartitionView view : index.partitions()) {
      try {
        List<HeldBlock> found = view.blocks(owner, from, limit);
        if (found != null) {
          return found;
        }
      } catch (DumpFailedException e) {
        problem = e.getMessage();
      }
    }
    throw problem == null
        ? ErrorCode.NOT_FOUND.because("no such owner: " + ErrorCode.echo(owner))
        : ErrorCode.NOT_READY.because(problem);
  }

  /**
   * What an owner holds.
   *
   * @param more whether there may be blocks beyond the last one
   */
  private static ObjectNode describe(String owner, List<HeldBlock> blocks, boolean more) {
    ObjectNode out = ControlReplies.object().put("owner", owner).put("more", more);
    ArrayNode list = out.putArray("blocks");
    for (HeldBlock block : blocks) {
      ObjectNode one = list.addObject();
      one.put("engine_hash", ControlReplies.unsigned(block.engineHash()))
          .put("group", block.group())
          .put("copies", block.copies());
      if (block.resolved()) {
        one.put("key", ControlReplies.unsigned(block.lookupKey()));
      }
    }
    return out;
  }

  /** In the forms in which a body may have a hash as a text. */
  private static long hash(String text) {
    Long bits = HashText.parse(text);
    if (bits == null) {
      throw ErrorCode.INVALID_VALUE.member(
          "after", "must be a hash, decimal or 0x, got " + ErrorCode.echo(text));
    }
    return bits;
  }
}
