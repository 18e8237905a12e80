/** The API's description and a page to read it on, both served by the API itself. */
@NullMarked
package io.kvindex.query.contract;

import org.jspecify.annotations.NullMarked;
