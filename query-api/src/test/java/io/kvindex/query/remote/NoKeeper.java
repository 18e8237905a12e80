// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

/** Nobody keeps the table up. */
final class NoKeeper implements ServedTable.Keeper {
  @Override
  public void showFigures() {}

  @Override
  public void hideFigures() {}

  @Override
  public void announceLeaving() {}

  @Override
  public void close() {}

  @Override
  public void deleteRows() {}
}
