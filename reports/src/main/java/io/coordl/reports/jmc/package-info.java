/**
 * Rules for the automated analysis of JDK Mission Control, one for each finding. They say what
 * {@code coordl} says, from the same figures and in the same words; only here are classes of
 * Mission Control used, which are in none of our jars.
 */
@NullMarked
package io.coordl.reports.jmc;

import org.jspecify.annotations.NullMarked;
