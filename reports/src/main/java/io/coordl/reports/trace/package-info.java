/** Exports recordings as traces for other viewers. */
@NullMarked
package io.coordl.reports.trace;

import org.jspecify.annotations.NullMarked;
