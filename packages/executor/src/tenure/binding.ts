/** What the parts of a tenure need of the tenure that owns them. */
export interface TenureHooks {
  readonly wake: () => void;
  /** Whether what they do may still be committed. */
  readonly live: () => boolean;
  /** Whether the tenure has not begun to end. */
  readonly staying: () => boolean;
  readonly onYield: () => void;
  readonly confirmLease: () => boolean;
  /** Whether the lease row names this holder live, asked now; a lapse that is found runs the renew arm. */
  readonly leaseLives: () => boolean;
}

/**
 * Which tenure serves with a set of parts, if one does. Between two tenures they hold exactly what the
 * first left: whatever moves in them meanwhile cannot land, and taints them for good (seed 001 §1,
 * Parking).
 */
export class TenureBinding implements TenureHooks {
  #tenure: TenureHooks | undefined;
  #tainted = false;
  #onTaint: (() => void) | undefined;

  /** Something moved while nothing could land. */
  get tainted(): boolean {
    return this.#tainted;
  }

  bind(tenure: TenureHooks): void {
    this.#tenure = tenure;
    this.#onTaint = undefined;
  }

  /** The tenure is over. `onTaint` is told once, and at once where it has happened. */
  unbind(onTaint: () => void): void {
    this.#tenure = undefined;
    this.#onTaint = onTaint;
    if (this.#tainted) onTaint();
  }

  readonly wake = (): void => {
    if (this.#tenure === undefined) this.taint();
    else this.#tenure.wake();
  };

  readonly live = (): boolean => this.#tenure?.live() === true;

  readonly staying = (): boolean => this.#tenure?.staying() === true;

  readonly onYield = (): void => this.#tenure?.onYield();

  readonly confirmLease = (): boolean => this.#tenure?.confirmLease() === true;

  readonly leaseLives = (): boolean => this.#tenure?.leaseLives() === true;

  /** The replica took something in: of an owner that may not commit any more it is more than it left. */
  readonly took = (): void => {
    if (!this.live()) this.taint();
  };

  /** A transaction was closed and refused, or something else moved that nobody will commit. */
  readonly taint = (): void => {
    if (this.#tainted) return;
    this.#tainted = true;
    this.#onTaint?.();
  };
}
