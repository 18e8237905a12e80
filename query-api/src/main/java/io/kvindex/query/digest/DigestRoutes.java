// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.digest;

import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.reply.JsonBuffer;
import io.kvindex.streams.view.DumpFailedException;
import io.kvindex.streams.view.HeldBlock;
import io.kvindex.streams.view.OwnerIdentity;
import io.kvindex.streams.view.PartitionDigest;
import io.kvindex.streams.view.PartitionView;
import java.util.Comparator;
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
 * those that would wait behind too many are refused.
 */
public final class DigestRoutes {

  private static final int WAITING = 4;
  private static final int DEFAULT_LIMIT = 1_000;
  private static final int MAX_LIMIT = 10_000;

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
  private void answer(Context ctx, Supplier<JsonBuffer> body) {
    CompletableFuture<JsonBuffer> read;
    try {
      read = CompletableFuture.supplyAsync(body, reader);
    } catch (RejectedExecutionException e) {
      ApiException refused =
          ApiException.of(
              ErrorCode.TOO_MANY_REQUESTS, WAITING + " requests for digests are waiting already");
      refused.addSuppressed(e);
      throw refused;
    }
    ctx.future(
        () -> read.thenAccept(json -> ctx.contentType("application/json").result(json.asText())));
  }

  private Supplier<JsonBuffer> digests(Context ctx) {
    Predicate<OwnerIdentity> wanted = wanted(ctx);
    return () -> {
      DigestsJson out = new DigestsJson(index.copy());
      index.partitions().stream()
          .sorted(Comparator.comparingInt(PartitionView::partition))
          .forEach(view -> add(view, wanted, out));
      return out.done();
    };
  }

  private static void add(PartitionView view, Predicate<OwnerIdentity> wanted, DigestsJson out) {
    try {
      PartitionDigest digest = view.digest(wanted);
      out.partition(view, digest);
    } catch (DumpFailedException e) {
      out.unreadable(view, String.valueOf(e.getMessage()));
    }
  }

  private static Predicate<OwnerIdentity> wanted(Context ctx) {
    @Nullable String tenant = ctx.queryParam("tenant_id");
    @Nullable String model = ctx.queryParam("model");
    @Nullable String instance = ctx.queryParam("instance_id");
    int blockSize = number(ctx, "block_size", 0, 1, Integer.MAX_VALUE);
    return owner ->
        (tenant == null || tenant.equals(owner.table().tenantId()))
            && (model == null || model.equals(owner.table().model()))
            && (blockSize == 0 || blockSize == owner.table().blockSize())
            && (instance == null || instance.equals(owner.publisher().instanceId()));
  }

  private Supplier<JsonBuffer> blocks(Context ctx) {
    @Nullable String owner = ctx.queryParam("owner");
    if (owner == null) {
      throw ApiException.field(ErrorCode.MISSING, "owner", "`owner` is missing: see GET /digests");
    }
    int limit = number(ctx, "limit", DEFAULT_LIMIT, 1, MAX_LIMIT);
    @Nullable String after = ctx.queryParam("after");
    long last = after == null ? 0 : hash(after);
    return () -> {
      if (after != null && last == LAST_HASH) {
        return DigestsJson.blocks(owner, List.of(), false);
      }
      List<HeldBlock> found = blocks(owner, after == null ? 0 : last + 1, limit);
      return DigestsJson.blocks(owner, found, found.size() >= limit);
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
        ? ApiException.of(ErrorCode.NOT_FOUND, "no such owner: " + ApiException.echo(owner))
        : ApiException.of(ErrorCode.NOT_READY, problem);
  }

  private static int number(Context ctx, String name, int absent, int min, int max) {
    @Nullable String text = ctx.queryParam(name);
    try {
      int value = text == null ? absent : Integer.parseInt(text);
      if (text == null || value >= min && value <= max) {
        return value;
      }
    } catch (NumberFormatException e) {
      throw outOfRange(name, min, max);
    }
    throw outOfRange(name, min, max);
  }

  private static ApiException outOfRange(String name, int min, int max) {
    return ApiException.field(
        ErrorCode.OUT_OF_RANGE, name, name + " must be from " + min + " to " + max);
  }

  /** In the forms in which a body may have a hash as a text. */
  private static long hash(String text) {
    try {
      if (text.startsWith("0x")) {
        return Long.parseUnsignedLong(text.substring(2), 16);
      }
      return text.startsWith("-") ? Long.parseLong(text) : Long.parseUnsignedLong(text);
    } catch (NumberFormatException e) {
      ApiException refused =
          ApiException.field(
              ErrorCode.INVALID_VALUE,
              "after",
              "`after` must be a hash, decimal or 0x, got " + ApiException.echo(text));
      refused.addSuppressed(e);
      throw refused;
    }
  }
}
