import type { GateEncounter } from "../world/gates.js";
import { GATE_FAULTS, REACHED_GATES } from "./plan.js";

/** How often each gate was passed, and each fault met there. */
export class Coverage {
  readonly #counts = new Map<string, number>();

  note(gate: string, met: GateEncounter): void {
    const key = `${gate} ${met}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  add(other: Coverage): void {
    for (const [key, count] of other.#counts) {
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + count);
    }
  }

  count(gate: string, met: GateEncounter): number {
    return this.#counts.get(`${gate} ${met}`) ?? 0;
  }

  /** Pairs of a reachable gate and a fault that were never met. */
  missing(): readonly string[] {
    return REACHED_GATES.flatMap((gate) =>
      GATE_FAULTS.filter((fault) => this.count(gate, fault) === 0).map(
        (fault) => `${gate} × ${fault}`,
      ),
    );
  }

  /** One line a gate. */
  table(): string {
    const row = (cells: readonly unknown[]): string =>
      cells
        .map((cell, i) => (i === 0 ? String(cell).padEnd(22) : String(cell).padStart(8)))
        .join("");
    return [
      row(["gate", "passed", ...GATE_FAULTS]),
      ...REACHED_GATES.map((gate) =>
        row([
          gate,
          this.count(gate, "pass"),
          ...GATE_FAULTS.map((fault) => this.count(gate, fault)),
        ]),
      ),
    ].join("\n");
  }

  toJSON(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}
