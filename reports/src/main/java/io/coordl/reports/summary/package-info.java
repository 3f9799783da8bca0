/**
 * The summary of one recording: its figures and what to try next, as text and JSON. Takes its input
 * from {@code recording} and never touches a file.
 */
@NullMarked
package io.coordl.reports.summary;

import org.jspecify.annotations.NullMarked;
