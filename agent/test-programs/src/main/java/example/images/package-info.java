/** Programs that use images in every way that the library allows, and print the results. */
package example.images;
