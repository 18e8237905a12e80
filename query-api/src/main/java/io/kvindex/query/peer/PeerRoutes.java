// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.parse.BodyType;
import io.kvindex.query.registration.BodyFields;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.query.reply.ControlReplies;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code GET /dump}, {@code POST /register_peer}, {@code POST /deregister_peer}, {@code GET
 * /peers}. Peers are the registered ones, in that order, then the other replicas of this index:
 * these have the same tables already and their dumps are not asked for.
 */
public final class PeerRoutes {

  private static final Logger LOG = LoggerFactory.getLogger(PeerRoutes.class);

  /** Each takes some 30 MiB and a thread for as long as its client reads. */
  private static final int DUMPS_AT_ONCE = 2;

  private final Peers peers;
  private final Supplier<RegistrationSnapshot> registrations;
  private final IndexAccess index;
  private final Semaphore dumps = new Semaphore(DUMPS_AT_ONCE);

  public PeerRoutes(Peers peers, Supplier<RegistrationSnapshot> registrations, IndexAccess index) {
    this.peers = peers;
    this.registrations = registrations;
    this.index = index;
  }

  public void addTo(RoutesConfig routes) {
    routes.get("/dump", this::dump);
    routes.post("/register_peer", this::register);
    routes.post("/deregister_peer", this::deregister);
    routes.get("/peers", this::list);
  }

  private void dump(Context ctx) {
    if (!dumps.tryAcquire()) {
      throw ErrorCode.TOO_MANY_REQUESTS.because(DUMPS_AT_ONCE + " dumps are being read already");
    }
    try {
      ctx.contentType("application/json");
      DumpWriter writer = new DumpWriter(ctx.outputStream());
      String result = "aborted";
      try {
        writer.write(DumpParts.of(index, registrations.get()));
        result = writer.hasFailed() ? "partial" : "whole";
      } catch (IOException e) {
        // The client's doing, and nobody is there to be told: no incident of ours.
        LOG.info("a dump was not read to its end: {}", e.toString());
      } finally {
        peers.meters().dump(result);
        writer.blocks().forEach(peers.meters()::dumped);
      }
    } finally {
      dumps.release();
    }
  }

  private void register(Context ctx) {
    String url = normal(text(ctx));
    if (!peers.add(url)) {
      throw ErrorCode.UNSUPPORTED.because("no more than " + Peers.MAX_PEERS + " peers are listed");
    }
    peers.fetch(List.of(url));
    answer(ctx.status(201));
  }

  private void deregister(Context ctx) {
    if (!peers.remove(PeerClient.trimmed(text(ctx)))) {
      throw ErrorCode.NOT_FOUND.because("peer not found");
    }
    answer(ctx);
  }

  private void list(Context ctx) {
    Set<String> urls = new LinkedHashSet<>(peers.urls());
    index.otherReplicas().forEach(address -> urls.add("http://" + address));
    ArrayNode out = JsonNodeFactory.instance.arrayNode();
    urls.forEach(out::add);
    ControlReplies.send(ctx, Dialect.DYNAMO, out);
  }

  private static void answer(Context ctx) {
    ControlReplies.send(ctx, Dialect.DYNAMO, ControlReplies.object().put("status", "ok"));
  }

  private static String text(Context ctx) {
    BodyType.requireJson(ctx.contentType(), ctx.path());
    return BodyFields.parse(ctx.bodyAsBytes()).requiredText("url");
  }

  private static String normal(String url) {
    try {
      return PeerClient.normal(url);
    } catch (IllegalArgumentException e) {
      throw ErrorCode.INVALID_VALUE.member(
          "url", "must be an http URL with a host, got " + ErrorCode.echo(url));
    }
  }
}
