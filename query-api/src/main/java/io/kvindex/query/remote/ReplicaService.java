// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.replica.ReplicaId;
import io.kvindex.query.deadline.Deadline;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.http.ReplicaQuestions;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.remote.WalkAnswer.AnswerWriter;
import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.index.PrefixReader;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** Walks through tables of this process for other replicas; never asks others in turn. */
public final class ReplicaService implements ReplicaQuestions {
  static final String WALK = "/replica/walk";
  static final String NAMES = "/replica/names";
  static final String STATUS = "/replica/status";
  private static final String LOG = "log=";

  private final IndexAccess own;
  private final IndexPartitions partitions;
  private final ReplicaId id;
  private final ThreadLocal<PrefixReader> readers = ThreadLocal.withInitial(PrefixReader::new);

  /**
   * @param own tables of this process alone
   * @param partitions the same by partition
   * @param id who this replica is
   */
  public ReplicaService(IndexAccess own, IndexPartitions partitions, ReplicaId id) {
    this.own = own;
    this.partitions = partitions;
    this.id = id;
  }

  @Override
  public Map<String, Answer> byPath() {
    return Map.of(WALK, about(this::walk), NAMES, about(this::names), STATUS, about(this::status));
  }

  /**
   * Carries questions about the tables of one log: a replica of another site that got the address
   * of one that is gone must not answer them.
   *
   * @param log Kafka's id of the events topic, empty = not known yet, which is no reason to refuse
   */
  static Transport aboutLog(Supplier<String> log, Transport wire) {
    return (address, path, body, forNanos, reply) -> {
      String id = log.get();
      wire.ask(address, id.isEmpty() ? path : path + "?" + LOG + id, body, forNanos, reply);
    };
  }

  /** Refuses questions about tables of another log. */
  private Answer about(UnaryOperator<byte[]> reply) {
    return (question, parameters) -> {
      String log = partitions.logId();
      if (parameters != null && !log.isEmpty() && !parameters.equals(LOG + log)) {
        throw ErrorCode.NOT_READY.because(
            "this replica's tables are of the events topic "
                + log
                + ", not of "
                + ErrorCode.echo(parameters.replace(LOG, "")));
      }
      return reply.apply(question);
    };
  }

  private byte[] walk(byte[] question) {
    WalkRequest request = read(() -> WalkRequest.decode(question));
    TableView view = own.readable(request.table()).within(Deadline.NONE, request.notBefore());
    AnswerWriter answer = new AnswerWriter(view, request.ownersId());
    view.walk(readers.get(), request, request.contexts(), answer);
    return answer.toByteArray();
  }

  private byte[] names(byte[] question) {
    NamesRequest request = read(() -> PlainMessage.decode(question, NamesRequest.class));
    TableView view = own.readable(request.table()).within(Deadline.NONE, request.notBefore());
    return PlainMessage.encode(TableNames.of(view, request));
  }

  private byte[] status(byte[] question) {
    int[] wanted = read(() -> PlainMessage.decode(question, int[].class));
    return PlainMessage.encode(ReplicaStatus.of(id, partitions, wanted));
  }

  private static <T> T read(Supplier<T> reading) {
    try {
      return reading.get();
    } catch (MalformedRecordException | IllegalArgumentException e) {
      throw ErrorCode.BAD_REQUEST.because("not understood: " + e.getMessage());
    }
  }
}
