/**
 * Clusters that several jobs share: traces of jobs, tables of how fast a model trains with how many
 * cores and how much memory, and the simulation of schedulers over both. It reads tables only: no
 * recording is read here, and nothing is printed.
 */
@NullMarked
package io.coordl.reports.cluster;

import org.jspecify.annotations.NullMarked;
