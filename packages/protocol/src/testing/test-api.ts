/** What this package's suites use of a test framework; vitest's `expect` and others of its kind fit. */
export interface Expectation {
  toBe(value: unknown): void;
  toEqual(value: unknown): void;
  toBeGreaterThan(value: number): void;
}

/**
 * The framework that a contract suite registers its tests with: suites take it as a parameter, so
 * that this package does not depend on one.
 */
export interface TestApi {
  readonly test: (title: string, run: () => void | Promise<void>) => unknown;
  readonly expect: (value: unknown) => Expectation;
}
