/**
 * Measures how many accelerators a host can feed, with emulated accelerators and in the terms of
 * MLPerf Storage.
 */
@NullMarked
package io.coordl.reports.accelerator;

import org.jspecify.annotations.NullMarked;
