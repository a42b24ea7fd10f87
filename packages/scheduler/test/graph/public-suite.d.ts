/**
 * The public suite ships sources that do not compile under this project's strict options, so the
 * compiler sees these declarations in their place (tsconfig.test.json, `paths`).
 */
export interface ReactiveFramework {
  name?: string;
  signal<T>(initialValue: T): { read(): T; write(value: T): void };
  computed<T>(fn: () => T): { read(): T };
  effect(fn: () => void | (() => void)): () => void;
  run(fn: () => void): void;
  batch?(fn: () => void): void;
  untracked?<T>(fn: () => T): T;
}
export class SkipTest extends Error {
  reason: string;
}
export interface TestSection {
  section: string;
  cases: Record<string, (fw: ReactiveFramework) => unknown>;
  type?: "behavioral";
}
export const testSuite: readonly TestSection[];
