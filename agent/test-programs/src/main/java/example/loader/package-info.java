/** Programs whose loading is measured: they tell how fast they load, or train. */
package example.loader;
