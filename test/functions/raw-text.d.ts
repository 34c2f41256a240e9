/** A file's text, as vite imports it: a test inside workerd has no file system. */
declare module '*?raw' {
  const text: string;
  export default text;
}
