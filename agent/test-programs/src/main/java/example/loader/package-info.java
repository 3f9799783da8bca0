/** Programs whose loading is measured. They print how fast they load or train. */
package example.loader;
