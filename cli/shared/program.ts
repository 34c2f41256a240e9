/**
 * How a person starts this program. npx finds it in a clone, where it also installs the dependencies, and in a project
 * that has the package. Every command that the program prints begins with it and ends its line, so that it can be
 * copied.
 */
export const CITEWARD = 'npx citeward';
