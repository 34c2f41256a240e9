export const x = setTimeout(() => 1, 10);
