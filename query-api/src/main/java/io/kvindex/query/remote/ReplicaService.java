// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.event.RecordReader;
import io.kvindex.query.deadline.Deadline;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.http.ReplicaQuestions;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.lookup.Walk;
import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.view.PartitionView;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Walks through tables of this process for other replicas; never asks others in turn. */
public final class ReplicaService implements ReplicaQuestions {
  static final String WALK = "/replica/walk";
  static final String NAMES = "/replica/names";
  static final String STATUS = "/replica/status";

  private final IndexAccess own;
  private final IndexPartitions partitions;
  private final ThreadLocal<Walk> walks = ThreadLocal.withInitial(Walk::new);

  /**
   * @param own tables of this process alone
   * @param partitions the same by partition
   */
  public ReplicaService(IndexAccess own, IndexPartitions partitions) {
    this.own = own;
    this.partitions = partitions;
  }

  @Override
  public Map<String, Answer> byPath() {
    return Map.of(WALK, this::walk, NAMES, this::names, STATUS, this::status);
  }

  private byte[] walk(byte[] question) {
    WalkRequest request = read(() -> WalkRequest.decode(question));
    TableView view = own.readable(request.table());
    if (request.notBefore() != Walk.ANY && !shows(request)) {
      throw ApiException.of(
          ErrorCode.EVENT_NOT_VISIBLE,
          "offset " + request.notBefore() + " of the events is not visible here yet");
    }
    AnswerWriter answer = new AnswerWriter(view, request.ownersId());
    Walk walk = walks.get();
    view.walk(walk.of(request, request.contexts(), Deadline.NONE, Walk.ANY), answer);
    return answer.toByteArray();
  }

  private boolean shows(WalkRequest request) {
    PartitionView partition = own.partition(request.table());
    return partition != null && partition.appliedOffset() >= request.notBefore();
  }

  private byte[] names(byte[] question) {
    NamesRequest request = read(() -> NamesRequest.decode(question));
    return TableNames.of(own.readable(request.table()), request).encode();
  }

  private byte[] status(byte[] question) {
    List<Integer> wanted = read(() -> readPartitions(question));
    return ReplicaStatus.of(partitions, wanted).encode();
  }

  private List<Integer> readPartitions(byte[] question) {
    RecordReader in = new RecordReader(question);
    WalkRequest.requireVersion(in);
    List<Integer> wanted = new ArrayList<>();
    for (int left = in.readCount(); left > 0; left--) {
      int partition = in.readInt();
      if (partition < partitions.partitions()) {
        wanted.add(partition);
      }
    }
    return wanted;
  }

  private interface Reading<T> {
    T read();
  }

  private static <T> T read(Reading<T> reading) {
    try {
      return reading.read();
    } catch (MalformedRecordException | IllegalArgumentException e) {
      throw ApiException.of(ErrorCode.BAD_REQUEST, "not understood: " + e.getMessage());
    }
  }
}
