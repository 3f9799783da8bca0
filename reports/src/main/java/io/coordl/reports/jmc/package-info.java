/**
 * Rules for the automated analysis of JDK Mission Control, one per finding, with the same figures
 * and sentences as {@code coordl}. No other package of {@code coordl} uses classes of Mission
 * Control, which none of CoorDL's jars contains.
 */
@NullMarked
package io.coordl.reports.jmc;

import org.jspecify.annotations.NullMarked;
