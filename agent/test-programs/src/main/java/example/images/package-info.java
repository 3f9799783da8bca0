/** Programs that use images in many ways and print the results. */
package example.images;
