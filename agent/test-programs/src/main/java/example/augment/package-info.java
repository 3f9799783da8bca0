/** Pictures that are cropped and resized at random, in every way and by every kind of transform. */
package example.augment;
