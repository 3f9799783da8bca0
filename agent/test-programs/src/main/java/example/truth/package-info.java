/**
 * Training programs whose waits are known by construction: preparation and steps sleep for given
 * times, and the program itself measures how long its training thread waits. They import nothing
 * from CoorDL.
 */
package example.truth;
