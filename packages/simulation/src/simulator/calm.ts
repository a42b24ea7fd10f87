import type { World } from "../world/world.js";
import { PEOPLE } from "./access-changes.js";
import type { Judge } from "./judge.js";
import type { RawStep } from "./plan-file.js";

/** What a {@link Calm} works with. */
export interface CalmOptions {
  readonly world: World;
  readonly judge: Judge;
  /** Does a step that the plan does not have, where it applies. */
  readonly insert: (raw: RawStep) => Promise<void>;
  /** Judges the world as it stands. */
  readonly look: () => void;
  readonly onNudge: () => void;
}

/** How long a calm world may take until everybody sees the same: longer than any back-off of the parts. */
const CALM_MS = 90_000;
const CALM_ROUNDS = 60;
const LOOK_MS = 1_500;
/** No row lives longer by itself, with a margin over the TTL. */
const LONGEST_ROW_MS = 20_000;
/** Who puts people back where none of the owner's clients is there to. */
const KEEPER = "keeper";

/** Brings a world to rest, whatever a plan did to it. */
export class Calm {
  readonly #options: CalmOptions;
  readonly #world: World;
  readonly #judge: Judge;
  /** How many attempts to serve had been refused when the world was last at rest. */
  #refused = 0;

  constructor(options: CalmOptions) {
    this.#options = options;
    this.#world = options.world;
    this.#judge = options.judge;
  }

  /** Ends what the plan holds up, lets the world come to rest, and judges it whole. */
  async settle(): Promise<readonly string[]> {
    let left: readonly string[] = [];
    this.#world.gates.clear();
    await this.#tellTheDenied();
    let until = this.#world.clock.monotonic() + CALM_MS;
    for (let round = 0; round < CALM_ROUNDS; round++) {
      await this.#calm();
      until += await this.#outwaitTheDead();
      this.#options.look();
      if (await this.#world.reach(() => this.#atRest(), LOOK_MS)) {
        left = this.#judge.unsettled();
        if (left.length === 0 || this.#judge.findings.length > 0) break;
        if (this.#judge.ledger.refused > this.#refused) await this.#nudge();
      } else {
        left = this.#whatIsLeft();
        await this.#nudge();
      }
      if (this.#world.clock.monotonic() > until) break;
      await this.#world.advance(LOOK_MS);
    }
    this.#refused = this.#judge.ledger.refused;
    return left;
  }

  /** Who may not read shows it once there is time, whatever else goes on: pushes stop, and the client says why. */
  async #tellTheDenied(): Promise<void> {
    const spaces = this.#world.places.spaceNames.filter((space) => !this.#judge.isAtRest(space));
    if (spaces.length === 0) return;
    await this.#calmProcesses();
    const wrong = (): readonly string[] => spaces.flatMap((space) => this.#judge.untold(space));
    if (await this.#world.reach(() => wrong().length === 0, CALM_MS)) return;
    for (const what of wrong()) this.#judge.complain("access", what);
  }

  #atRest(): boolean {
    const { gates, places, processes } = this.#world;
    return (
      gates.waiting === 0 &&
      processes.some(({ alive }) => alive) &&
      this.#world.isSettled(places.spaceNames)
    );
  }

  #whatIsLeft(): readonly string[] {
    const { gates, places, processes, clients } = this.#world;
    const states = [...clients.values()].map(
      ({ name, client }) =>
        `${name} ${client.status.value.state} ${client.status.value.reason ?? ""}`,
    );
    return [
      this.#world.whatIsLeft(places.spaceNames),
      `waiting at [${gates.waitingAt.join()}]`,
      `running [${processes
        .filter(({ alive }) => alive)
        .map(({ name }) => name)
        .join()}]`,
      `clients [${states.join(", ")}]`,
    ];
  }

  async #calm(): Promise<void> {
    await this.#calmProcesses();
    const world = this.#world;
    for (const space of world.places.spaceNames) await this.#giveBack(space);
    await this.#options.insert({ let: "slow" });
    for (const space of world.places.spaceNames) {
      for (const { name } of world.places.piecesOf(space)) {
        await this.#options.insert({ answer: `${space}/${name}/page` });
      }
    }
  }

  async #calmProcesses(): Promise<void> {
    const world = this.#world;
    world.intruders.leave();
    if (!world.processes.some(({ alive }) => alive))
      await this.#options.insert({ start: "server" });
    // Clients reach the process that was started last: what they demand is derived where they are.
    const running = world.processes.filter(({ alive }) => alive).map(({ name }) => name);
    for (const name of running) await this.#options.insert({ thaw: name });
    for (const name of running.slice(0, -1)) await this.#options.insert({ stop: name });
    for (const gate of world.gates.waitingAt) await this.#options.insert({ release: gate });
    for (const client of world.clients.values()) {
      if (client.live && !client.online) await this.#options.insert({ online: client.name });
    }
    for (const space of world.places.spaceNames)
      await this.#options.insert({ disk: [space, "sound"] });
  }

  /** Puts everybody back into the access list of a space, as whoever owns it now. */
  async #giveBack(space: string): Promise<void> {
    const { places, clients } = this.#world;
    const acl = places.aclOf(space);
    if (acl === undefined || this.#judge.isAtRest(space)) return;
    const owner = this.#judge.ownerOf(space, PEOPLE);
    if (owner === undefined) return;
    const there = [...clients.values()].find(({ user, online }) => online && user === owner);
    const name = there?.name ?? KEEPER;
    if (there === undefined) {
      await this.#options.insert({
        connect: { [KEEPER]: { user: owner, session: KEEPER, watch: [] } },
      });
      await this.#world.advance(LOOK_MS);
    }
    await this.#options.insert({ acl: [name, space, { ...acl }] });
    if (there === undefined) await this.#options.insert({ close: KEEPER });
  }

  /** For how long each live row that nobody living holds goes on, ms: who comes meanwhile is refused, and not told of its end. */
  #rowsOfTheDead(): readonly number[] {
    const { places, leases } = this.#world;
    return places.spaceNames
      .filter((space) => leases.processOf(space)?.alive !== true)
      .map((space) => leases.leftOf(space))
      .filter((left) => left > 0);
  }

  /**
   * A row lives as long as the store's clock says, which may have gone back: nobody serves its space where whom it
   * names is dead. Says how long it took, ms.
   */
  async #outwaitTheDead(): Promise<number> {
    const longest = Math.max(0, ...this.#rowsOfTheDead());
    if (longest <= LONGEST_ROW_MS) return 0;
    await this.#world.advance(longest);
    return longest;
  }

  /**
   * A dead process's lease row stays live until its TTL, whoever started meanwhile parked on it, and only another trigger
   * activates the space again (seed 001 §1): somebody comes and goes.
   */
  async #nudge(): Promise<void> {
    const { places, leases } = this.#world;
    const left = places.spaceNames.every((space) => leases.holderOf(space) !== undefined);
    if (left || this.#world.clients.get("nudge")?.online) return;
    this.#options.onNudge();
    await this.#options.insert({
      connect: { nudge: { user: "alice", session: "nudge", watch: [] } },
    });
    await this.#world.advance(LOOK_MS);
    await this.#options.insert({ close: "nudge" });
  }
}
