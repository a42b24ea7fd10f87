import type { ServingPolicy } from "@tidemark/executor";
import type { PolicyFile } from "../scenario/file.js";

/** The serving loop's part of a file's policy. */
export function servingPolicy(policy: PolicyFile = {}): Partial<ServingPolicy> {
  const { appendPacing: _, ...rest } = policy;
  return Object.fromEntries(
    Object.entries(rest).filter(([, value]) => value !== undefined),
  ) as Partial<ServingPolicy>;
}
