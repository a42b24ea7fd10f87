import { currentPrincipal } from "@tidemark/runtime";

/**
 * The user that the handler acts for.
 *
 * @throws Error where nobody acts: these handlers record who did something.
 */
export function actingUser(): string {
  const user = currentPrincipal();
  if (user === undefined) throw new Error("somebody has to be signed in for this");
  return user;
}
