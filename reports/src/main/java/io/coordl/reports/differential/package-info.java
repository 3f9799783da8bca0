/**
 * The differential profile: where an epoch's time goes, from how long the same samples take without
 * fetch and prep, without fetch, and with both. It gets what it needs from {@code recording} and
 * never touches a file.
 */
@NullMarked
package io.coordl.reports.differential;

import org.jspecify.annotations.NullMarked;
