package io.coordl.library.declared;

import java.util.List;

/**
 * A batch, and the values of the iterator's primitive fields after the call.
 *
 * @param after these values, as bits
 */
record Made(Object batch, List<Long> after) {}
