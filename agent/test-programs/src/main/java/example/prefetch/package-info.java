/** Loops that use, abandon, restart and disturb their epochs in many ways. */
package example.prefetch;
