/** The names of a table's rows, in order. */
export function namesOf<T extends object>(table: T): readonly Extract<keyof T, string>[] {
  const names: Extract<keyof T, string>[] = [];
  for (const name in table) names.push(name);
  return names;
}
