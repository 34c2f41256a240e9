/** The text of a file, imported through vite, because a test inside workerd has no file system. */
declare module '*?raw' {
  const text: string;
  export default text;
}
