// SPDX-License-Identifier: Apache-2.0
/**
 * A proxy in front of OpenAI-style engines that sends each prompt where its prefix is cached. It
 * knows kvindex by its HTTP API only and uses the JDK and Jackson, so that it can be copied.
 */
@NullMarked
package io.kvindex.examples.proxy;

import org.jspecify.annotations.NullMarked;
