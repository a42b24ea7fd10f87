import type { DocId, Random, SessionId, Transport } from "@tidemark/protocol";
import type { ChildClock, VirtualClock } from "@tidemark/protocol/testing";
import { parseAddress } from "../scenario/address.js";
import type { ClientFile, Scenario } from "../scenario/file.js";
import { ScenarioClient, type Watched } from "./client.js";
import { ownerOf } from "./found-space.js";
import type { WorldPatterns } from "./patterns.js";
import type { Places } from "./places.js";
import type { WorldWatch } from "./watch.js";

/** What {@link WorldClients} are made of. */
export interface WorldClientsOptions {
  readonly scenario: Scenario;
  readonly places: Places;
  readonly patterns: WorldPatterns;
  readonly clock: VirtualClock;
  readonly random: (name: string) => Random;
  /** A number that no other life of a client or process has. */
  readonly nextLife: () => number;
  /** How a client on that clock reaches whoever listens; those who found spaces are overheard by nobody. */
  readonly transport: (clock: ChildClock) => Transport;
  readonly overhear: (transport: Transport) => Transport;
  readonly trace: (line: string) => void;
  readonly watch: WorldWatch["client"] | undefined;
}

/** The clients of a world, and what each of them looks at. */
export class WorldClients {
  /** The latest of each name. */
  readonly all = new Map<string, ScenarioClient>();
  readonly #options: WorldClientsOptions;
  readonly #files = new Map<string, ClientFile>();

  constructor(options: WorldClientsOptions) {
    this.#options = options;
  }

  client(name: string): ScenarioClient {
    const client = this.all.get(name);
    if (!client) throw new Error(`there is no client "${name}"`);
    return client;
  }

  connect(name: string, file: ClientFile): ScenarioClient {
    if (this.all.get(name)?.live) throw new Error(`client "${name}" is connected`);
    const { places, patterns, clock, scenario, random, nextLife } = this.#options;
    const own = clock.child({ name });
    const client = new ScenarioClient({
      name,
      user: file.user,
      identity: places.user(file.user),
      sessionId: file.session as SessionId,
      transport: this.#options.overhear(this.#options.transport(own)),
      clock: own,
      random: random(`client ${name} ${nextLife()}`),
      patterns: patterns.forClient(),
      pacing: scenario.policy?.appendPacing,
      onError: (error) => this.#options.trace(`client ${name}: ${String(error)}`),
    });
    this.all.set(name, client);
    this.#files.set(name, file);
    this.#options.watch?.(client, file);
    for (const space of places.spaceNames) {
      client.open(places.space(space));
      for (const piece of places.piecesOf(space)) this.#show(client, file, space, piece);
    }
    return client;
  }

  /** The tab is opened again under its session id, and knows nothing. */
  reload(name: string): void {
    const earlier = this.client(name);
    earlier.drop();
    const file = this.#files.get(name);
    if (!file) throw new Error(`client "${name}" was never connected`);
    this.connect(name, file).inherit(earlier);
  }

  /** Every client that watches everything watches a new piece too. */
  pieceAppeared(space: string, name: string): void {
    for (const client of this.all.values()) {
      const file = this.#files.get(client.name);
      const piece = this.#options.places.piecesOf(space).find((each) => each.name === name);
      if (file && piece && client.live) this.#show(client, file, space, piece);
    }
  }

  watchedOf(name: string): Watched {
    return this.#files.get(name)?.watch === undefined ? "whole" : [];
  }

  /** Whoever makes a space of the file, before anybody else is there. */
  founder(space: string): ScenarioClient {
    const { places, patterns, clock, scenario, random } = this.#options;
    const own = clock.child({ name: "set-up" });
    const user = ownerOf(scenario, space);
    return new ScenarioClient({
      name: "set-up",
      user,
      identity: places.user(user),
      sessionId: "set-up" as SessionId,
      transport: this.#options.transport(own),
      clock: own,
      random: random(`set-up ${space}`),
      patterns: patterns.forClient(),
      pacing: undefined,
      onError: (error) => this.#options.trace(`set-up: ${String(error)}`),
    });
  }

  #show(
    client: ScenarioClient,
    file: ClientFile,
    space: string,
    piece: { readonly name: string; readonly id: DocId },
  ): void {
    const nodes = file.watch
      ?.map((address) => parseAddress(address))
      .filter((address) => address?.space === space && address.piece === piece.name)
      .map((address) => address?.node ?? "");
    if (nodes?.length === 0) return;
    client.watch(this.#options.places.space(space), piece.id, nodes ?? "whole");
  }
}
