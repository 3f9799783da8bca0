/**
 * Training programs whose waits are known by construction: what prepares a batch sleeps, a step
 * sleeps, and the program itself says how long its training thread had to wait. Imports nothing of
 * CoorDL.
 */
package example.truth;
