/** Jobs that end before their time, and go on. */
package example.resume;
