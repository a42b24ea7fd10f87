import { STORE } from "../run/steps.js";
import type { Step } from "../scenario/steps.js";
import type { World } from "../world/world.js";

/** Whether a step means something here and now: plans are made, and cut, without knowing the run. */
export function applies(world: World, { verb, value }: Step): boolean {
  const client = (name: unknown) => world.clients.get(name as string);
  const process = (name: unknown) => world.process(name as string);
  switch (verb) {
    case "fire":
    case "write":
    case "patch":
      return client(value[0])?.live === true && isPiece(world, value[1]);
    case "answer":
      return isPiece(world, value);
    case "refire":
      return client(value[0])?.online === true && world.events.has(value[1]);
    case "create":
    case "acl":
      return client(value[0])?.online === true;
    case "swap":
      return client(value[0])?.online === true && isPiece(world, `${value[1]}/x`);
    case "offline":
    case "close":
      return client(value)?.online === true;
    case "online":
      return client(value)?.live === true && client(value)?.online === false;
    case "reload":
      return client(value)?.live === true;
    case "connect":
      return Object.keys(value).every((name) => client(name)?.live !== true);
    case "crash":
      return process(value)?.alive === true;
    case "stop":
    case "suspend":
    case "freeze":
      return process(value)?.alive === true && process(value)?.frozen === false;
    case "thaw":
      return process(value)?.frozen === true;
    case "clock":
      return value[0] === STORE || process(value[0])?.alive === true;
    case "start":
      return process(value)?.alive !== true;
    case "release":
      return world.gates.waitingAt.includes(value);
    default:
      return true;
  }
}

function isPiece(world: World, address: string): boolean {
  const [space = "", piece] = address.split("/");
  return world.places.piecesOf(space).some(({ name }) => name === piece);
}
