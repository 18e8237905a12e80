// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import java.util.List;
import java.util.stream.LongStream;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Seeds given as {@code FIRST-LAST} or as one number.
 *
 * @param first not negative
 * @param last at least {@code first}; at most 1,000 seeds
 */
record SeedRange(long first, long last) {

  private static final int MAX = 1_000;

  /** All of them, ascending. */
  List<Long> seeds() {
    return LongStream.rangeClosed(first, last).boxed().toList();
  }

  /** Reads what stands on the command line. */
  static final class Converter implements ITypeConverter<SeedRange> {
    @Override
    public SeedRange convert(String value) {
      if (!value.matches("\\d{1,15}(-\\d{1,15})?")) {
        throw new TypeConversionException("'" + value + "' is not FIRST-LAST");
      }
      int dash = value.indexOf('-');
      long last = Long.parseLong(value.substring(dash + 1));
      long first = dash < 0 ? last : Long.parseLong(value.substring(0, dash));
      if (last < first || last - first >= MAX) {
        throw new TypeConversionException("'" + value + "' is not 1 to " + MAX + " seeds");
      }
      return new SeedRange(first, last);
    }
  }
}
