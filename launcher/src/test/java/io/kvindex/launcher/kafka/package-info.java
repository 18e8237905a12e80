// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.kvindex.launcher.kafka;

import org.jspecify.annotations.NullMarked;
