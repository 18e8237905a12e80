/** What makes a site's topics the ones its generations and positions belong to. */
@NullMarked
package io.kvindex.model.site;

import org.jspecify.annotations.NullMarked;
