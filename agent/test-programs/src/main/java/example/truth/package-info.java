/**
 * Training programs that sleep for given times in preparation and steps. Some measure how long
 * their training thread waits; the others print their rates, which follow from the given times.
 * They import nothing from CoorDL.
 */
package example.truth;
