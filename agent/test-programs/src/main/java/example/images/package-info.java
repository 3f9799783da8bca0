/** Programs that do with an image whatever their library allows, and print what came of it. */
package example.images;
