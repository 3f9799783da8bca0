/**
 * The summary of one recording: its figures, what to try next, and both as text and JSON. It gets
 * what it needs from {@code recording} and never touches a file.
 */
@NullMarked
package io.coordl.reports.summary;

import org.jspecify.annotations.NullMarked;
