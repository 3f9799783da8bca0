/**
 * Training programs whose waits are known by construction: preparing a batch sleeps, a step sleeps,
 * and the program itself measures how long its training thread waits. Imports nothing of CoorDL.
 */
package example.truth;
