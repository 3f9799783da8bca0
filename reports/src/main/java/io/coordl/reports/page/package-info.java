/**
 * The report: one page that holds its figures as JSON and draws them itself. Its input comes from
 * {@code recording} and the analyses of it; it writes no file and needs no network.
 */
@NullMarked
package io.coordl.reports.page;

import org.jspecify.annotations.NullMarked;
