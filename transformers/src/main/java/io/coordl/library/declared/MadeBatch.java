package io.coordl.library.declared;

import java.util.List;

/**
 * A batch, and the values of the iterator's primitive fields after the call that returned it.
 *
 * @param after these values, as bits
 */
record MadeBatch(Object batch, List<Long> after) {}
