import type { ServingReport } from "@tidemark/executor";
import { describeError, describeForeignError } from "./describe-error.js";
import type { Log, LogLevel } from "./log.js";

/** Fields that name things. Whatever else a report carries may hold values, and stays out of the log. */
const NAMES = [
  "space",
  "piece",
  "event",
  "action",
  "stream",
  "reason",
  "reused",
  "afterMs",
] as const;
const PLAIN: ReadonlySet<string> = new Set(["string", "number", "boolean"]);

/** Writes what the serving loop tells: its kind, the ids it names, and its error as code and message. */
export function logReport(log: Log, report: ServingReport): void {
  const inner = "report" in report ? report.report : undefined;
  const fields = { ...namesOf(report), ...(inner === undefined ? {} : namesOf(inner)) };
  const error = errorOf(report, report.kind) ?? errorOf(inner, report.kind);
  const message = inner === undefined ? report.kind : `${report.kind}: ${inner.kind}`;
  log(LEVELS[report.kind] ?? "warn", message, error === undefined ? fields : { ...fields, error });
}

const LEVELS: Readonly<Partial<Record<ServingReport["kind"], LogLevel>>> = {
  "tenure-began": "info",
  "tenure-ended": "info",
  "tenure-failed": "error",
  "piece-failed": "error",
};

function namesOf(report: object): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const name of NAMES) {
    const value = (report as Readonly<Record<string, unknown>>)[name];
    if (PLAIN.has(typeof value)) fields[name] = value;
  }
  return fields;
}

/** A tenure fails by our own code or the store's; all else may come from a pattern's. */
function errorOf(report: object | undefined, kind: ServingReport["kind"]) {
  if (report === undefined || !("error" in report) || report.error === undefined) return undefined;
  return kind === "tenure-failed"
    ? describeError(report.error)
    : describeForeignError(report.error);
}
