/**
 * Figures as text, for all reports. Knows no recording and no report; nothing here depends on the
 * locale.
 */
@NullMarked
package io.coordl.reports.text;

import org.jspecify.annotations.NullMarked;
