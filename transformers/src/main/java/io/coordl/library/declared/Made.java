package io.coordl.library.declared;

import java.util.List;

/**
 * A batch, and what the call left in the iterator's primitive fields.
 *
 * @param after values of these fields, as bits
 */
record Made(Object batch, List<Long> after) {}
