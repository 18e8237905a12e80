// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.registration;

import org.jspecify.annotations.Nullable;

/**
 * The one rule that tells which generation a record of the registrations topic has. Bridges and
 * replicas must come to the same, whatever they have seen of the topic: events of a lower
 * generation are dropped for ever.
 *
 * <p>A record has a generation of its own, by its offset, unless it goes on with the one before: it
 * says so ({@code continues}), and what it replaces has indeed that generation. Two replicas may
 * write about one publisher at once; then a record may name a generation that was replaced or ended
 * meanwhile, and whose events nobody takes any more.
 *
 * <p>The topic is compacted. Of a publisher whose first record in the topic continues something,
 * what was before is not there any more. It is believed then, except where progress names a later
 * generation. (Who wrote a record that was crossed settles it by another one, see {@link
 * #isCrossed}.)
 *
 * <p>Offsets begin anew where a topic was deleted and created again. Each epoch of a site lies
 * above all generations of the one before.
 *
 * @param epoch grows with each repair of the site, 0..2^19-1; 0 = never repaired
 */
public record Generations(long epoch) {

  /**
   * Below it are offsets. Up to epoch 511 generations are exact in a JSON reader that knows doubles
   * only.
   */
  private static final int OFFSET_BITS = 44;

  private static final long MAX_EPOCH = (1L << (Long.SIZE - 1 - OFFSET_BITS)) - 1;

  /** Those of a site that never was repaired: plain offsets. */
  public static final Generations FIRST = new Generations(0);

  /**
   * A record that is or was in the topic.
   *
   * @param offset its own
   * @param generation what it was found to have
   */
  public record Placed(long offset, long generation) {}

  public Generations {
    if (epoch < 0 || epoch > MAX_EPOCH) {
      throw new IllegalArgumentException("epoch " + epoch + " is not in 0.." + MAX_EPOCH);
    }
  }

  /** The generation that begins at an offset. */
  public long at(long offset) {
    return (epoch << OFFSET_BITS) + offset;
  }

  /**
   * The generation of a record of which it is known what it replaces.
   *
   * @param replaced the publisher's record before, null = it had none or was unregistered
   */
  public long of(Registration registration, long offset, @Nullable Placed replaced) {
    Long continues = registration.continues();
    // Who saw the one before as crossed names its offset; a reader that does not know may see it
    // now.
    boolean goesOn =
        continues != null
            && replaced != null
            && continues >= at(0)
            && (continues == replaced.generation() || continues == at(replaced.offset()));
    return goesOn ? continues : at(offset);
  }

  /** The generation of a publisher's first record in a topic that may have been compacted. */
  public long ofFirst(Registration registration, long offset) {
    Long continues = registration.continues();
    return continues != null && continues >= at(0) ? continues : at(offset);
  }

  /**
   * The generation of a publisher's newest record once its progress is known.
   *
   * @param found what the topic alone says
   * @param followed the generation its newest progress names
   */
  public long known(Registration registration, long offset, long found, long followed) {
    return registration.continues() != null && followed > found ? at(offset) : found;
  }

  /** Whether a record says that it continues something, and does not. */
  public static boolean isCrossed(Registration registration, long generation) {
    Long continues = registration.continues();
    return continues != null && continues != generation;
  }
}
