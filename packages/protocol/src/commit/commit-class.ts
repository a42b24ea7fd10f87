/**
 * The class of a commit, assigned by the admission path that processed it and never read from a
 * client (protocol.md §1). There is no fourth.
 */
export type CommitClass = "authored" | "derived" | "system";
