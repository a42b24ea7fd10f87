import type { Scenario } from "../scenario/file.js";
import type { ScenarioClient } from "./client.js";
import type { Places } from "./places.js";

const DEFAULT_ACL = { alice: "OWNER", "*": "WRITE" } as const;

/** The person who founds a space: the first owner of its access list. */
export function ownerOf(scenario: Scenario, space: string): string {
  const levels = scenario.spaces[space]?.acl ?? DEFAULT_ACL;
  const owner = Object.entries(levels).find(([, level]) => level === "OWNER")?.[0];
  if (owner === undefined) throw new Error(`space "${space}" has no owner`);
  return owner;
}

/** Makes a space of the file and its pieces, through the client library as any owner would, and logs out. */
export async function foundSpace(
  scenario: Scenario,
  places: Places,
  name: string,
  client: ScenarioClient,
  until: <T>(promise: Promise<T>, what: string) => Promise<T>,
): Promise<void> {
  const file = scenario.spaces[name];
  const acl = places.acl(file?.acl ?? DEFAULT_ACL);
  await until(client.client.createSpace(places.spaceKey(name), acl), "genesis");
  const space = places.space(name);
  for (const piece of places.piecesOf(name)) {
    const pattern = client.client.patterns.get(piece.pattern, "1");
    const argument = places.argument(file?.pieces[piece.name]?.argument ?? {}, name);
    const cause = places.causeOf(name, piece.name);
    const { created } = client.create(space, pattern, argument, cause, []);
    await until(created, `creating ${name}/${piece.name}`);
  }
  await until(client.logOut(), "logging out");
  client.drop();
}
