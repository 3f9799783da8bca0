/** Random crops and resizes of pictures, by many kinds of transforms. */
package example.augment;
