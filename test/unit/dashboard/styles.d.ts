/** Parts of the dashboard that tests read import styles, for which the bundler of the dashboard has the types. */
declare module '*.css';
