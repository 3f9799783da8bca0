/** Random crops and resizes of pictures by every kind of transform. */
package example.augment;
