/** Two values, cut to where they part. */
export function differ(expected: unknown, actual: unknown): string {
  return `must be ${cut(expected)}, is ${cut(actual)}`;
}

const SHOWN = 400;

function cut(value: unknown): string {
  const text = JSON.stringify(value) ?? "absent";
  return text.length <= SHOWN ? text : `…${text.slice(-SHOWN)}`;
}
