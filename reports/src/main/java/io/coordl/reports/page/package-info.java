/**
 * The report: one page that holds its figures as JSON and draws them itself. It gets what it shows
 * from {@code recording} and what is computed of it; it writes no file and needs no network.
 */
@NullMarked
package io.coordl.reports.page;

import org.jspecify.annotations.NullMarked;
