/** The head of a table of figures: a column for what they belong to, then a column for each number. */
export function NumberHead({ of, columns }: { of: string; columns: readonly string[] }) {
  return (
    <thead>
      <tr>
        <th scope="col">{of}</th>
        {columns.map((column) => (
          <th key={column} scope="col" class="number">
            {column}
          </th>
        ))}
      </tr>
    </thead>
  );
}
