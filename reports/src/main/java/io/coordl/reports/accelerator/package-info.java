/**
 * How many accelerators a host can feed, measured with emulated ones, in the terms of MLPerf
 * Storage.
 */
@NullMarked
package io.coordl.reports.accelerator;

import org.jspecify.annotations.NullMarked;
