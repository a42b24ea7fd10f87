import type { ActionNode } from "../run/action-node.js";

/** Nodes by height. Doubly linked through the nodes themselves: adding and removing allocate and search nothing. */
class Buckets {
  readonly #heads: (ActionNode | undefined)[] = [];
  readonly #tails: (ActionNode | undefined)[] = [];
  #lowest = 0;
  size = 0;

  add(node: ActionNode): void {
    const { height } = node;
    while (this.#heads.length <= height) {
      this.#heads.push(undefined);
      this.#tails.push(undefined);
    }
    const tail = this.#tails[height];
    node.bucket = height;
    node.queuePrev = tail;
    node.queueNext = undefined;
    if (tail === undefined) this.#heads[height] = node;
    else tail.queueNext = node;
    this.#tails[height] = node;
    if (this.size++ === 0 || height < this.#lowest) this.#lowest = height;
  }

  remove(node: ActionNode): void {
    const { bucket, queuePrev, queueNext } = node;
    if (queuePrev === undefined) this.#heads[bucket] = queueNext;
    else queuePrev.queueNext = queueNext;
    if (queueNext === undefined) this.#tails[bucket] = queuePrev;
    else queueNext.queuePrev = queuePrev;
    node.bucket = -1;
    node.queuePrev = undefined;
    node.queueNext = undefined;
    this.size--;
  }

  /** Visits every node, lowest first, those included that a visit adds above. */
  each(visit: (node: ActionNode) => void): void {
    let seen = 0;
    for (let height = this.#lowest; seen < this.size && height < this.#heads.length; height++) {
      for (let node = this.#heads[height]; node !== undefined; node = node.queueNext) {
        visit(node);
        seen++;
      }
    }
  }

  /** Takes the first node of least height. */
  take(): ActionNode | undefined {
    while (this.size > 0) {
      let node = this.#heads[this.#lowest];
      while (node === undefined) node = this.#heads[++this.#lowest];
      const moved = node.height !== node.bucket;
      this.remove(node);
      if (!moved) return node;
      // Its height was raised since it was queued.
      this.add(node);
    }
    return undefined;
  }
}

/**
 * What is to run, in passes: within a pass each node runs at most once, in height order; a node that is dirtied by another
 * after it ran waits for the next pass. So a cycle takes one turn per pass and holds nobody back.
 */
export class PassQueue {
  #now = new Buckets();
  #next = new Buckets();
  /** Nodes queued for the next pass. */
  readonly #later = new Set<ActionNode>();
  pass = 1;

  get size(): number {
    return this.#now.size + this.#next.size;
  }

  /** Queues a node; `outside` when what dirtied it came from outside the graph. */
  add(node: ActionNode, outside: boolean): void {
    if (node.bucket >= 0) return;
    if (node.lastPass !== this.pass || outside) {
      this.#now.add(node);
      return;
    }
    this.#next.add(node);
    this.#later.add(node);
  }

  /** Queues a node that is not queued for this pass. */
  addNow(node: ActionNode): void {
    this.#now.add(node);
  }

  remove(node: ActionNode): void {
    if (node.bucket < 0) return;
    if (this.#later.size > 0 && this.#later.delete(node)) this.#next.remove(node);
    else this.#now.remove(node);
  }

  /** Visits what is to run in this pass. */
  eachNow(visit: (node: ActionNode) => void): void {
    this.#now.each(visit);
  }

  /** Takes the node of least height of this pass. */
  take(): ActionNode | undefined {
    return this.#now.take();
  }

  /** Begins the next pass. */
  turn(): void {
    this.pass++;
    if (this.#later.size === 0) return;
    const spent = this.#now;
    this.#now = this.#next;
    this.#next = spent;
    this.#later.clear();
  }
}
