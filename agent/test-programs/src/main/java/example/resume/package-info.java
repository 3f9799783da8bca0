/** Jobs that end early and resume. */
package example.resume;
