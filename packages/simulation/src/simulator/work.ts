/** What a run did: a fuzzer that does nothing finds nothing. */
export interface Work {
  steps: number;
  skipped: number;
  refused: number;
  consequenced: number;
  errored: number;
  passedOver: number;
  duplicatesRefused: number;
  commits: number;
  derivedCommits: number;
  crashes: number;
  takeovers: number;
  superseded: number;
  requeued: number;
  frames: number;
  settles: number;
  nudges: number;
}

/** Nothing done yet. */
export function emptyWork(): Work {
  return {
    steps: 0,
    skipped: 0,
    refused: 0,
    consequenced: 0,
    errored: 0,
    passedOver: 0,
    duplicatesRefused: 0,
    commits: 0,
    derivedCommits: 0,
    crashes: 0,
    takeovers: 0,
    superseded: 0,
    requeued: 0,
    frames: 0,
    settles: 0,
    nudges: 0,
  };
}
