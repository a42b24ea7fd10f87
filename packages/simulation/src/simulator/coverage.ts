import type { GateEncounter } from "../world/gates.js";
import { GATE_FAULTS, REACHED_GATES, WORLD_FAULTS, type WorldFault } from "./plan-file.js";

const FAULT_WIDTH = 54;

/** How often each gate was passed, and each fault met there. */
export class Coverage {
  readonly #counts = new Map<string, number>();

  note(gate: string, met: GateEncounter): void {
    const key = `${gate} ${met}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** A fault elsewhere than at a gate struck something. */
  noteFault(fault: WorldFault): void {
    this.#counts.set(fault, this.countFault(fault) + 1);
  }

  countFault(fault: WorldFault): number {
    return this.#counts.get(fault) ?? 0;
  }

  add(other: Coverage): void {
    for (const [key, count] of other.#counts) {
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + count);
    }
  }

  count(gate: string, met: GateEncounter): number {
    return this.#counts.get(`${gate} ${met}`) ?? 0;
  }

  /** Pairs of a reachable gate and a fault that were never met, and other faults that never struck. */
  missing(): readonly string[] {
    const pairs = REACHED_GATES.flatMap((gate) =>
      GATE_FAULTS.filter((fault) => this.count(gate, fault) === 0).map(
        (fault) => `${gate} × ${fault}`,
      ),
    );
    return [...pairs, ...WORLD_FAULTS.filter((fault) => this.countFault(fault) === 0)];
  }

  /** One line a gate, and one each other fault. */
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
      "",
      ...WORLD_FAULTS.map((fault) => fault.padEnd(FAULT_WIDTH) + this.countFault(fault)),
    ].join("\n");
  }

  toJSON(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}
