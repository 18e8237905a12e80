// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.kvindex.launcher.deploy;

import org.jspecify.annotations.NullMarked;
