export const x: any = 1;
