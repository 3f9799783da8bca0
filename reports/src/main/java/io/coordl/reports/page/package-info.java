/**
 * The report: one page that contains its figures as JSON and draws them itself. Its input comes
 * from {@code recording} and its analyses; it writes no file and needs no network.
 */
@NullMarked
package io.coordl.reports.page;

import org.jspecify.annotations.NullMarked;
