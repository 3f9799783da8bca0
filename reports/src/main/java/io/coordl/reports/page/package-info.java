/**
 * Report pages, each of which contains its figures as JSON and draws them itself. The figures come
 * from recordings, their analyses and simulations. This package writes no file and needs no
 * network.
 */
@NullMarked
package io.coordl.reports.page;

import org.jspecify.annotations.NullMarked;
