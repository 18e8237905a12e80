// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model;

/**
 * One life of a publisher process. A higher incarnation fences every lower one: what a lower one
 * announced is dead, whoever still sends it.
 *
 * @param generation offset of the registration in its topic; grows with every new registration
 * @param life offset of the bridge-progress record that claimed this life; grows with every restart
 *     of the engine
 * @param clears how often this life was cleared so far, where the tables keep it; 0 in what bridges
 *     write, which count them in their progress
 */
public record Incarnation(long generation, long life, long clears)
    implements Comparable<Incarnation> {

  /** Lower than every incarnation a bridge can produce. */
  public static final Incarnation NONE = new Incarnation(-1, -1, 0);

  /** The same life after one more clear. */
  public Incarnation cleared() {
    return new Incarnation(generation, life, clears + 1);
  }

  @Override
  public int compareTo(Incarnation other) {
    int byGeneration = Long.compare(generation, other.generation);
    int byLife = byGeneration != 0 ? byGeneration : Long.compare(life, other.life);
    return byLife != 0 ? byLife : Long.compare(clears, other.clears);
  }
}
