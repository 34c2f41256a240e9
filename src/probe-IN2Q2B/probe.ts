export const x = fetch('https://example.org');
