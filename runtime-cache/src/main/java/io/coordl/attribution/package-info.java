/**
 * Who waited for what: spans of all threads become batches, data stalls, steps and epochs. No file
 * access, no JFR: results go to a listener.
 */
@NullMarked
package io.coordl.attribution;

import org.jspecify.annotations.NullMarked;
